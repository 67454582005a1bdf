"""Stage one: the target attempts a batch of train tasks under the current skill (method.md, rollout)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from skillopt_core.protocols import Asked, Draws, Environment, Wide
from skillopt_core.types import Missing, Skill, Task, Trajectory


@dataclass(frozen=True, slots=True)
class Seen:
    """What came back from a rollout: finished attempts in task order, and the failed ones counted by reason."""

    trajectories: tuple[Trajectory, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)

    @property
    def headroom(self) -> bool:
        """True if any attempt failed a check: something can be learnt."""
        return any(one.score.hard < 1 for one in self.trajectories)

    @property
    def silent(self) -> bool:
        """True if attempts were made and none came back: an outage, not "nothing to learn"."""
        return bool(self.missing) and not self.trajectories

    @property
    def mean(self) -> float | None:
        """Mean hard score over attempts, None without any."""
        scores = [one.score.hard for one in self.trajectories]
        return sum(scores) / len(scores) if scores else None


def rollout(environment: Environment, skill: Skill, tasks: Sequence[Task], draws: Draws, k: int = 1) -> Seen:
    """`k` independent attempts of each task, each with a draw number of its own.

    A deterministic environment is asked once: one answer used k times is no contrast. Raises `Exhausted`.
    """
    if not tasks:
        return Seen()
    repeats = 1 if environment.deterministic else k
    numbers = draws.take(repeats)
    wanted = [(task, number) for task in tasks for number in numbers]
    answers = attempted(environment, [task for task, _ in wanted], skill, [number for _, number in wanted])
    finished = tuple(
        answer if answer.prompt else replace(answer, prompt=task.prompt)
        for (task, _), answer in zip(wanted, answers, strict=True)
        if isinstance(answer, Trajectory)
    )
    return Seen(finished, Counter(answer.reason for answer in answers if isinstance(answer, Missing)))


def attempted(
    environment: Environment, tasks: Sequence[Task], skill: Skill, numbers: Sequence[int]
) -> Sequence[Trajectory | Missing]:
    """The environment's answers, checked to be one for each question: a shifted list would score the wrong task."""
    return _checked(tasks, environment.attempt(tasks, skill, numbers))


def attempted_each(environment: Wide, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
    """The same of attempts with texts of their own, side by side."""
    return _checked([task for task, _, _ in asked], environment.attempt_each(asked))


def width_of(environment: Environment) -> int:
    """How many attempts the environment makes side by side."""
    return environment.width if isinstance(environment, Wide) else 1


def each(environment: Environment, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
    """Attempts with texts of their own by whatever environment: side by side, or text by text in their order."""
    if isinstance(environment, Wide):
        return environment.attempt_each(asked)
    answers: list[Trajectory | Missing] = []
    for _, group in groupby(asked, key=lambda one: one[1].digest):
        some = list(group)
        answers += environment.attempt([task for task, _, _ in some], some[0][1], [draw for _, _, draw in some])
    return answers


def _checked(tasks: Sequence[Task], answers: Sequence[Trajectory | Missing]) -> Sequence[Trajectory | Missing]:
    if len(answers) != len(tasks):
        raise ValueError(f"the environment gave {len(answers)} answers to {len(tasks)} attempts")
    for task, answer in zip(tasks, answers, strict=True):
        if isinstance(answer, Trajectory) and answer.task != task.id:
            raise ValueError(f"the environment answered {answer.task!r} where {task.id!r} was asked")
    return answers
