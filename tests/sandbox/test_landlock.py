"""Landlock by itself: what a process may do with files after it has bound itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skillopt_sleep.sandbox import landlock

pytestmark = [pytest.mark.sandbox]

CODE = """
import json, os, sys
from skillopt_sleep.sandbox import kernel, landlock
def why(call, *args):
    try:
        call(*args)
        return "done"
    except OSError as problem:
        return type(problem).__name__
def read(path):
    with open(path) as file:
        file.read()
readable, writable, hidden = sys.argv[1:]
kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1)
landlock.restrict([readable, "/dev/null"], [writable])
print(json.dumps({
    "readable": [why(call, f"{readable}/file", *args) for call, *args in ((read,), (os.truncate, 0), (os.unlink,))],
    "writable": [why(call, f"{writable}/file", *args) for call, *args in ((read,), (os.truncate, 0), (os.unlink,))],
    "hidden": [why(call, f"{hidden}/file", *args) for call, *args in ((read,), (os.truncate, 0), (os.unlink,))],
}))
"""


def test_it_reads_here_writes_there_and_nothing_elsewhere(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("readable", "writable", "hidden")]
    for folder in folders:
        folder.mkdir()
        (folder / "file").write_text("x", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", CODE, *map(str, folders)], capture_output=True, text=True, check=True)
    refused, truncated = "PermissionError", landlock.accesses(landlock.version()) & landlock.TRUNCATE
    assert truncated, "this kernel is older than what the tests were written on"
    assert json.loads(done.stdout) == {
        "readable": ["done", refused, refused],
        "writable": ["done"] * 3,
        "hidden": [refused] * 3,
    }


@pytest.mark.parametrize(("version", "bits"), [(1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (9, 16)])
def test_a_version_forbids_what_it_knows(version: int, bits: int) -> None:
    assert landlock.accesses(version) == (1 << bits) - 1
