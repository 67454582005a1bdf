"""Paired attempts of two texts on the same tasks with the same draws (gate.md, unit, pairing, coverage)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from skillopt_core.protocols import Draws, Environment, Exhausted
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
    *,
    keep_cut: bool = False,
) -> Comparison:
    """Up to `repeats` pairs a task, breadth first; `stop` is asked after each repeat but the last.

    Each repeat has one fresh draw number for both arms. The arms are interleaved by blocks of `block` tasks and their
    order rotates. A pair with a failed attempt is dropped. If the first block brings no pair at all, the rest is not
    paid for. Raises `Exhausted`; with `keep_cut` only where the budget ended it before the first whole pair, otherwise
    the pairs are those that were finished by then.
    """
    pairing = _Pairing(environment, live, candidate)
    for repeat in range(repeats):
        (draw,) = draws.take(1)
        for number, at in enumerate(range(0, len(tasks), block)):
            try:
                pairing.run(tasks[at : at + block], draw, live_first=(repeat + number) % 2 == 0)
            except Exhausted as out:
                pairing.leave_out(out.doubtful)
                if not keep_cut or not pairing.pairs:
                    raise
                begun = repeat + (pairing.pairs[-1].draw == draw)
                return replace(pairing.so_far(begun), cut=str(out), planned=repeats)
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
        """Both arms on one block of tasks; where the budget ends the second one, the pairs that are whole."""
        numbers = [draw] * len(tasks)
        arms = (self.live, self.candidate) if live_first else (self.candidate, self.live)
        first = attempted(self.environment, tasks, arms[0], numbers)
        try:
            second = attempted(self.environment, tasks, arms[1], numbers)
        except Exhausted as out:
            whole, second = len(out.finished), out.finished
            self._pair(tasks[:whole], draw, *((first[:whole], second) if live_first else (second, first[:whole])))
            raise
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

    def leave_out(self, doubtful: Collection[tuple[str, str, int]]) -> None:
        """Without the pairs of which an attempt does not count."""

        def counts(pair: Pair) -> bool:
            return all((arm.task, arm.skill, arm.draw) not in doubtful for arm in (pair.live, pair.candidate))

        left = [pair for pair in self.pairs if counts(pair)]
        out = len(self.pairs) - len(left)
        self.pairs, self.wanted = left, self.wanted - out
        self.answered = [answered - out for answered in self.answered]

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
