"""A harvest that is killed anywhere loses nothing, and the next one ends in the same rows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.store.engine import Store, open_store

Table = Callable[[Store], dict[str, list[tuple[Any, ...]]]]


@pytest.mark.parametrize("seed", [1])
def test_killed_harvests_end_in_the_rows_of_one_that_was_not(
    home: Path, tmp_path: Path, made: ModuleType, table: Table, clock: FixedClock, seed: int
) -> None:
    for n in range(30):
        made.everyday(n, turns=6).write(home)
    path = tmp_path / "killed" / "store.db"
    argv = [sys.executable, str(Path(__file__).with_name("killing.py")), str(home), str(path), "8", str(seed)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    *after, last = done.stdout.split("\n")[:-1]
    assert (last, done.stderr) == ("done", "")
    with open_store(path, clock) as killed, open_store(path.with_name("trial") / "store.db", clock) as whole:
        wanted = table(whole)
        assert table(killed) == wanted
    counts = [int(n) for n in after]
    assert len(counts) >= 3
    assert any(0 < n < len(wanted["event"]) for n in counts), f"no kill fell into a harvest: {counts}"
    assert counts == sorted(counts)
