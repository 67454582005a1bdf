"""What attempts cost is set aside before they begin, and what nobody can tell stays spent."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing, Score, Skill, Task
from skillopt_sleep.agents.native import LINES, Command, Ended, NativeAgent, NativeSettings, Theirs
from skillopt_sleep.agents.native.purse import FIRST, MARGIN, Purse
from skillopt_sleep.agents.native.reading import Seen
from skillopt_sleep.budget import Budget, Limits, Price
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.errors import ConfigError
from tests.models.ledgers import Book

ONE = sum(FIRST)


def budget(limits: Limits, prices: dict[str, Price] | None = None) -> Budget:
    return Budget(limits, Book(), SystemClock(), prices)


def spent(of: Budget) -> tuple[int, bool]:
    tokens = of.as_json()["tokens"]
    assert isinstance(tokens, dict)
    return tokens["spent"], tokens["exact"]


def seen(taken: int, output: int, answer: str = "yes") -> Seen:
    return Seen("s", answer, (), 0, True, True, None, "", taken, output)


def test_an_attempt_counts_by_the_agents_own_figures_also_above_what_was_set_aside() -> None:
    money = budget(Limits(tokens=ONE))
    with Purse(money, "claude").open(1) as (pay,):
        pay(seen(300_000, 9_000), False)
    assert spent(money) == (309_000, True)
    with pytest.raises(Exhausted), Purse(money, "claude").open(1):
        pass


def test_nothing_begins_where_not_all_of_it_can_be_paid_for() -> None:
    money = budget(Limits(tokens=2 * ONE - 1))
    with pytest.raises(Exhausted), Purse(money, "claude").open(2):
        pytest.fail("it began")
    assert spent(money) == (0, True)


@pytest.mark.parametrize(
    ("found", "cut", "counts"),
    [
        (None, False, 0),
        (None, True, ONE),
        (seen(0, 0, ""), False, 0),
        (seen(0, 0, ""), True, ONE),
        (seen(0, 0, "yes"), False, ONE),
    ],
    ids=["never began", "lost", "signed out", "late", "an answer for nothing"],
)
def test_what_nobody_can_tell_stays_spent(found: Seen | None, cut: bool, counts: int) -> None:
    money = budget(Limits(tokens=10 * ONE))
    with Purse(money, "claude").open(1) as (pay,):
        pay(found, cut)
    assert spent(money)[0] == counts


def test_what_was_never_told_of_stays_spent() -> None:
    money = budget(Limits(tokens=10 * ONE))
    with suppress(KeyboardInterrupt), Purse(money, "claude").open(2) as (first, _):
        first(seen(5, 5), False)
        raise KeyboardInterrupt
    assert spent(money) == (10 + ONE, False)


def test_the_next_attempt_is_set_aside_at_the_dearest_so_far() -> None:
    purse = Purse(money := budget(Limits(tokens=100 * ONE)), "claude")
    for figures in ((1000, 100), (800, 400)):
        with purse.open(1) as (pay,):
            pay(seen(*figures), False)
    before = spent(money)[0]
    with purse.open(1):
        assert spent(money)[0] - before == int(1000 * MARGIN) + int(400 * MARGIN)


def test_money_without_a_price_is_refused_and_with_one_it_is_counted() -> None:
    with pytest.raises(ConfigError, match="no price"), Purse(budget(Limits(usd=1.0)), "claude").open(1):
        pass
    priced = budget(Limits(usd=1.0), {"m": Price(10.0, 100.0)})
    with Purse(priced, "m").open(1) as (pay,):
        pay(seen(10_000, 1_000), False)
    assert priced.as_json()["usd"] == {"limit": 1.0, "spent": 0.2}


def test_an_agent_that_cannot_be_started_costs_nothing() -> None:
    def run(command: Command) -> Ended:
        raise FileNotFoundError(command.argv[0])

    money = budget(Limits(tokens=10 * ONE))
    theirs, settings = Theirs(Path("/nowhere"), {"PATH": os.defpath}), NativeSettings(("agent",))
    agent = NativeAgent(
        LINES["codex"], settings, theirs, lambda task, answer: Score(1.0, 1.0), lambda task, folder: None, run=run
    ).paid_from(money)
    skill = Skill("---\nname: memo\ndescription: x\n---\n")
    (answer,) = agent.attempt([Task("t", "x")], skill, [0])
    assert answer == Missing("codex: it could not be run (FileNotFoundError)")
    assert spent(money) == (0, True)
