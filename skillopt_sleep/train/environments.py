"""The environment of a run, in layers: redacted at the border, stopped by the budget, journaled, failures kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from skillopt_core.protocols import Environment, Exhausted
from skillopt_core.types import Missing, Skill, Task, Trajectory
from skillopt_sleep.budget import Budget
from skillopt_sleep.redact import Redacted
from skillopt_sleep.replay.journal import Journal
from skillopt_sleep.replay.noted import Noted
from skillopt_sleep.replay.pooled import Pooled
from skillopt_sleep.store.ledgers import Attempts
from skillopt_sleep.train.cast import Attempter, Cast
from skillopt_sleep.train.misses import RememberedEnvironment
from skillopt_sleep.train.runfolder import RunFolder

Redact = Callable[[str], Redacted]


def journaled(cast: Cast, folder: RunFolder, redact: Redact, comparison: str) -> Environment:
    """The cast's environment with every finished attempt kept in the run's journal, under the comparison's name.

    What is kept is what the critic sees: redacted before it is either, so that a run that goes on sees the same.
    """
    clean = _Redacted(_Afforded(cast.attempter.environment, cast.budget), redact)
    ledger = Noted(Attempts(folder.store, comparison, Redacted), folder.store, cast.attempter.sessions)
    batch = None if cast.attempter.simulated else cast.attempter.batch or 1  # what costs nothing is kept all at once
    journal = Journal(clean, ledger, comparison, cast.attempter.named, batch=batch)
    return RememberedEnvironment(side_by_side(journal, cast.attempter), folder.misses)


def afforded(attempter: Attempter, budget: Budget) -> Attempter:
    """Who attempts, side by side where that is possible, stopped by the budget and kept nowhere."""
    return replace(attempter, environment=side_by_side(_Afforded(attempter.environment, budget), attempter))


def side_by_side(environment: Environment, attempter: Attempter) -> Environment:
    """The environment, its attempts made side by side where they wait for a model."""
    return environment if attempter.pool is None else Pooled(environment, attempter.pool)


class _Redacted:
    """An environment whose words are redacted as they come in."""

    def __init__(self, inner: Environment, redact: Redact) -> None:
        self._inner = inner
        self._redact = redact

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        return [self._clean(answer) for answer in self._inner.attempt(tasks, skill, draws)]

    def _clean(self, answer: Trajectory | Missing) -> Trajectory | Missing:
        if isinstance(answer, Missing):
            return Missing(self._redact(answer.reason))
        failed = tuple(map(self._redact, answer.score.failed))
        return replace(
            answer,
            score=replace(answer.score, failed=failed),
            transcript=self._redact(answer.transcript),
            prompt=self._redact(answer.prompt),
            answer="",  # whoever compares answers does so before they are kept
        )


class _Afforded:
    """An environment that is not asked once the budget's time is over, also where an attempt costs nothing else."""

    def __init__(self, inner: Environment, budget: Budget) -> None:
        self._inner = inner
        self._budget = budget

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        if not self._budget.affords(0, 0):
            raise Exhausted("the budget is out")
        return self._inner.attempt(tasks, skill, draws)
