"""Harvests that are killed: run as a program, `killing.py HOME STORE KILLS SEED`.

Prints a line a kill: how many events the store held after it. The last harvest is left alone and prints `done`.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from skillopt_harvesters import discover, read
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.ingest import harvest, reading
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import open_store

NOON = 1_795_953_600_000
STEPS = 500


class Fuse:
    """Called by SQLite every so many steps, also in the middle of a statement; kills at the chosen call."""

    def __init__(self, length: int) -> None:
        self.left = length
        self.burnt = 0

    def __call__(self) -> int:
        self.burnt += 1
        if self.burnt == self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0


def once(home: Path, path: Path, fuse: Fuse) -> None:
    clock = FixedClock(NOON)
    with open_store(path, clock) as store:
        store.driver.set_progress_handler(fuse, STEPS)
        harvest(store, discover(home, {})[0], read, Redactor(engine=False), clock)


def child(home: Path, path: Path, length: int) -> int:
    """A process of its own that harvests. Returns how it ended."""
    pid = os.fork()
    if pid == 0:
        try:
            once(home, path, Fuse(length))
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    return os.waitpid(pid, 0)[1]


def held(path: Path) -> int:
    if not path.exists():
        return -1
    with closing(sqlite3.connect(path)) as raw:
        return int(raw.execute("SELECT count(*) FROM event").fetchone()[0])


def main() -> None:
    home, path, kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    reading.FILES = 3
    chance, whole = random.Random(seed), Fuse(-1)
    once(home, path.with_name("trial") / "store.db", whole)
    for _ in range(kills):
        if child(home, path, chance.randint(1, whole.burnt // 2)) == signal.SIGKILL:
            sys.stdout.write(f"{held(path)}\n")
    status = child(home, path, -1)
    sys.stdout.write("done\n" if status == 0 else f"failed {status}\n")


if __name__ == "__main__":
    main()
