"""`eval`: one skill scored, or two in pairs, on one or several targets. Nothing is trained, no attempt is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_core.defaults import CountedDraws
from skillopt_core.types import Outcome, Skill, Task, Verdict
from skillopt_sleep.replay.journal import Journal, Passing
from skillopt_sleep.train.agreement import Judge
from skillopt_sleep.train.cast import Attempter
from skillopt_sleep.train.judging import Judged
from skillopt_sleep.train.measure import compared, scored
from skillopt_sleep.train.preferred import Preferred, preferred
from skillopt_sleep.train.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Row:
    """What one target made of it: of one skill `before` alone, of two also `after`, the effect and its p.

    `judge` is None where no task has a rubric, `preferred` also where one skill alone was scored.
    """

    target: str
    verdict: Verdict
    judge: Judge | None = None
    preferred: Preferred | None = None

    @property
    def failed(self) -> bool:
        """True where too few attempts came back for a figure."""
        return self.verdict.outcome is Outcome.INFRA_ERROR


def evaluate(
    skill: Skill, against: Skill | None, tasks: Sequence[Task], recipe: Recipe, attempter: Attempter, judge: str = ""
) -> Row:
    """Score the skill on all tasks, `recipe.repeats` times each; with `against`, how much better `skill` is than it.

    Pairs share their draws. `judge` says who judges by rubrics; of two skills it also compares the answers of each
    pair. Where the budget ends a comparison, its finished pairs are what it comes to; raises `Exhausted` where there
    are none, or one skill is scored alone.
    """
    draws, metric, evidence = CountedDraws(recipe.seed), recipe.reward(), attempter.evidence
    batch = None if attempter.simulated or attempter.pool is not None else attempter.batch or 1
    kept = Journal(attempter.environment, Passing(), "eval", attempter.named, batch=batch)
    how = Judged(kept, by_model=bool(judge))
    if against is None:
        verdict = scored(how, skill, tasks, draws, repeats=recipe.repeats, metric=metric, evidence=evidence)
    else:
        verdict = compared(
            how, against, skill, tasks, draws,
            repeats=recipe.repeats, metric=metric, seed=recipe.seed, evidence=evidence, keep_cut=True,
        )  # fmt: skip
    if not judge:
        return Row(attempter.name, verdict)
    seat = attempter.judging.judge
    sides = preferred(seat, how.pairs(against, skill)) if seat is not None and against is not None else None
    return Row(attempter.name, verdict, how.judge(judge, recipe.judge_readings), sides)
