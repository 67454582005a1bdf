"""What runs in a box reaches nothing outside this machine, and ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.agents_e2e.box import SOCKETS, Box, Ran, wait_for

pytestmark = [pytest.mark.agents]

TRY = """
import json, socket, urllib.request
def why(call):
    try:
        return str(call())
    except OSError as problem:
        return type(problem).__name__ + " " + str(problem.errno)
print(json.dumps([
    urllib.request.urlopen("http://127.0.0.1:8901/v1/models", timeout=5).status,
    why(lambda: socket.create_connection(("192.0.2.1", 443), timeout=5)),
    why(lambda: socket.getaddrinfo("example.invalid", 443)),
]))
"""
MARK = "31536042"
"""Seconds that a process of ours would sleep: by them it is found."""


def run(box: Box, folder: Path, *argv: str) -> Ran:
    return box.run(argv, folder, {"PATH": os.defpath}, 20.0)


def leave_one(box: Box, folder: Path) -> Ran:
    """Run a command that leaves a process behind."""
    return run(box, folder, "sh", "-c", f"setsid sleep {MARK} >/dev/null 2>&1 & echo left")


@pytest.fixture
def box(agents_under_test: Path, tmp_path: Path) -> Box:
    return Box(tmp_path, {})


def test_the_model_is_the_only_address(box: Box, tmp_path: Path) -> None:
    with box:
        said = run(box, tmp_path, sys.executable, "-I", "-c", TRY)
    assert said.out == '[200, "OSError 101", "gaierror -3"]\n', said.err
    assert said.seconds < 10


def test_what_codex_leaves_outside_of_its_home_stays_in_the_box(box: Box, tmp_path: Path) -> None:
    with box:
        assert run(box, tmp_path, "touch", str(SOCKETS / MARK)).code == 0
        assert run(box, tmp_path, "ls", str(SOCKETS)).out == f"{MARK}\n"
        assert not (SOCKETS / MARK).exists()


def test_no_process_outlives_its_box(box: Box, tmp_path: Path) -> None:
    with box:
        done = leave_one(box, tmp_path)
        assert (done.code, done.out) == (0, "left\n")
        wait_for("the process that is left", lambda: sleeping() == 1, 20.0)
    wait_for("its end", lambda: sleeping() == 0, 20.0)


def sleeping() -> int:
    """How many of our processes there are on this machine."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_bytes()
            found += MARK.encode() in line and line.startswith(b"sleep")
    return found


def test_a_box_ends_when_whoever_made_it_is_killed(agents_under_test: Path, tmp_path: Path, checkout: Path) -> None:
    maker = [sys.executable, "-m", "tests.agents_e2e.test_box", str(tmp_path)]
    with subprocess.Popen(maker, cwd=checkout, stdout=subprocess.PIPE, text=True) as making:
        assert making.stdout is not None
        assert making.stdout.readline() == "left\n"
        wait_for("the process inside", lambda: sleeping() == 1, 20.0)
        making.kill()
    wait_for("its end", lambda: sleeping() == 0, 20.0)


if __name__ == "__main__":
    with Box(Path(sys.argv[1]), {}) as made:
        sys.stdout.write(leave_one(made, Path(sys.argv[1])).out)
        sys.stdout.flush()
        time.sleep(60)
