"""A night killed anywhere goes on where it was: nothing is done twice, and the morning is the same."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.store.engine import open_store
from skillopt_sleep.store.nights import nights
from skillopt_sleep.store.proposals import proposals
from tests.e2e.nights import NOW

CHECKOUT = Path(__file__).parent.parent.parent
SEED = 7


@dataclass(frozen=True)
class Morning:
    """What there is to see in the morning: what was staged and adopted, what was kept of each table, the live file."""

    proposals: tuple[tuple[str, str, str, str], ...]
    rows: tuple[tuple[str, int], ...]
    attempts: frozenset[str]
    skill: bytes
    states: tuple[str, ...]


def night(folder: Path, deadly: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.e2e.nights", str(folder), str(deadly)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=120)


TABLES = ("session", "event", "attempt", "comparison", "trial", "trial_step", "pattern", "task", "proposal",
          "adoption WHERE state = 'written'")  # fmt: skip
"""An adoption that was killed is rolled back and stays in the books; only what is written counts."""


def morning(folder: Path) -> Morning:
    with open_store(folder / "state" / "store.db", FixedClock(NOW), read_only=True) as store:
        with store.read() as connection:
            rows = tuple(
                (name, int(connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()))  # noqa: S608
                for name in TABLES
            )
            keys = frozenset(connection.exec_driver_sql("SELECT key FROM attempt").scalars())
        staged = tuple((p.id, p.state.value, p.candidate.replace(str(folder), ""), p.verdict.outcome.value)
                       for p in sorted(proposals(store), key=lambda p: p.id))  # fmt: skip
        states = tuple(night.state for night in nights(store))
    skill = (folder / "shop/.claude/skills/shop-lessons/SKILL.md").read_bytes()
    return Morning(staged, rows, keys, skill, states)


@cache
def uninterrupted() -> tuple[int, Morning, Path]:
    """One undisturbed night: how many points it passes, and its morning. At a fixed place, so ids are equal."""
    folder = Path(mkdtemp(prefix="night-")) / "x"
    folder.mkdir()
    done = night(folder)
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout)["points"]), morning(folder), folder


def points(n: int) -> list[int]:
    """Points spread at random over the night, the last of them in the adoption."""
    total = uninterrupted()[0]
    chosen = random.Random(SEED).sample(range(1, total - 5), n - 2)
    return [*sorted(chosen), total - 4, total - 1]


def killed_and_resumed(deadly: int) -> None:
    _, undisturbed, place = uninterrupted()
    kept = place.with_name("kept")
    place.rename(kept)
    try:
        place.mkdir()
        died = night(place, deadly)
        assert died.returncode == -signal.SIGKILL, died.stderr
        went_on = night(place)
        assert went_on.returncode == 0, went_on.stderr
        after = morning(place)
        saved = Counter((place / "saved").read_text().split())
        assert max(saved.values()) == 1, "an attempt ran twice"
        assert after == undisturbed
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)
        kept.rename(place)


def test_a_night_killed_at_a_few_points_is_the_night_that_was_not() -> None:
    for deadly in points(3):
        killed_and_resumed(deadly)


@pytest.mark.slow
def test_a_night_killed_at_twenty_points_is_the_night_that_was_not() -> None:
    for deadly in points(20):
        killed_and_resumed(deadly)
