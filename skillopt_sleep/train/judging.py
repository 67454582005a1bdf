"""How answers are judged in a run: by rules, and for rubrics by a model, once it is known who pays for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

from skillopt_core.gate.table import unit_of
from skillopt_core.protocols import Asked, Environment
from skillopt_core.rollout import each, width_of
from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.agents.native import Attempted
from skillopt_sleep.checks.judge import RubricJudge
from skillopt_sleep.checks.scoring import APART, RUBRIC, RULES
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.replay.native import Runs
from skillopt_sleep.train.agreement import Agreement, Judge
from skillopt_sleep.train.rows import LoadedTask


class Judging:
    """Says how an answer to a loaded task did. `judge` is None until somebody takes the seat.

    `runs` runs what checks a folder that an attempt left, None where nothing can be run.
    """

    def __init__(self, runs: Runs | None = None) -> None:
        self.runs = runs
        self.judge: RubricJudge | None = None

    def __call__(self, task: Task, answer: Answer) -> Score | Missing:
        """By the checks or the scorer that the task was loaded with; the judge is shown what the agent was asked."""
        if not isinstance(task.payload, LoadedTask):
            raise TypeError(f"{task.id} was not loaded from a task file")
        if self.runs is not None and isinstance(answer, Attempted):
            answer = replace(answer, run=partial(_run, self.runs, answer.folder))
        if self.judge is None:
            return task.payload.score(answer)
        apart: list[float] = []
        answer = replace(answer, grade=partial(_graded, self.judge, task.prompt, answer.text, apart))
        score = task.payload.score(answer)
        if isinstance(score, Missing) or not apart:
            return score
        return replace(score, objectives={**score.objectives, APART: max(apart)})


def _run(runs: Runs, folder: Path, argv: Sequence[str], seconds: float) -> int | Missing:
    return runs(argv, folder, seconds)


def _graded(judge: RubricJudge, prompt: str, text: str, apart: list[float], rubric: str) -> float | Missing:
    """The median, with how far the readings lie `apart` noted where there are several."""
    grades = judge.grades(prompt, rubric, text)
    if isinstance(grades, Missing):
        return grades
    if len(grades) > 1:
        apart.append(max(grades) - min(grades))
    return median(grades)


class Judged:
    """An environment that keeps what it gave where a model judges; nothing is deterministic then."""

    def __init__(self, inner: Environment, *, by_model: bool) -> None:
        self._inner = inner
        self._by_model = by_model
        self._kept: dict[tuple[str, str, int], tuple[Task, Trajectory]] = {}

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic and not self._by_model

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        return self.attempt_each([(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)])

    @property
    def width(self) -> int:
        return width_of(self._inner)

    def attempt_each(self, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
        answers = each(self._inner, asked)
        if self._by_model:
            for (task, skill, draw), answer in zip(asked, answers, strict=True):
                if isinstance(answer, Trajectory):
                    self._kept.setdefault((task.id, skill.digest, draw), (task, answer))
        return answers

    def agreement(self) -> Agreement:
        """Of the judge with the rules, over all attempts so far; of a unit the one with the first draw comes first."""
        counts: dict[tuple[bool, bool], int] = {}
        first: dict[str, bool] = {}
        for task, attempt in map(self._kept.__getitem__, sorted(self._kept, key=_by_draw)):
            said = attempt.score.objectives
            if RUBRIC in said and RULES in said:
                rubric, rules = said[RUBRIC] == 1, said[RULES] == 1
                counts[rubric, rules] = counts.get((rubric, rules), 0) + 1
                first.setdefault(unit_of(task), rubric == rules)
        return Agreement(
            counts.get((True, True), 0), counts.get((True, False), 0), counts.get((False, True), 0),
            counts.get((False, False), 0), len(first), sum(first.values()),
        )  # fmt: skip

    def apart(self) -> float | None:
        """How far readings of one answer lie apart, on the average over attempts; None where none was read twice."""
        found = [one.score.objectives[APART] for _, one in self._kept.values() if APART in one.score.objectives]
        return sum(found) / len(found) if found else None

    def judge(self, model: str, readings: int) -> Judge:
        """What there is to say of the judge."""
        return Judge(model, readings, self.agreement(), self.apart())

    def pairs(self, before: Skill, after: Skill) -> Sequence[tuple[Task, Trajectory, Trajectory]]:
        """Attempts at one task with one draw under both texts."""
        return [
            (task, attempt, self._kept[other][1])
            for (name, digest, draw), (task, attempt) in self._kept.items()
            if digest == before.digest and (other := (name, after.digest, draw)) in self._kept
        ]


def _by_draw(key: tuple[str, str, int]) -> tuple[int, str, str]:
    """An order that does not depend on which attempt was done first."""
    task, skill, draw = key
    return draw, skill, task
