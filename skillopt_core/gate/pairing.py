"""Paired attempts of two texts on the same tasks with the same draws (gate.md, unit, pairing, coverage)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from skillopt_core.protocols import Draws, Environment
from skillopt_core.rollout import attempted
from skillopt_core.types import Comparison, Missing, Pair, Skill, Task, Trajectory

BLOCK: Final = 16
"""Tasks a block: both arms run on a block before the next begins, so that drift of the agent hits both alike."""


def compare(
    environment: Environment,
    live: Skill,
    candidate: Skill,
    tasks: Sequence[Task],
    draws: Draws,
    repeats: int,
    stop: Callable[[Comparison], bool] = lambda _: False,
    block: int = BLOCK,
) -> Comparison:
    """Up to `repeats` pairs a task, breadth first; `stop` is asked after each repeat but the last.

    Each repeat has one fresh draw number for both arms. The arms are interleaved by blocks of `block` tasks and their
    order rotates. A pair with a failed attempt is dropped. If the first block brings no pair at all, the rest is not
    paid for. Raises `Exhausted`.
    """
    pairing = _Pairing(environment, live, candidate)
    for repeat in range(repeats):
        (draw,) = draws.take(1)
        for number, at in enumerate(range(0, len(tasks), block)):
            pairing.run(tasks[at : at + block], draw, live_first=(repeat + number) % 2 == 0)
            if not pairing.pairs:
                return pairing.so_far(repeat + 1)
        if repeat + 1 < repeats and stop(pairing.so_far(repeat + 1)):
            return pairing.so_far(repeat + 1)
    return pairing.so_far(repeats)


class _Pairing:
    """The pairs so far, with what was lost."""

    def __init__(self, environment: Environment, live: Skill, candidate: Skill) -> None:
        self.environment = environment
        self.live = live
        self.candidate = candidate
        self.pairs: list[Pair] = []
        self.missing: Counter[str] = Counter()
        self.answered = [0, 0]
        self.wanted = 0

    def run(self, tasks: Sequence[Task], draw: int, *, live_first: bool) -> None:
        """Both arms on one block of tasks."""
        numbers = [draw] * len(tasks)
        arms = (self.live, self.candidate) if live_first else (self.candidate, self.live)
        first = attempted(self.environment, tasks, arms[0], numbers)
        second = attempted(self.environment, tasks, arms[1], numbers)
        self._pair(tasks, draw, *((first, second) if live_first else (second, first)))

    def _pair(
        self,
        tasks: Sequence[Task],
        draw: int,
        live: Sequence[Trajectory | Missing],
        candidate: Sequence[Trajectory | Missing],
    ) -> None:
        self.wanted += len(tasks)
        for task, before, after in zip(tasks, live, candidate, strict=True):
            for arm, answer in enumerate((before, after)):
                if isinstance(answer, Missing):
                    self.missing[answer.reason] += 1
                else:
                    self.answered[arm] += 1
            if isinstance(before, Trajectory) and isinstance(after, Trajectory):
                self.pairs.append(Pair(task, draw, before, after))

    def so_far(self, repeats: int) -> Comparison:
        """What was measured as a fact."""
        return Comparison(
            live=self.live,
            candidate=self.candidate,
            pairs=tuple(self.pairs),
            missing=dict(self.missing),
            wanted=self.wanted,
            answered=(self.answered[0], self.answered[1]),
            repeats=repeats,
        )
