"""A whole night over sessions full of secrets: a second scanner, in a process of its own, finds none in what is left.

The shipped sample is planted with the shapes of tests/redact/shapes.py in everything that was said: prompts, reasons
of refusals, commands, outputs, answers. Then a night with a (scripted) model is slept, and all of what it leaves is
unpacked and scanned: every text and every column of the store, what readers remember, reports, logs, exports, copies,
what the command line printed, and the prompts that went out.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from skillopt_sleep.clock import SystemClock
from skillopt_sleep.log import open_log
from skillopt_sleep.paths import Home
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store import keeping
from skillopt_sleep.store.bodies import released
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.schema import metadata
from tests.cli.conftest import Command
from tests.models.scripted import says, serve
from tests.redact.shapes import SHAPES, traces
from tests.redact.test_second_scanner import findings

SAID = frozenset({"text", "content", "message", "output", "reason", "stdout", "stderr", "command", "feedback"})
"""Keys under which the three agents of the sample write down words."""
PIECE = 14
"""Characters of a secret that may stand nowhere."""


@dataclass(frozen=True)
class Planted:
    """The secrets themselves, and how often one was planted."""

    secrets: frozenset[str]
    times: int

    @cached_property
    def pieces(self) -> frozenset[str]:
        return frozenset(piece for secret in self.secrets for piece in traces(secret, secret, PIECE))

    def traces_in(self, text: str) -> list[str]:
        """Secrets of which a piece stands in a text; first all pieces at once, as hardly ever there is one."""
        pieces = self.pieces
        short = any(piece in text for piece in pieces if len(piece) < PIECE)
        if not short and not any(text[at : at + PIECE] in pieces for at in range(len(text))):
            return []
        return [secret for secret in self.secrets if traces(secret, text, PIECE)]


def plant(value: Any, key: str, secret: Callable[[], str]) -> Any:
    """A record with a secret behind all of its words."""
    if isinstance(value, dict):
        return {name: plant(each, name, secret) for name, each in value.items()}
    if isinstance(value, list):
        return [plant(each, key, secret) for each in value]
    return value + secret() if isinstance(value, str) and key in SAID and " " in value else value


def plant_all(user_home: Path) -> Planted:
    """Plant the transcripts below a HOME: every shape at least once."""
    rng, secrets, drawn = random.Random(11), set[str](), 0

    def secret() -> str:
        nonlocal drawn
        made, text = SHAPES[drawn % len(SHAPES)].planted(rng)
        drawn += 1
        secrets.add(made)
        return "\n" + text + "\n"

    for path in sorted(user_home.rglob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        planted = [json.dumps(plant(line, "", secret)) for line in lines]
        path.write_text("\n".join(planted) + "\n", encoding="utf-8")
    return Planted(frozenset(secrets), drawn)


def in_the_store(path: Path) -> Iterator[str]:
    """All words of a store: bodies unpacked, columns as they are, what readers remember."""
    with open_store(path, SystemClock(), read_only=True) as store:
        yield from (content.decode("utf-8", "replace") for _, content in keeping.contents(store))
        yield from _columns(store)


def _columns(store: Store) -> Iterator[str]:
    with store.read() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(table.select()).mappings():
                yield "\n".join(str(value) for value in row.values() if isinstance(value, str))
                if table.name == "source":
                    yield released(row["reader_state"]).decode("utf-8", "replace")


def left_by(command: Command, state: Path, out: Path) -> dict[str, str]:
    """All that a night left, by where it stands."""
    command("export", str(out / "evidence.json"))
    command("tasks", "--export", str(out / "tasks.jsonl"))
    command("backup", str(out / "copy.db"))
    files = [*(state / "reports").iterdir(), *(state / "logs").iterdir(), out / "evidence.json", out / "tasks.jsonl"]
    left = {path.name: path.read_text("utf-8") for path in files}
    left |= {"store": "\n\n".join(in_the_store(state / "store.db")), "copy": "\n\n".join(in_the_store(out / "copy.db"))}
    calls = ("sessions", "--origin", "all", "--json"), ("tasks",), ("review",), ("review", "--json"), ("history",)
    for call in calls:
        found = command(*call)
        left[" ".join(call)] = found.out + found.err
    return left


def test_a_second_scanner_finds_no_secret_in_what_a_night_leaves(
    command: Command, surroundings: Path, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = plant_all(surroundings / "home")
    assert planted.times > 4 * len(SHAPES)
    assert len(findings(surroundings / "home")) > 200, "the scanner sees what was planted"
    asked = serve(httpserver, says(json.dumps({"kinds": []})))
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with open_log(Home(surroundings / "state"), scrub=Redactor().redact):
        ran = command("run", "--backend", "openai", "--optimizer-model", "scripted", "-v")
        assert ran.code == 0, ran.err
    out = tmp_path / "out"
    out.mkdir()
    left = left_by(command, surroundings / "state", out)
    left |= {"run": ran.out + ran.err, "prompts": "\n\n".join(request.get_data(as_text=True) for request in asked)}
    assert "[redacted:" in left["store"]
    assert "[redacted:" in left["prompts"]
    assert "[redacted:" in next(text for name, text in left.items() if name.endswith(".html"))
    everything = out / "everything.txt"
    everything.write_text("\n\n".join(left.values()), encoding="utf-8")
    assert findings(everything) == []
    assert {name: found for name, text in left.items() if (found := planted.traces_in(text))} == {}
