"""What failed in a call that was finished stays failed, so that a run that goes on is the run that was not stopped.

Finished attempts and replies are in the run's journal and are found again. A failed one is not: asked anew after a
restart it might succeed, and every step from there on would be another one. So the failures of each finished call are
written down by the number of the call. A call that was cut short has no entry, and what it lacks is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from skillopt_core.asking import Complete
from skillopt_core.protocols import Asked, Environment, Exhausted
from skillopt_core.rollout import each, width_of
from skillopt_core.types import Missing, Skill, Task, Trajectory
from skillopt_sleep.train.lines import append_line, read_lines

Of = Literal["attempt", "complete"]
T = TypeVar("T")


class Misses:
    """The failures of finished calls, in a file of JSON lines: `{"of", "call", "missing": {index: reason}}`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = {(line["of"], line["call"]): line["missing"] for line in read_lines(path)}
        self._calls: dict[Of, int] = {"attempt": 0, "complete": 0}

    def through(self, of: Of, n: int, ask: Callable[[Sequence[int]], Sequence[T | Missing]]) -> list[T | Missing]:
        """The `n` answers of the next call. `ask` is given the indices that are to be asked."""
        self._calls[of] += 1
        call = self._calls[of]
        known: Mapping[str, str] | None = self._known.get((of, call))
        failed = {int(index): reason for index, reason in (known or {}).items()}
        wanted = [index for index in range(n) if index not in failed]
        fresh = dict(zip(wanted, ask(wanted) if wanted else (), strict=True))
        answers: list[T | Missing] = [fresh[i] if i in fresh else Missing(failed[i]) for i in range(n)]
        if known is None:
            self._keep(of, call, answers)
        return answers

    def _keep(self, of: Of, call: int, answers: Sequence[object]) -> None:
        missing = {str(n): answer.reason for n, answer in enumerate(answers) if isinstance(answer, Missing)}
        if missing:
            append_line(self._path, {"of": of, "call": call, "missing": missing})


class RememberedEnvironment:
    """An environment whose failures are remembered."""

    def __init__(self, inner: Environment, misses: Misses) -> None:
        self._inner = inner
        self._misses = misses

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    @property
    def width(self) -> int:
        return width_of(self._inner)

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        return self.attempt_each([(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)])

    def attempt_each(self, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
        def ask(wanted: Sequence[int]) -> Sequence[Trajectory | Missing]:
            try:
                return each(self._inner, [asked[i] for i in wanted])
            except Exhausted as out:
                out.finished = ()  # a run goes on: its comparisons are finished, not judged by what there is
                raise

        return self._misses.through("attempt", len(asked), ask)


def remembered(complete: Complete, misses: Misses) -> Complete:
    """`complete` whose failures are remembered."""

    def asked(prompts: Sequence[str]) -> Sequence[str | Missing]:
        return misses.through("complete", len(prompts), lambda wanted: complete([prompts[i] for i in wanted]))

    return asked
