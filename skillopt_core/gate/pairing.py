"""Paired attempts of two texts on the same tasks with the same draws (gate.md, unit, pairing, coverage)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.protocols import Draws, Environment, Exhausted, Wide
from skillopt_core.rollout import attempted, attempted_each, width_of
from skillopt_core.types import Comparison, Missing, Pair, Skill, Task, Trajectory

BLOCK: Final = 16
"""Tasks a block: both arms run on a block before the next begins, so that drift of the agent hits both alike."""
WAVES: Final = 4
"""Attempts side by side in one block, in multiples of how many there are at a time: the end of a block is waited for,
and where the budget ends two blocks may be lost."""
MANY: Final = 8
"""Attempts at a time above which a block is twice as long."""
FEW: Final = 8
"""Pairs of the very first block of attempts side by side, at least."""

Stop = Callable[[Comparison], bool]


def compare(
    environment: Environment,
    live: Skill,
    candidate: Skill,
    tasks: Sequence[Task],
    draws: Draws,
    repeats: int,
    stop: Stop | None = None,
    block: int = BLOCK,
    *,
    keep_cut: bool = False,
) -> Comparison:
    """Up to `repeats` pairs a task, breadth first; `stop` is asked after each repeat but the last.

    Each repeat has one fresh draw number for both arms. The arms are interleaved, by blocks of `block` tasks or, where
    attempts are made side by side, within each pair; their order rotates. A pair with a failed attempt is dropped. If
    the first block brings no pair at all, the rest is not paid for. Raises `Exhausted`; with `keep_cut` only where the
    budget ended it before the first whole pair, otherwise the pairs are those that were finished by then.
    """
    pairing, width = _Pairing(environment, live, candidate), width_of(environment)
    run, turn = (pairing.side_by_side, 1) if width > 1 else (pairing.arm_by_arm, block)
    at_once = 1 if stop or width == 1 else max(repeats, 1)
    for begun in range(0, repeats, at_once):
        numbers = [number for _ in range(at_once) for number in draws.take(1)]
        wanted = [
            Wanted(task, number, (begun + repeat + at // turn) % 2 == 0)
            for repeat, number in enumerate(numbers)
            for at, task in enumerate(tasks)
        ]
        for some in _blocks(wanted, block, width, first=not pairing.wanted):
            try:
                run(some)
            except Exhausted as out:
                pairing.leave_out(out.doubtful)
                if not keep_cut or not pairing.pairs:
                    raise
                drawn = len({pair.draw for pair in pairing.pairs})
                return replace(pairing.so_far(drawn), cut=str(out), planned=repeats)
            if not pairing.pairs:
                return pairing.so_far(begun + 1)
        if stop and begun + 1 < repeats and stop(pairing.so_far(begun + 1)):
            return pairing.so_far(begun + 1)
    return pairing.so_far(repeats)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One pair that is wanted, and which arm goes first."""

    task: Task
    draw: int
    live_first: bool


def _blocks(wanted: Sequence[Wanted], block: int, width: int, *, first: bool) -> Iterator[Sequence[Wanted]]:
    """Pairs in blocks. Where attempts are made side by side each block keeps all of them busy several times over; the
    very first one is small: it shows whether anything comes back."""
    at = 0
    if width > 1:
        block = (WAVES if width <= MANY else 2 * WAVES) * width // 2
        if first:
            at = max(FEW, -(-width // 2))
            yield wanted[:at]
    for start in range(at, len(wanted), block):
        yield wanted[start : start + block]


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

    def arm_by_arm(self, wanted: Sequence[Wanted]) -> None:
        """Both arms on one block of tasks; where the budget ends the second one, the pairs that are whole."""
        tasks, numbers, live_first = [one.task for one in wanted], [one.draw for one in wanted], wanted[0].live_first
        arms = (self.live, self.candidate) if live_first else (self.candidate, self.live)
        first = attempted(self.environment, tasks, arms[0], numbers)
        try:
            second = attempted(self.environment, tasks, arms[1], numbers)
        except Exhausted as out:
            whole, second = len(out.finished), out.finished
            some = wanted[:whole]
            self._pair(some, *((first[:whole], second) if live_first else (second, first[:whole])))
            raise
        self._pair(wanted, *((first, second) if live_first else (second, first)))

    def side_by_side(self, wanted: Sequence[Wanted]) -> None:
        """Both arms of a block of pairs at once, the arms of a pair one behind the other; all of them or none."""
        assert isinstance(self.environment, Wide)  # noqa: S101 - seen by the caller
        arms = {True: (self.live, self.candidate), False: (self.candidate, self.live)}
        asked = [(one.task, arm, one.draw) for one in wanted for arm in arms[one.live_first]]
        answers = attempted_each(self.environment, asked)
        pairs = list(zip(answers[::2], answers[1::2], strict=True))
        turned = [pair if one.live_first else pair[::-1] for one, pair in zip(wanted, pairs, strict=True)]
        self._pair(wanted, [pair[0] for pair in turned], [pair[1] for pair in turned])

    def _pair(
        self,
        wanted: Sequence[Wanted],
        live: Sequence[Trajectory | Missing],
        candidate: Sequence[Trajectory | Missing],
    ) -> None:
        self.wanted += len(wanted)
        for one, before, after in zip(wanted, live, candidate, strict=True):
            for arm, answer in enumerate((before, after)):
                if isinstance(answer, Missing):
                    self.missing[answer.reason] += 1
                else:
                    self.answered[arm] += 1
            if isinstance(before, Trajectory) and isinstance(after, Trajectory):
                self.pairs.append(Pair(one.task, one.draw, before, after))

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
