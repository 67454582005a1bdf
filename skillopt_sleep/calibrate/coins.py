"""SIMULATED tasks and edits: a task is a pass rate, an edit changes it, an attempt is a coin.

Four populations of tasks, each with a mean pass rate of .55, and edits whose true mean effect over each of them is what
their name says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

Shape = Literal["uniform", "sparse"]

MEAN: Final = 0.55
_UP, _DOWN = 1 - MEAN, MEAN
_BROKEN: Final = 0.1

POPULATIONS: Final[Mapping[str, Callable[[Random], float]]] = {
    "even": lambda _: MEAN,
    "bell": lambda random: MEAN + 0.2 * (random.random() + random.random() - 1),
    "spread": lambda random: 0.1 + 0.9 * random.random(),
    "extreme": lambda random: 0.95 if random.random() < 5 / 9 else 0.05,
}
"""Pass rates: all alike; triangular from .35 to .75; uniform from .1 to 1; nearly always or nearly never."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What a candidate does to the pass rate of a task, on average over a population.

    A uniform effect is spread over all tasks in proportion to what each has left to gain (or to lose); a sparse one
    falls wholly on some tasks: for +.15 a third of them pass always, for -.10 a fifth of them fail always. A sparse
    edit without effect moves three tasks in ten a lot, up or down alike. "catastrophe" breaks a tenth of the tasks and
    lets the rest gain what makes the mean zero.
    """

    name: str
    effect: float
    shape: Shape = "uniform"

    def rate(self, live: float, random: Random) -> float:
        """The candidate's pass rate on a task that the live text passes at rate `live`."""
        if self.name == "catastrophe":
            gain = MEAN * _BROKEN / (1 - _BROKEN) * (1 - live) / _UP
            return 0.0 if random.random() < _BROKEN else live + gain
        if self.shape == "uniform":
            room = (1 - live) / _UP if self.effect > 0 else live / _DOWN
            return min(max(live + self.effect * room, 0.0), 1.0)
        if not self.effect:
            moves, up = random.random() < 0.3, random.random() < 0.5
            return live + (min(live, 1 - live) if up else -min(live, 1 - live)) * moves
        touched = random.random() < (self.effect / _UP if self.effect > 0 else -self.effect / _DOWN)
        return float(self.effect > 0) if touched else live


PLACEBO: Final = Edit("placebo", 0.0)
HARMFUL: Final = Edit("harmful", -0.10)
BETTER: Final = Edit("better", 0.15)
MUCH_BETTER: Final = Edit("better", 0.25)
CATASTROPHE: Final = Edit("catastrophe", 0.0, "sparse")


def sparse(edit: Edit) -> Edit:
    """The same mean effect, on few tasks."""
    return Edit(edit.name, edit.effect, "sparse")


def rates(population: str, edit: Edit, n: int, random: Random) -> list[tuple[float, float]]:
    """Pass rates (live, candidate) of `n` new tasks."""
    draw = POPULATIONS[population]
    live = [draw(random) for _ in range(n)]
    return [(rate, edit.rate(rate, random)) for rate in live]


def toss(tasks: list[tuple[float, float]], wins: list[int], random: Random) -> list[int]:
    """One more pair on each task: passes of the candidate beyond those of the live text, added to `wins`."""
    coin = random.random
    return [won + (coin() < candidate) - (coin() < live) for won, (live, candidate) in zip(wins, tasks, strict=True)]
