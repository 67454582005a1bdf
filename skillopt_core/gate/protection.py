"""Protected tasks: nothing that worked may break (gate.md, trials: protected tasks)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.gate.pairing import BLOCK, compare
from skillopt_core.protocols import Draws, Environment
from skillopt_core.types import Comparison, Pair, Skill, Task

_AGAIN: Final = ((10, 7), (4, 5), (0, 3))
"""More than so many protected tasks: so many further pairs on each that fell behind. Of many, some always do by luck:
with five at most, one harmless candidate in seven over twenty tasks was vetoed (simulated)."""


WORKS: Final = 5
"""So many live runs in a row that passed make a task one that works."""


def works(passes: Sequence[bool]) -> bool:
    """True if a task is to be protected: of its live runs, oldest first, the last five all passed."""
    return len(passes) >= WORKS and all(passes[-WORKS:])


@dataclass(frozen=True, slots=True)
class Protection:
    """What the check found: ids of the tasks that broke, of those that could not be measured, and the pairs it took."""

    broken: tuple[str, ...] = ()
    unmeasured: tuple[str, ...] = ()
    pairs: int = 0


def protect(
    environment: Environment,
    live: Skill,
    candidate: Skill,
    tasks: Sequence[Task],
    draws: Draws,
    repeats: int,
    block: int = BLOCK,
) -> Protection:
    """Fresh pairs on each protected task.

    Where the candidate fails more often than the live text, three more pairs (five if more than four tasks are
    protected, seven if more than ten); a task is broken if the excess failures reach half of all its pairs. A
    deterministic agent runs one pair, and any failure that the live text does not have breaks the task.
    """
    if not tasks:
        return Protection()
    repeats = 1 if environment.deterministic else repeats
    pairs = _by_task(compare(environment, live, candidate, tasks, draws, repeats, block=block))
    suspects = [task for task in tasks if excess(pairs.get(task.id, ())) > 0]
    if suspects and not environment.deterministic:
        again = next(further for many, further in _AGAIN if len(tasks) > many)
        more = compare(environment, live, candidate, suspects, draws, again, block=block)
        for name, further in _by_task(more).items():
            pairs.setdefault(name, []).extend(further)
    broken = tuple(task.id for task in suspects if 2 * excess(pairs[task.id]) >= len(pairs[task.id]))
    unmeasured = tuple(task.id for task in tasks if task.id not in pairs)
    return Protection(broken, unmeasured, sum(map(len, pairs.values())))


def excess(pairs: Sequence[Pair]) -> int:
    """Failures of the candidate beyond those of the live text."""
    return sum((pair.candidate.score.hard < 1) - (pair.live.score.hard < 1) for pair in pairs)


def _by_task(comparison: Comparison) -> dict[str, list[Pair]]:
    grouped: dict[str, list[Pair]] = {}
    for pair in comparison.pairs:
        grouped.setdefault(pair.task.id, []).append(pair)
    return grouped
