"""Where time and tokens go: rollout (the target on train tasks), gate (on held-out ones), optimizer (the rest)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from skillopt_core.protocols import Asked, Draws, Environment, Gate
from skillopt_core.rollout import each, width_of
from skillopt_core.types import Missing, Skill, Task, Trajectory, Verdict

Stage = Literal["rollout", "optimizer", "gate"]
STAGES: tuple[Stage, ...] = ("rollout", "optimizer", "gate")

Reading = tuple[float, int]
"""Seconds and tokens so far."""


class Meter:
    """Charges what passes on `read` (seconds, tokens) to the stage that is going on."""

    def __init__(self, read: Callable[[], Reading]) -> None:
        self._read = read
        self._last = read()
        self._stage: Stage = "optimizer"
        self._lap: dict[Stage, Reading] = dict.fromkeys(STAGES, (0.0, 0))

    @contextmanager
    def during(self, stage: Stage) -> Iterator[None]:
        """A stretch of one stage. Attempts that a gate asks for are the gate's."""
        before = self._stage
        self._charge()
        self._stage = before if before == "gate" else stage
        try:
            yield
        finally:
            self._charge()
            self._stage = before

    def lap(self) -> Mapping[str, Mapping[str, float]]:
        """Seconds and tokens by stage since the last lap."""
        self._charge()
        lap, self._lap = self._lap, dict.fromkeys(STAGES, (0.0, 0))
        return {stage: {"seconds": round(seconds, 3), "tokens": tokens} for stage, (seconds, tokens) in lap.items()}

    def _charge(self) -> None:
        seconds, tokens = self._read()
        before = self._lap[self._stage]
        self._lap[self._stage] = (before[0] + seconds - self._last[0], before[1] + tokens - self._last[1])
        self._last = (seconds, tokens)


class MeteredEnvironment:
    """The environment, its attempts on the meter."""

    def __init__(self, inner: Environment, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        with self._meter.during("rollout"):
            return self._inner.attempt(tasks, skill, draws)

    @property
    def width(self) -> int:
        return width_of(self._inner)

    def attempt_each(self, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
        with self._meter.during("rollout"):
            return each(self._inner, asked)


class MeteredGate:
    """The gate, all of its attempts on the meter as its own."""

    def __init__(self, inner: Gate, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        with self._meter.during("gate"):
            return self._inner(environment, live, candidate, tasks, draws)
