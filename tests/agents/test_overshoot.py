"""A run that takes more than was set aside for it goes on as long as the budget has more, and is ended then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep import sandbox
from skillopt_sleep.agents.native import (
    LINES,
    Command,
    Ended,
    NativeAgent,
    NativeSettings,
    Purse,
    Run,
    Theirs,
    run_plainly,
    shut_in,
)
from skillopt_sleep.agents.native.purse import FIRST, Overshot
from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import SystemClock
from tests.agents.pretending import Script, pretender
from tests.models.ledgers import Book

SKILL = Skill("---\nname: memo\ndescription: x\n---\n", "memo")
ONE = sum(FIRST)
TURN = 30_000
LONG: Script = {"Write": [*({"shell": "sleep 1.5", "takes": TURN} for _ in range(5)), {"text": "Done."}]}
"""Five turns, each a little longer than it takes until somebody looks."""


def shut(command: Command) -> Ended:
    return shut_in(sandbox.find())(command)


def attempted(folder: Path, limits: Limits, run: Run = run_plainly) -> tuple[Trajectory | Missing, Purse]:
    purse = Purse(Budget(limits, Book(), SystemClock()), "claude")
    theirs = Theirs(Path("/nowhere"), {"PATH": os.environ["PATH"]})
    agent = NativeAgent(
        LINES["claude"], NativeSettings((str(pretender(folder, LONG)),), seconds=60.0), theirs,
        lambda task, done: Score(1.0, 1.0), lambda task, folder: None, run=run, purse=purse,
    )  # fmt: skip
    (answer,) = agent.attempt([Task("t", "Write it")], SKILL, [0])
    return answer, purse


def spent(purse: Purse) -> int:
    assert purse.budget is not None
    return int(purse.budget.as_json()["tokens"]["spent"])  # type: ignore[index]


@pytest.mark.parametrize("run", [run_plainly, pytest.param(shut, marks=pytest.mark.sandbox)])
def test_it_is_ended_a_turn_after_the_budget_has_no_more(run: Run, tmp_path: Path) -> None:
    answer, purse = attempted(tmp_path, Limits(tokens=ONE + 5_000), run)
    assert isinstance(answer, Missing)
    assert "the budget had no more" in answer.reason
    taken = spent(purse)
    assert ONE < taken <= ONE + 2 * (TURN + 100), "at most one turn beyond the one that passed it"
    assert purse.overshot == Overshot(1, taken - ONE)


def test_it_goes_on_where_the_budget_has_more_and_that_is_set_aside(tmp_path: Path) -> None:
    answer, purse = attempted(tmp_path, Limits(tokens=5 * ONE, calls=1))
    assert isinstance(answer, Trajectory)
    assert spent(purse) == 5 * (TURN + 100) + 1100
    assert purse.overshot == Overshot(), "nothing was taken that was not set aside"


def test_without_a_limit_nothing_is_ended(tmp_path: Path) -> None:
    answer, purse = attempted(tmp_path, Limits())
    assert isinstance(answer, Trajectory)
    assert purse.overshot == Overshot()
