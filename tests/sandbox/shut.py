"""Commands that are shut in by a process of its own, as somebody, and what is seen of them from outside."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DRIVER = Path(__file__).with_name("driver.py")
SLOW = 60.0
"""Seconds after which a test gives up; nothing here takes a tenth of that."""


@dataclass(frozen=True)
class Came:
    """What came of a command, as `Ran`, its streams as text."""

    status: int
    ended: str
    out: str
    err: str
    cut: tuple[int, int]
    seconds: float
    visits: list[dict[str, Any]]


@dataclass(frozen=True)
class Shut:
    """Runs commands in a sandbox. `folder` is theirs, `outside` a folder beside it of the same owner, and where we
    ourselves would put temporary things."""

    walls: str
    python: Sequence[str]
    folder: Path
    outside: Path

    def start(self, *argv: str, **more: Any) -> subprocess.Popen[str]:
        """Start the driver, which starts the command."""
        driver = subprocess.Popen(
            [*self.python, str(DRIVER), self.walls],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(self.outside)},
        )  # fmt: skip
        assert driver.stdin is not None
        driver.stdin.write(json.dumps({"argv": argv, "folder": str(self.folder), **more}))
        driver.stdin.close()
        driver.stdin = None
        return driver

    def __call__(self, *argv: str, **more: Any) -> Came:
        with self.start(*argv, **more) as driver:
            try:
                out, err = driver.communicate(timeout=SLOW)
            finally:
                driver.kill()
        assert driver.returncode == 0, err
        return Came(**json.loads(out))

    def python_code(self, code: str, **more: Any) -> Came:
        return self("PYTHON", "-I", "-S", "-c", code, **more)

    def as_same_person(self, *argv: str) -> str:
        """The same command, not shut in: what the test would see if the sandbox did nothing."""
        prefix = self.python[:-1]
        return subprocess.run([*prefix, *argv], capture_output=True, text=True, check=True, timeout=SLOW).stdout


def sleepers(mark: str) -> list[int]:
    """Processes of this machine that have a word as an argument."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(place.name))
    return found


def wait_until(seen: Callable[[], object], what: str) -> None:
    until = time.monotonic() + SLOW
    while not seen():
        assert time.monotonic() < until, f"not seen: {what}"
        time.sleep(0.02)
