"""The journal of nights: taken up where they were, never written by two."""

from __future__ import annotations

from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import NotFound, StoreError
from skillopt_sleep.store import nights
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.failures import Conflict


def dead(_: int) -> bool:
    return False


def alive(_: int) -> bool:
    return True


def test_nights_are_named_by_their_date_and_number(store: Store, filled: ModuleType) -> None:
    first, second = filled.night(store), filled.night(store)
    assert (first.id, second.id) == ("n-20261129-1", "n-20261129-2")
    assert nights.find_night(store, first.id) == first
    assert (first.state, first.fence, first.pid, first.boot) == ("running", 1, 4711, "b1")
    with pytest.raises(NotFound):
        nights.find_night(store, "n-1")


def test_the_schedule_starts_one_night_a_date(store: Store, filled: ModuleType) -> None:
    first = filled.night(store, trigger="scheduled")
    with pytest.raises(Conflict, match="ran already") as caught:
        filled.night(store, trigger="caught_up")
    assert caught.value.where == first.id
    filled.night(store, trigger="manual")
    filled.night(store, date="2026-11-30", trigger="scheduled")


def test_a_night_whose_process_is_gone_is_unfinished(store: Store, filled: ModuleType, clock: FixedClock) -> None:
    night = filled.night(store)
    assert nights.unfinished(store, "b1", alive) is None
    assert nights.unfinished(store, "b1", dead) == night
    assert nights.unfinished(store, "b2", alive) is None
    clock.ms += nights.STALE_MS + 1
    assert nights.unfinished(store, "b2", alive) == night
    assert nights.unfinished(store, "b1", alive) is None


def test_a_finished_night_is_not_unfinished_and_an_interrupted_one_is(store: Store, filled: ModuleType) -> None:
    done, cut = filled.night(store), filled.night(store)
    nights.end_night(store, done, "done", report={"n": 1})
    ended = nights.end_night(store, cut, "interrupted", error="SIGTERM")
    assert nights.unfinished(store, "b1", alive) == ended
    assert (nights.report_of(store, done.id), nights.report_of(store, cut.id)) == ({"n": 1}, None)
    assert [night.id for night in nights.nights(store)] == [cut.id, done.id]
    with pytest.raises(StoreError, match="is done"):
        nights.take_up(store, done.id, "c0", pid=1, boot="b1")


def test_whoever_lost_the_night_may_write_no_more(store: Store, filled: ModuleType, clock: FixedClock) -> None:
    old = filled.night(store)
    nights.begin_step(store, old, "harvest", "harvest")
    clock.ms += 1000
    new = nights.take_up(store, old.id, "c1", pid=4712, boot="b1")
    assert (new.fence, new.resumed_from, new.config) == (2, "4711@b1", "c1")
    for write in (
        lambda: nights.heartbeat(store, old),
        lambda: nights.begin_step(store, old, "mine", "mine"),
        lambda: nights.end_step(store, old, "harvest", {}),
        lambda: nights.end_night(store, old, "done"),
    ):
        with pytest.raises(Conflict, match="no longer ours"):
            write()
    nights.end_step(store, new, "harvest", {"sessions": 3})
    assert nights.step_done(store, new, "harvest") == {"sessions": 3}
    assert [row["name"] for row in nights.steps(store, new.id)] == ["harvest"]


def test_a_step_that_is_done_gives_its_result_and_is_not_begun_again(store: Store, filled: ModuleType) -> None:
    night = filled.night(store)
    assert nights.step_done(store, night, "mine") is None
    assert nights.begin_step(store, night, "mine", "mine") == 1
    assert nights.step_done(store, night, "mine") is None
    nights.fail_step(store, night, "mine", "no memory")
    assert nights.begin_step(store, night, "mine", "mine") == 2
    nights.end_step(store, night, "mine", {"patterns": 4})
    assert nights.begin_step(store, night, "mine", "mine") == 2
    assert nights.step_done(store, night, "mine") == {"patterns": 4}
    (row,) = nights.steps(store, night.id)
    assert (row["state"], row["tries"], row["error"]) == ("done", 2, "")
    with pytest.raises(StoreError, match="no such step"):
        nights.end_step(store, night, "other", {})


def test_why_a_night_did_not_run_is_noted_once(store: Store, clock: FixedClock) -> None:
    nights.note_skip(store, "2026-11-28", "on battery", zone="UTC")
    nights.note_skip(store, "2026-11-28", "on battery", zone="UTC")
    clock.ms += 10
    nights.note_skip(store, "2026-11-29", "locked")
    assert [(skip.date, skip.why) for skip in nights.skips(store)] == [
        ("2026-11-28", "on battery"),
        ("2026-11-29", "locked"),
    ]
    assert [skip.date for skip in nights.skips(store, clock.ms)] == ["2026-11-29"]
