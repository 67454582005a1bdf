"""What a run is said to take, and when its budget is turned away before anything is spent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillopt_sleep.budget import Budget, Limits, Price
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import BudgetTooSmall
from skillopt_sleep.train.costs import Ask, Attempts, Forecast, of_eval, of_training
from skillopt_sleep.train.plan import planned
from skillopt_sleep.train.recipe import Recipe
from tests.models.ledgers import Book
from tests.train.test_plan import tasks

AGENT = Ask("claude", 36_000, 4_000, 10)
EDITOR = Ask("sonnet", 64, 2_048, 64)
SEEN = Forecast(
    Attempts(baseline=8, comparison=36, comparisons=2, train=16, audit=36, smallest=20, first=8), AGENT, EDITOR, 2
)


def budget(limits: Limits, **prices: Price) -> Budget:
    return Budget(limits, Book(), FixedClock(0), prices)


def test_the_attempts_of_a_training_are_those_of_its_schedule_and_its_looks() -> None:
    given = tasks(8, 6, 5)
    recipe = Recipe(epochs=2, batch_size=4, slow_update=3, gate="strict", repeats=3, rollouts_k=2)
    plan = planned(recipe, given, "replayed", deterministic=False)
    found = of_training(plan, given, recipe.repeats, deterministic=False)
    assert (found.baseline, found.comparison, found.audit) == (8, 36, 30)
    assert found.comparisons == plan.looks == 5
    assert found.train == 4 * 4 * 2 + 2 * 3, "four steps of four tasks, two attempts each, and a look back at three"
    assert found.smallest == 8 + 12
    once = of_training(plan, given, recipe.repeats, deterministic=True)
    assert (once.baseline, once.comparison, once.audit) == (4, 12, 10)


def test_one_text_is_attempted_once_and_two_are_attempted_in_pairs() -> None:
    assert of_eval(10, 3, 1, 1, deterministic=False) == Attempts(0, 30, 1, 0, 0, 10, 10)
    assert of_eval(10, 3, 2, 2, deterministic=True) == Attempts(0, 20, 2, 0, 0, 20, 10)


def test_it_is_said_what_the_budget_buys() -> None:
    plan, price = SEEN.said(Limits(tokens=200_000), 40_000)
    assert plan == (
        "plan: baseline 8 attempts at train tasks, then 2 comparisons of 36 attempts, audit 36 attempts: "
        "at most 124 attempts"
    )
    assert "40,000 tokens until others have been seen: 160,000 tokens buy 4 of 124" in price
    assert "no limit in tokens" in list(SEEN.said(Limits(), 0))[1]
    assert list(replace(SEEN, attempt=None, question=None).said(Limits(), 0))[1] == (
        "attempts cost nothing, nor does who edits"
    )


@pytest.mark.parametrize(
    ("limits", "short"),
    [
        (Limits(calls=20), "21 calls at least, 20 calls are left"),
        (Limits(tokens=82_111), "82,112 tokens at least"),
        (Limits(usd=0.2), "USD at least"),
    ],
)
def test_a_budget_that_cannot_reach_whatever_happens_is_turned_away(limits: Limits, short: str) -> None:
    with pytest.raises(BudgetTooSmall, match="20 attempts and a question to who edits") as error:
        SEEN.must_reach(budget(limits, claude=Price(3.0, 15.0), sonnet=Price(3.0, 15.0)))
    assert short in str(error.value)


def test_a_budget_that_may_reach_is_let_in() -> None:
    limits = Limits(tokens=82_112, calls=21, usd=0.37)
    SEEN.must_reach(budget(limits, claude=Price(3.0, 15.0), sonnet=Price(3.0, 15.0)))
    replace(SEEN, attempt=None, question=None).must_reach(budget(Limits(tokens=1, calls=1)))
    alone = replace(SEEN, attempts=replace(SEEN.attempts, first=1))
    alone.must_reach(budget(Limits(tokens=42_112)))
