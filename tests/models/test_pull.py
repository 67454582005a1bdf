"""A model is pulled from a real server on loopback: whole, the pinned one, or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from skillopt_sleep.cli.__main__ import run
from skillopt_sleep.errors import NotFound, SleepError, UsageError
from skillopt_sleep.models.pinned import MODEL, Pin, model_file, pulled
from skillopt_sleep.models.pull import pull

CONTENT = hashlib.sha256(b"made up").digest() * 100_000
HALF = 1_300_001
PIN = Pin("made-up", "made-up.gguf", "", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "none")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def silent(_done: int, _of: int) -> None:
    """Nobody watches."""


def got(folder: Path, source: str, pin: Pin = PIN, progress: Callable[[int, int], None] = silent) -> int:
    path, came = pull(folder, source, progress, pin)
    assert path == folder / pin.file
    return came


def serving(server: HTTPServer, content: bytes = CONTENT, *, ranges: bool = True) -> list[Request]:
    """A server of the file that knows ranges, or does not; the requests seen."""
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        asked = request.headers.get("Range", "")
        if not ranges or not asked:
            return Response(content)
        begin = int(asked.removeprefix("bytes=").rstrip("-"))
        if begin >= len(content):
            return Response(b"", 416)
        told = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        return Response(content[begin:], 206, {"Content-Range": told})

    server.expect_request("/model").respond_with_handler(answer)
    return seen


def begun(folder: Path, content: bytes) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{PIN.file}.part").write_bytes(content)


def test_it_comes_whole_its_owners_alone_and_is_asked_for_once(tmp_path: Path, httpserver: HTTPServer) -> None:
    seen, steps = serving(httpserver), []
    folder = tmp_path / "models"
    assert got(folder, httpserver.url_for("/model"), progress=lambda *step: steps.append(step)) == len(CONTENT)
    assert (folder / PIN.file).read_bytes() == CONTENT
    assert stat.S_IMODE((folder / PIN.file).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == [PIN.file]
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    assert got(folder, httpserver.url_for("/model")) == 0
    assert len(seen) == 1


def test_what_came_before_is_not_asked_for_again(tmp_path: Path, httpserver: HTTPServer) -> None:
    seen = serving(httpserver)
    begun(tmp_path, CONTENT[:HALF])
    assert got(tmp_path, httpserver.url_for("/model")) == len(CONTENT) - HALF
    assert seen[0].headers["Range"] == f"bytes={HALF}-"
    assert (tmp_path / PIN.file).read_bytes() == CONTENT


def test_a_server_without_ranges_begins_anew(tmp_path: Path, httpserver: HTTPServer) -> None:
    serving(httpserver, ranges=False)
    begun(tmp_path, b"x" * HALF)
    assert got(tmp_path, httpserver.url_for("/model")) == len(CONTENT)


def test_a_server_that_answers_with_another_range_is_asked_for_all(tmp_path: Path, httpserver: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        if "Range" in request.headers:
            return Response(CONTENT[:9], 206, {"Content-Range": f"bytes 0-8/{len(CONTENT)}"})
        return Response(CONTENT)

    httpserver.expect_request("/model").respond_with_handler(answer)
    begun(tmp_path, CONTENT[:HALF])
    assert got(tmp_path, httpserver.url_for("/model")) == len(CONTENT)


def test_a_download_that_is_cut_stays_and_is_gone_on_with(tmp_path: Path, httpserver: HTTPServer) -> None:
    with cut_after(HALF) as url, pytest.raises(SleepError) as cut:
        got(tmp_path, url)
    assert "goes on" in cut.value.remedy
    assert not (tmp_path / PIN.file).exists()
    kept = (tmp_path / f"{PIN.file}.part").stat().st_size
    assert 0 < kept <= HALF
    serving(httpserver)
    assert got(tmp_path, httpserver.url_for("/model")) == len(CONTENT) - kept


@contextmanager
def cut_after(size: int) -> Iterator[str]:
    """A server that promises all and hangs up after so many bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(CONTENT)}\r\nConnection: close\r\n\r\n"
                connection.sendall(head.encode() + CONTENT[:size])

        thread = threading.Thread(target=hang_up)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/model"
        thread.join()


@pytest.mark.parametrize("wrong", [CONTENT[:-1] + b"!", b"!" + CONTENT[1:]], ids=["last byte", "first byte"])
def test_what_is_not_the_pinned_file_is_thrown_away(wrong: bytes, tmp_path: Path, httpserver: HTTPServer) -> None:
    serving(httpserver, wrong)
    with pytest.raises(SleepError, match="its digest is another"):
        got(tmp_path, httpserver.url_for("/model"))
    assert list(tmp_path.iterdir()) == []


def test_a_bad_beginning_costs_one_failure_and_not_all_later_ones(tmp_path: Path, httpserver: HTTPServer) -> None:
    serving(httpserver)
    begun(tmp_path, b"x" * HALF)
    with pytest.raises(SleepError, match="its digest is another"):
        got(tmp_path, httpserver.url_for("/model"))
    assert got(tmp_path, httpserver.url_for("/model")) == len(CONTENT)


def test_no_byte_beyond_the_pinned_size_is_taken(tmp_path: Path, httpserver: HTTPServer) -> None:
    serving(httpserver, CONTENT + b"x" * 5_000_000)
    assert got(tmp_path, httpserver.url_for("/model")) == len(CONTENT)
    assert (tmp_path / PIN.file).stat().st_size == len(CONTENT)


def test_a_page_in_its_place_is_no_model_and_its_status_is_told(tmp_path: Path, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/page").respond_with_data("<html>sign in</html>")
    with pytest.raises(SleepError, match="ended after 20 of"):
        got(tmp_path, httpserver.url_for("/page"))
    httpserver.expect_request("/gone").respond_with_data("", status=404)
    with pytest.raises(SleepError, match="HTTP 404"):
        got(tmp_path, httpserver.url_for("/gone"))


def test_a_redirect_is_followed_for_the_digest_decides(tmp_path: Path, httpserver: HTTPServer) -> None:
    serving(httpserver)
    there = Response("", 302, {"Location": httpserver.url_for("/model")})
    httpserver.expect_request("/hub").respond_with_response(there)
    assert got(tmp_path, httpserver.url_for("/hub")) == len(CONTENT)


def test_a_file_and_its_folder_are_sources_too_and_stay_as_they_are(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / PIN.file).write_bytes(CONTENT)
    assert got(tmp_path / "a", str(mine)) == len(CONTENT)
    assert got(tmp_path / "b", str(mine / PIN.file)) == len(CONTENT)
    begun(tmp_path / "c", CONTENT[:HALF])
    assert got(tmp_path / "c", str(mine)) == len(CONTENT) - HALF
    assert (mine / PIN.file).read_bytes() == CONTENT
    with pytest.raises(NotFound):
        got(tmp_path / "d", str(tmp_path / "none"))


def test_a_damaged_model_is_pulled_again_and_stands_until_then(tmp_path: Path, httpserver: HTTPServer) -> None:
    damaged = b"x" * len(CONTENT)
    (tmp_path / PIN.file).write_bytes(damaged)
    with pytest.raises(SleepError):
        got(tmp_path, "http://127.0.0.1:1/model")
    assert (tmp_path / PIN.file).read_bytes() == damaged
    serving(httpserver)
    assert got(tmp_path, httpserver.url_for("/model")) == len(CONTENT)


def test_two_at_a_time_do_not_write_into_each_others_file(tmp_path: Path) -> None:
    begun(tmp_path, b"")
    with (tmp_path / f"{PIN.file}.part").open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(SleepError, match="being pulled already"):
            got(tmp_path, "http://127.0.0.1:1/model")


def test_a_link_in_the_place_of_the_part_is_not_written_through(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "precious").write_text("mine")
    (folder / f"{PIN.file}.part").symlink_to(tmp_path / "precious")
    with pytest.raises(SleepError):
        got(folder, "http://127.0.0.1:1/model")
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_password_in_an_address_is_not_told(tmp_path: Path) -> None:
    with pytest.raises(SleepError) as failed:
        got(tmp_path, "http://me:hush@127.0.0.1:1/model")
    assert "hush" not in str(failed.value)


def test_a_path_is_always_a_model_and_the_pulled_one_has_a_name(tmp_path: Path) -> None:
    assert model_file("~/any.gguf", tmp_path, "optimizer") == Path("~/any.gguf").expanduser()
    with pytest.raises(UsageError):
        model_file(None, tmp_path, "optimizer", PIN)
    (tmp_path / PIN.file).write_bytes(CONTENT)
    for named in (None, PIN.name, PIN.file):
        assert model_file(named, tmp_path, "optimizer", PIN) == tmp_path / PIN.file
    (tmp_path / PIN.file).write_bytes(CONTENT[:-1])
    assert pulled(tmp_path, PIN) is None


def test_the_command_says_in_one_line_what_is_wrong_with_a_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["model", "pull", "--home", str(tmp_path), "--source", str(tmp_path / "none")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert str(tmp_path / "none") in told.err.splitlines()[-1]
    assert "Traceback" not in told.err


@pytest.mark.model
def test_the_command_pulls_the_model_that_the_tests_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["model", "pull", "--json", "--home", str(tmp_path), "--source", os.environ["SKILLOPT_MODEL"]]
    for state in ("pulled", "there"):
        assert run(argv) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["state"], told["path"]) == (state, str(tmp_path / "models" / MODEL.file))
    (tmp_path / "models" / MODEL.file).unlink()
