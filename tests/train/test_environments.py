"""What was attempted is kept before the next attempt begins, where an attempt may cost something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skillopt_core.protocols import Exhausted
from skillopt_core.scripted import ScriptedCritic
from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.domain.reports import Evidence
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store.ledgers import Spending
from skillopt_sleep.train.cast import Attempter, Cast
from skillopt_sleep.train.environments import journaled
from skillopt_sleep.train.runfolder import RunFolder, opened

SKILL = Skill("# Memo\n", "memo")
TASKS = [Task(f"t{n}", f"Write memo {n}.") for n in range(5)]


@dataclass
class Paid:
    """An agent whose third attempt finds the budget out, once."""

    asked: list[str] = field(default_factory=list)
    deterministic: bool = False

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        answers = []
        for task, draw in zip(tasks, draws, strict=True):
            self.asked.append(task.id)
            if len(self.asked) == 3:
                raise Exhausted("all 2 calls are made")
            answers.append(Trajectory(task.id, draw, skill.digest, Score(1.0, 1.0), "done"))
        return answers


def of(agent: Paid, folder: RunFolder, evidence: Evidence) -> Cast:
    player = Attempter(agent, {"name": "paid"}, evidence)
    budget = Budget(Limits(), Spending(folder.store, "n"), FixedClock(0))
    return Cast(player, ScriptedCritic([]), StrictScreen(Grounds()), "nobody", budget)


@pytest.mark.parametrize(("evidence", "again"), [("replayed", 1), ("simulated", 2)])
def test_a_budget_that_ends_among_attempts_repeats_none_that_was_finished_and_paid(
    evidence: Evidence, again: int, tmp_path: Path
) -> None:
    agent = Paid()
    with opened(tmp_path / "run", {"of": "test"}, "", FixedClock(0)) as folder:
        environment = journaled(of(agent, folder, evidence), folder, Redacted, "train")
        with pytest.raises(Exhausted):
            environment.attempt(TASKS, SKILL, [0] * 5)
        assert agent.asked == ["t0", "t1", "t2"]
        answers = journaled(of(agent, folder, evidence), folder, Redacted, "train").attempt(TASKS, SKILL, [0] * 5)
    assert len(answers) == 5
    assert agent.asked.count("t0") == agent.asked.count("t1") == again
