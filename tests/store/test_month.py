"""What all runs over one home take in a month: a night and a training see each other's reservations before they pay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillopt_core.protocols import Exhausted
from skillopt_sleep.budget import Budget
from skillopt_sleep.clock import DAY_MS, FixedClock
from skillopt_sleep.domain.ledgers import Limits, Month, Spend
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import Spending
from skillopt_sleep.store.month import month_began_ms
from skillopt_sleep.store.nights import begin_night, end_night

NOON = 1_795_953_600_000
"""12:00 UTC on 29 November 2026."""
MINUTE = 60_000


@pytest.fixture
def other(store: Store, clock: FixedClock) -> Iterator[Store]:
    """The same store on a connection of its own, as another process has it."""
    with open_store(store.path, clock) as opened:
        yield opened


def month(zone: str = "UTC", **limits: float) -> Month:
    return Month(Limits(**limits), zone)  # type: ignore[arg-type]


def test_what_another_connection_has_reserved_is_not_reserved_again(store: Store, other: Store) -> None:
    night = Spending(store, "n-1", month=month(tokens=1_000))
    training = Spending(other, "t-1", month=month(tokens=1_000))
    training.reserve("optimizer", 700, 0.0)
    with pytest.raises(Exhausted, match="700 of the month's 1000 tokens"):
        night.reserve("optimizer", 301, 0.0)
    night.reserve("optimizer", 300, 0.0)
    assert night.spent() == (1, Spend.whole(300, 0.0)), "what was refused left no row"


def test_what_another_settled_counts_as_what_it_came_to(store: Store, other: Store) -> None:
    night = Spending(store, "n-1", month=month(tokens=1_000))
    training = Spending(other, "t-1", month=month(tokens=1_000))
    training.settle(training.reserve("optimizer", 900, 0.0), Spend(10, 0.0, True, 200, 0.0))
    with pytest.raises(Exhausted):
        night.reserve("optimizer", 800, 0.0)
    other.flush()
    night.reserve("optimizer", 800, 0.0)


def test_calls_and_dollars_are_shared_too(store: Store, other: Store) -> None:
    Spending(other, "t-1", month=month()).reserve("optimizer", 1, 0.75)
    with pytest.raises(Exhausted, match="all 1 calls of the month"):
        Spending(store, "n-1", month=month(calls=1)).reserve("optimizer", 1, 0.0)
    with pytest.raises(Exhausted, match="USD"):
        Spending(store, "n-1", month=month(usd=1.0)).reserve("optimizer", 1, 0.26)
    Spending(store, "n-1", month=month(usd=1.0, calls=2)).reserve("optimizer", 1, 0.25)


def test_a_budget_that_the_month_refuses_is_as_it_was(store: Store, other: Store, clock: FixedClock) -> None:
    Spending(other, "t-1").reserve("optimizer", 900, 0.0)
    budget = Budget(Limits(tokens=10_000), Spending(store, "n-1", month=month(tokens=1_000)), clock)
    assert budget.limits.tokens == 100
    assert not budget.affords(101)
    with pytest.raises(Exhausted):
        budget.reserve("optimizer", "m", "hello", 500)
    assert budget.as_json()["tokens"] == {"limit": 100, "spent": 0, "exact": True}
    assert budget.as_json()["calls"] == {"limit": None, "spent": 0}
    budget.reserve_run("target", "m", 50, 50)


def test_a_run_that_goes_on_in_the_next_month_has_that_months_limits(store: Store, clock: FixedClock) -> None:
    book = Spending(store, "t-1", month=month(tokens=1_000))
    book.reserve("optimizer", 900, 0.0)
    clock.ms += 2 * DAY_MS
    book.reserve("optimizer", 900, 0.0)
    with pytest.raises(Exhausted):
        book.reserve("optimizer", 200, 0.0)


def test_a_month_begins_at_midnight_of_its_zone() -> None:
    first = NOON + DAY_MS + 12 * 60 * MINUTE  # 0:00 UTC on 1 December
    assert month_began_ms(first, "UTC") == first
    assert month_began_ms(first - 1, "UTC") == first - 30 * DAY_MS
    assert month_began_ms(first, "America/New_York") == first - 30 * DAY_MS + 4 * 60 * MINUTE, "summer time ended"


def test_minutes_of_nights_and_of_the_calls_of_trainings_count_together(store: Store, clock: FixedClock) -> None:
    night = begin_night(store, "manual", "c", date="2026-11-29", zone="UTC", pid=1, boot="b")
    clock.ms += 10 * MINUTE
    end_night(store, night, "done")
    training = Spending(store, "t-1")
    together = [training.reserve("optimizer", 1, 0.0), training.reserve("optimizer", 1, 0.0)]
    clock.ms += 4 * MINUTE
    for row in together:
        training.settle(row, Spend())
    clock.ms += 60 * MINUTE  # nobody works
    training.reserve("optimizer", 1, 0.0)
    book = Spending(store, "n-9", month=month(seconds=20 * 60))
    assert book.leaves(Limits(seconds=3_600.0)).seconds == 6 * 60
    book.reserve("optimizer", 1, 0.0, seconds=5 * 60)
    with pytest.raises(Exhausted, match="the month's 20 minutes are over"):
        book.reserve("optimizer", 1, 0.0, seconds=6 * 60)


def test_without_a_limit_of_the_month_nothing_is_summed(store: Store) -> None:
    book = Spending(store, "n-1", month=month())
    assert book.leaves(Limits(tokens=7)) == Limits(tokens=7)
