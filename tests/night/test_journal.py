"""A night's journal: what is done is not done again, one bad skill does not end a night, whoever lost it is told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Edit, Outcome, UnitScore, Verdict
from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.errors import ModelError, NightLocked, NotFound, StoreError
from skillopt_sleep.night.journal import Journal, opened
from skillopt_sleep.night.staging import Practised
from skillopt_sleep.store.failures import Conflict
from skillopt_sleep.store.nights import find_night, nights, report_of, steps, take_up
from tests.night.worlds import Place


class Work:
    """Work that counts how often it was done."""

    def __init__(self, result: object = 7) -> None:
        self.times = 0
        self.result = result

    def __call__(self) -> object:
        self.times += 1
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


def interrupted(place: Place, doing: Callable[[Journal], object]) -> str:
    """A night in which something is done before it is interrupted. Returns its id."""
    with place.open() as world:
        try:
            with opened(world) as journal:
                doing(journal)
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            return journal.id


def test_a_step_that_is_done_is_not_done_again(place: Place) -> None:
    first, second = Work(7), Work(8)
    night = interrupted(place, lambda journal: journal.step("mine", "step 0", int, first))  # type: ignore[arg-type]
    with place.open() as world, opened(world) as journal:
        assert journal.id == night
        assert journal.step("mine", "step 0", int, first) == 7  # type: ignore[arg-type]
        assert journal.step("mine", "step 1", int, second) == 8  # type: ignore[arg-type]
        journal.end({}, "")
    assert (first.times, second.times) == (1, 1)


def test_a_step_that_failed_is_tried_again(place: Place) -> None:
    def fails(journal: Journal) -> None:
        with pytest.raises(ValueError, match="no"):
            journal.step("mine", "k", int, Work(ValueError("no")))  # type: ignore[arg-type]

    interrupted(place, fails)
    again = Work()
    with place.open() as world, opened(world) as journal:
        assert journal.step("mine", "k", int, again) == 7  # type: ignore[arg-type]
        row = next(row for row in steps(world.store, journal.id) if row["key"] == "k")
        assert row["tries"] == 2
        journal.end({}, "")
    assert again.times == 1


def test_what_a_practice_came_to_is_the_same_after_the_journal(place: Place) -> None:
    unit = UnitScore("2026-09-01 kim r", 0.0, 1.0, 1.0, 3, 5, ("t1", "t2"), "prevented 1")
    verdict = Verdict(
        Outcome.SUPPORTED, "why", "recorded", 0.1, 0.9, 0.8, (0.1, 1.0), None, 33.25, 0.01, 0.05, 9, 1.0, None,
        "recorded", True, (unit,), {"prevented": 3.0}, "more", 1, (0.2, 0.95),
    )  # fmt: skip
    done = Practised(Edit("add", "## Rules", "- Use `a`.", frozenset({"t1"})), verdict, "live", "candidate", "", "why")
    interrupted(place, lambda journal: journal.step("evolve", "k", Practised, lambda: done))
    with place.open() as world, opened(world) as journal:
        assert journal.step("evolve", "k", Practised, Work()) == done  # type: ignore[arg-type]
        journal.end({}, "")


def test_a_failed_skill_does_not_end_the_night(place: Place) -> None:
    with place.open() as world, opened(world) as journal:
        with journal.survives("one"):
            raise KeyError("what was read")
        with journal.survives("two"):
            pass
        assert [what for what, _ in journal.failures] == ["one"]
        journal.end({"a": 1}, "one: KeyError")
        assert find_night(world.store, journal.id).state == "failed"
        assert report_of(world.store, journal.id) == {"a": 1}


def test_the_end_of_the_budget_ends_a_skill_and_fails_nothing(place: Place) -> None:
    with place.open() as world, opened(world) as journal:
        with journal.survives("one"):
            raise Exhausted("all calls are made")
        assert (journal.exhausted, journal.failures) == ("all calls are made", [])
        journal.end({}, "")
        assert find_night(world.store, journal.id).state == "done"


@pytest.mark.parametrize("error", [StoreError("the disk is full"), ModelError("no"), KeyboardInterrupt()])
def test_what_every_skill_would_meet_does_end_the_night(error: BaseException, place: Place) -> None:
    with place.open() as world, pytest.raises(type(error)), opened(world) as journal, journal.survives("one"):
        raise error
    assert not journal.failures


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (OSError(28, "No space left on device"), "interrupted"),
        (StoreError("the disk is full"), "interrupted"),
        (ModelError("no"), "interrupted"),
        (KeyError("a secret"), "failed"),
    ],
)
def test_what_will_pass_leaves_a_night_to_resume_and_a_defect_does_not(
    error: BaseException, state: str, place: Place
) -> None:
    with place.open() as world, pytest.raises(type(error)), opened(world):
        raise error
    with place.open() as world:
        row = nights(world.store)[0]
        assert row.state == state
        assert "a secret" not in row.error
        with opened(world) as journal:
            assert (journal.id == row.id) is (state == "interrupted")
            journal.end({}, "")


def test_whoever_lost_the_night_writes_no_more(place: Place) -> None:
    def robbed(journal: Journal) -> None:
        journal.step("mine", "mine", int, Work())  # type: ignore[arg-type]
        take_up(journal.store, journal.id, "", pid=1, boot="other")
        with pytest.raises(Conflict):
            journal.step("mine", "not mine any more", int, Work())  # type: ignore[arg-type]

    interrupted(place, robbed)
    with place.open() as world:
        row = nights(world.store)[0]
        assert (row.state, row.pid, row.fence) == ("running", 1, 2)


def test_there_is_one_night_at_a_time(place: Place) -> None:
    with place.open() as world, place.open() as other:
        with opened(world) as journal:
            with pytest.raises(NightLocked), opened(other):
                pass
            journal.end({}, "")
        assert len(nights(world.store)) == 1


def test_resuming_without_an_interrupted_night_is_an_error(place: Place) -> None:
    with place.open(resume=True) as world, pytest.raises(NotFound, match="no night was interrupted"), opened(world):
        pass
    with place.open() as world:
        assert not nights(world.store)


def test_the_schedule_has_one_night_a_date_and_a_person_as_many_as_they_want(place: Place) -> None:
    for trigger, times in (("manual", 2), ("scheduled", 1)):
        for _ in range(times):
            with place.open(trigger=trigger) as world, opened(world) as journal:
                journal.end({}, "")
    for trigger in ("scheduled", "caught_up"):
        with place.open(trigger=trigger) as world, pytest.raises(Conflict, match="ran already"), opened(world):
            pass
    with place.open() as world:
        assert [night.trigger for night in nights(world.store)] == ["scheduled", "manual", "manual"]


def test_a_nights_date_is_local(place: Place) -> None:
    half_past_ten_in_the_evening = (place.days.stop + 1) * DAY_MS - 90 * 60_000
    dates = []
    for zone in ("UTC", "Europe/Berlin"):
        with place.open(half_past_ten_in_the_evening, zone=zone) as world, opened(world) as journal:
            journal.end({}, "")
            dates.append(date.fromisoformat(journal.row.date))
    assert dates[1] - dates[0] == timedelta(days=1)
