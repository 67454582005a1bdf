"""What runs in a box reaches nothing outside this machine, and ends with it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.agents_e2e.box import Box, Ran, wait_for

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


@pytest.fixture
def box(agents_under_test: Path, tmp_path: Path) -> Box:
    return Box(tmp_path, {})


def test_the_model_is_the_only_address(box: Box, tmp_path: Path) -> None:
    with box:
        said = run(box, tmp_path, sys.executable, "-I", "-c", TRY)
    assert said.out == '[200, "OSError 101", "gaierror -3"]\n', said.err
    assert said.seconds < 10


def test_no_process_outlives_its_box(box: Box, tmp_path: Path) -> None:
    with box:
        done = run(box, tmp_path, "sh", "-c", f"setsid sleep {MARK} >/dev/null 2>&1 & echo left")
        assert (done.code, done.out) == (0, "left\n")
        wait_for("the process that is left", lambda: sleeping() == 1, 5.0)
    wait_for("its end", lambda: sleeping() == 0, 5.0)


def sleeping() -> int:
    """How many of our processes there are on this machine."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_bytes()
            found += MARK.encode() in line and line.startswith(b"sleep")
    return found
