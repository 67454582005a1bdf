"""`eval`: one skill scored, or two in pairs, on one or several targets. Nothing is trained and nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_core.defaults import CountedDraws
from skillopt_core.types import Outcome, Skill, Task, Verdict
from skillopt_sleep.train.cast import Attempter
from skillopt_sleep.train.measure import compared, scored
from skillopt_sleep.train.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Row:
    """What one target made of it: of one skill `before` alone, of two also `after`, the effect and its p."""

    target: str
    verdict: Verdict

    @property
    def failed(self) -> bool:
        """True where too few attempts came back for a figure."""
        return self.verdict.outcome is Outcome.INFRA_ERROR


def evaluate(skill: Skill, against: Skill | None, tasks: Sequence[Task], recipe: Recipe, attempter: Attempter) -> Row:
    """Score the skill on all tasks, `recipe.repeats` times each; with `against`, how much better `skill` is than it.

    Pairs share their draws. Raises `Exhausted`.
    """
    draws, metric, evidence = CountedDraws(recipe.seed), recipe.reward(), attempter.evidence
    how = attempter.environment
    if against is None:
        verdict = scored(how, skill, tasks, draws, repeats=recipe.repeats, metric=metric, evidence=evidence)
    else:
        verdict = compared(
            how, against, skill, tasks, draws,
            repeats=recipe.repeats, metric=metric, seed=recipe.seed, evidence=evidence,
        )  # fmt: skip
    return Row(attempter.name, verdict)
