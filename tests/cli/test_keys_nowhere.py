"""A key that a night used stands nowhere afterwards, not even where the server repeats it in all that it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.cli.conftest import Command, Result
from tests.cli.test_no_secret_anywhere import left_by
from tests.models.scripted import message, serve

KEY = "plain-words-that-no-scanner-takes-for-a-key"
SAYS = json.dumps({"kinds": [{"items": [1, 2, 3], "name": KEY, "rule": f"Do not run `git push --force` {KEY}."}]})


@pytest.fixture(params=["anthropic", "openai"])
def night(
    request: pytest.FixtureRequest, command: Command, surroundings: Path, httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Result]:  # fmt: skip
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    (surroundings / "key").write_text(KEY)
    (surroundings / "key").chmod(0o600)
    url = httpserver.url_for("/v1" if request.param == "openai" else "").rstrip("/")
    given = ("--optimizer-base-url", url, "--optimizer-key", str(surroundings / "key"))
    return lambda: command("run", "--json", "--backend", request.param, "--optimizer-model", "m", *given)


def found_in(command: Command, surroundings: Path) -> list[str]:
    """What of all that was left holds the key: the store unpacked, reports, logs, exports, copies."""
    (surroundings / "out").mkdir()
    (surroundings / "state/reports").mkdir(exist_ok=True)  # a night that was stopped has none
    left = left_by(command, surroundings / "state", surroundings / "out")
    assert len(left) > 3
    return [name for name, text in left.items() if KEY in text]


def test_a_server_that_repeats_the_key_in_its_answers_leaves_none(
    night: Callable[[], Result], command: Command, surroundings: Path, httpserver: HTTPServer
) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Response:
        seen.append(str(request.headers))
        return message(request.path, SAYS, (700, 60))

    serve(httpserver, answer)
    done = night()
    assert done.code == 0, done.err
    assert all(KEY in headers for headers in seen)
    assert seen
    assert KEY not in done.out + done.err
    assert found_in(command, surroundings) == []


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_nor_does_one_that_repeats_it_in_its_errors(
    status: int, night: Callable[[], Result], command: Command, surroundings: Path, httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("skillopt_sleep.models.base.LONGEST_PAUSE_S", 0.0)
    body = json.dumps({"type": "error", "error": {"type": KEY, "message": f"your key {KEY} is wrong"}})
    serve(httpserver, lambda _: Response(body, status, content_type="application/json"))
    done = night()
    assert done.code in {1, 3}
    assert KEY not in done.out + done.err
    assert found_in(command, surroundings) == []
