"""A listing that is the last one to the letter is known at a glance, and no other is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_harvesters import discover, read
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.ingest import Harvested, harvest, listing
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.sources import seen_listing

Harvest = Callable[..., Harvested]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets an item for each time that all sources of the store are looked at."""
    times: list[int] = []

    def counted(store: Store) -> object:
        times.append(1)
        return known_sources(store)

    known_sources = listing.known_sources
    monkeypatch.setattr(listing, "known_sources", counted)
    return times


def test_after_a_harvest_the_next_pass_looks_at_no_source(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, looked: list[int]
) -> None:
    for seed in range(3):
        made.everyday(seed).write(home)
    assert take_in().new == 3
    looked.clear()
    again = take_in()
    assert (again.files, again.new, again.unchanged, again.bytes) == (3, 0, 3, 0)
    assert looked == []


def test_whatever_changes_is_looked_at(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, looked: list[int]
) -> None:
    talk, other = made.everyday(1), made.everyday(2)
    talk.write(home)
    path = other.write(home)
    take_in()
    since = len(talk.lines)
    talk.asks("one more thing").answers("Yes.")
    talk.append(home, since)
    assert take_in().updated == 1
    made.everyday(3).write(home)
    assert take_in().new == 1
    os.utime(path, ns=(1, 1))
    looked.clear()
    take_in()
    assert looked
    path.rename(path.with_name("moved.jsonl"))
    looked.clear()
    take_in()
    assert looked


def test_what_is_gone_stays_counted_out(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, looked: list[int]
) -> None:
    made.everyday(1).write(home)
    made.everyday(2).write(home).unlink()
    path = made.everyday(3).write(home)
    assert take_in().new == 2
    path.unlink()
    assert (take_in().unchanged, gone(store)) == (1, 1)
    looked.clear()
    again = take_in()
    assert (again.unchanged, again.files, looked) == (1, 1, [])
    made.everyday(3).write(home)
    take_in()
    assert (take_in().unchanged, gone(store)) == (2, 0)


def gone(store: Store) -> int:
    return int(store.driver.execute("SELECT count(*) FROM source WHERE state = 'gone'").fetchone()[0])


def test_a_file_of_another_place_that_is_gone_is_noticed(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, tmp_path: Path, redactor: Redactor, clock: FixedClock
) -> None:
    made.everyday(1).write(home)
    take_in()
    path = made.everyday(2).write(tmp_path / "elsewhere")
    harvest(store, discover(tmp_path / "elsewhere", {})[0], read, redactor, clock)
    path.unlink()
    take_in()
    assert gone(store) == 1


def test_nothing_is_remembered_while_something_is_left_to_do(
    store: Store, home: Path, made: ModuleType, take_in: Harvest, looked: list[int]
) -> None:
    for seed in range(3):
        made.everyday(seed).write(home)
    assert take_in(max_sessions=2).pending == 1
    assert seen_listing(store) is None
    assert take_in(max_sessions=2).new == 1
    assert seen_listing(store) is not None


def test_excluded_sources_are_looked_at_under_the_patterns_of_the_day(
    store: Store, home: Path, made: ModuleType, take_in: Harvest
) -> None:
    made.everyday(1).write(home)
    made.everyday(2, cwd="/home/kim/secret").write(home)
    assert take_in(exclude=["/home/kim/secret"]).new == 1
    assert take_in(exclude=["/home/kim/secret"]).unchanged == 1
    assert seen_listing(store) is None
    assert take_in().new == 1
