"""Reservations that do not wait for the disk: a kill loses none of them, and a power cut none of the limits.

A power cut is played: whenever the store has waited for the disk it is copied as it stands, and what the copy says on
another boot is what a machine would find that lost its power before the next time.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.ledgers import Spend
from skillopt_sleep.store import together
from skillopt_sleep.store.ahead import CALLS
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import Spending, total

RUNS = 6
EACH = 120


def monday() -> str:
    return "monday"


def tuesday() -> str:
    return "tuesday"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is waited for where it must be, and not because a quarter of a second is over."""
    monkeypatch.setattr(together, "SYNC_S", 3600.0)


def copied(store: Store, to: Path) -> Path:
    """The store as it is on the disk by now."""
    to.unlink(missing_ok=True)
    with closing(sqlite3.connect(store.path)) as whole, closing(sqlite3.connect(to)) as copy:
        whole.backup(copy)
    return to


def found(path: Path, run: str) -> tuple[int, Spend]:
    """What a run has taken, as whoever opens the copy on another boot finds it."""
    with open_store(path, FixedClock(1)) as store:
        return Spending(store, run, boot=tuesday).spent()


@pytest.mark.parametrize("seed", range(RUNS))
def test_whatever_a_power_cut_takes_no_less_is_counted_than_was_reserved(
    seed: int, store: Store, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    spending, syncs, on_disk = Spending(store, "n", boot=monday), -1, tmp_path / "cut.db"
    reserved, dollars, cuts = 0, 0.0, 0
    for call in range(1, EACH + 1):
        tokens, usd = chance.choice([10, 500, chance.randint(1, 4000)]), chance.random() / 100
        spending.reserve("target", tokens, usd)
        reserved, dollars = reserved + tokens, dollars + usd
        if store.syncs != syncs:
            syncs = store.syncs
            copied(store, on_disk)
        elif chance.random() < 0.3:
            cuts += 1
            (tmp_path / "after.db").write_bytes(on_disk.read_bytes())
            calls, taken = found(tmp_path / "after.db", "n")
            assert calls >= call
            assert taken.counts >= reserved
            assert taken.counts_usd >= dollars - 1e-9
    assert cuts > 5
    assert store.syncs < EACH / 4


def test_calls_of_one_size_wait_for_the_disk_once_in_sixteen(store: Store) -> None:
    spending = Spending(store, "n", boot=monday)
    for _ in range(10 * CALLS):
        spending.reserve("target", 100, 0.01)
    assert store.syncs <= 11


def test_where_no_boot_is_known_each_waits(store: Store) -> None:
    spending = Spending(store, "n", boot=lambda: "")
    for _ in range(CALLS):
        spending.reserve("target", 100, 0.0)
    assert store.syncs == CALLS


def test_a_kill_and_a_run_that_ends_count_what_was_reserved_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path, FixedClock(1)) as store:
        spending = Spending(store, "n", boot=monday)
        for _ in range(5):
            spending.reserve("target", 100, 0.0)
        killed = copied(store, tmp_path / "killed.db")
    with open_store(killed, FixedClock(1)) as store:
        assert Spending(store, "n", boot=monday).spent()[0] == 5, "the same boot: nothing was lost"
        Spending(store, "n", boot=monday).reserve("target", 100, 0.0)
        assert total(store, "n")[0] == 6
    for ended in (path, killed):
        assert found(ended, "n")[0] == (5 if ended == path else 6), "a run that ended has lost nothing"


def test_what_was_lost_is_counted_once(store: Store, tmp_path: Path) -> None:
    Spending(store, "n", boot=monday).reserve("target", 100, 0.0)
    cut = copied(store, tmp_path / "cut.db")
    assert found(cut, "n")[0] == 1 + CALLS
    assert found(cut, "n")[0] == 1 + CALLS


def test_attempts_wait_four_times_a_second_and_reservations_beside_them_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(together, "SYNC_S", 0.25)
    monkeypatch.setattr(store._together, "_now", lambda: now[0])
    syncs = []
    for moment in (0.0, 0.1, 0.2, 0.3, 0.4, 0.6):
        now[0] = moment
        store.together(lambda _: None, lambda: True)
        syncs.append(store.syncs)
    assert syncs == [1, 1, 1, 2, 2, 3]
    store.together(lambda _: None)
    assert store.syncs == 4
    assert store.driver.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"
    now[0] = 0.61
    store.together(lambda _: None, lambda: True)
    assert store.driver.execute("PRAGMA synchronous").fetchone() == (1,), "NORMAL"
    with store.write():
        assert store.driver.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"
