"""Attempts side by side: an environment whose agent waits for others most of the time."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_core.protocols import Asked, Environment
from skillopt_core.types import Missing, Skill, Task, Trajectory
from skillopt_sleep.models.pool import Pool


class Pooled:
    """Wraps an environment that can be asked from several threads, and asks it for one attempt a time in a pool.

    Wrapped round a journal each attempt is kept as soon as it is there: what was paid for before the budget was out, or
    before the process was killed, is not paid for again.
    """

    def __init__(self, inner: Environment, pool: Pool) -> None:
        self._inner = inner
        self._pool = pool

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """As the wrapped environment, in the order of the tasks. Raises `Exhausted` through, begun attempts ended."""

        return self.attempt_each([(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)])

    @property
    def width(self) -> int:
        """Attempts at a time."""
        return self._pool.workers

    def attempt_each(self, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
        """The same with a text of its own for each."""

        def one(wanted: Asked) -> Trajectory | Missing:
            task, skill, draw = wanted
            (answer,) = self._inner.attempt([task], skill, [draw])
            return answer

        return self._pool.run(one, asked)
