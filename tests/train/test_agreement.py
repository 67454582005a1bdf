"""How far a judge agrees with rules: counts, an exact share over units, kappa, and what is said of it."""

from __future__ import annotations

import random

import pytest
from scipy.stats import binomtest

from skillopt_core.types import Score, Skill, Task, Trajectory
from skillopt_sleep.checks.scoring import RUBRIC, RULES
from skillopt_sleep.train.agreement import Agreement, Judge
from skillopt_sleep.train.judging import Judged

SKILL = Skill("a")


class Scripted:
    """An environment whose attempts have these verdicts, by task and draw."""

    deterministic = True

    def __init__(self, verdicts):
        self.verdicts = verdicts

    def attempt(self, tasks, skill, draws):
        return [self._one(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def _one(self, task, skill, draw):
        rubric, rules = self.verdicts[task.id, draw]
        said = {RUBRIC: float(rubric)} | ({} if rules is None else {RULES: float(rules)})
        return Trajectory(task.id, draw, skill.digest, Score(0.0, 0.0, objectives=said))


def agreement(verdicts, *, shuffled=0):
    judged = Judged(Scripted(verdicts), by_model=True)
    order = list(verdicts)
    random.Random(shuffled).shuffle(order)
    for name, draw in order:
        judged.attempt([Task(name, "p", unit=name.partition("/")[0])], SKILL, [draw])
    return judged.agreement()


def test_kappa_and_counts_are_over_attempts_and_the_share_over_units_with_their_first_attempt():
    verdicts = {("u/1", 0): (1, 1), ("u/1", 1): (0, 1), ("u/2", 1): (1, 0), ("v", 0): (0, 0), ("w", 0): (1, 0)}
    found = agreement(verdicts)
    assert (found.both, found.rubric_alone, found.rules_alone, found.neither) == (1, 2, 1, 1)
    assert (found.units, found.agreed) == (3, 2)
    assert found.kappa == pytest.approx(((2 / 5) - (3 / 5 * 2 / 5 + 2 / 5 * 3 / 5)) / (1 - 12 / 25))
    wanted = binomtest(2, 3).proportion_ci()
    assert found.interval == pytest.approx((wanted.low, wanted.high), abs=1e-6)
    assert all(agreement(verdicts, shuffled=seed) == found for seed in range(1, 20)), "whichever was done first"


def test_an_attempt_without_rules_is_held_against_nothing():
    assert agreement({("t", 0): (1, None)}) == Agreement()


@pytest.mark.parametrize(
    ("counts", "trust"),
    [
        ((8, 0, 0, 8, 9, 9), "unknown"),
        ((20, 0, 0, 0, 20, 20), "unknown"),
        ((20, 2, 0, 0, 22, 20), "unknown"),
        ((10, 0, 0, 10, 20, 20), "fair"),
        ((8, 4, 4, 8, 20, 13), "poor"),
        ((30, 5, 5, 1, 41, 31), "poor"),
        ((0, 10, 10, 0, 20, 0), "poor"),
    ],
)
def test_a_judge_is_trusted_only_where_there_is_reason_to(counts, trust):
    found = Agreement(*counts)
    assert found.trust == trust
    said = Judge("m", 3, found).said()
    assert ("its grades are an opinion" in said) is (trust == "unknown")
    assert ("do not rest a decision" in said) is (trust == "poor")


def test_where_nobody_judges_nothing_is_kept_and_determinism_stays():
    plain = Judged(Scripted({("t", 0): (1, 1)}), by_model=False)
    plain.attempt([Task("t", "p")], SKILL, [0])
    assert (plain.deterministic, plain.agreement()) == (True, Agreement())
    assert not Judged(Scripted({}), by_model=True).deterministic
