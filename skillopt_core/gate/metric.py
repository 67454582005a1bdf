"""What is compared: a score as a number, and the difference of two attempts (gate.md, unit and coverage)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from skillopt_core.types import Score

_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Metric:
    """`hard`, `soft`, or `mixed = (1 - weight) hard + weight soft`.

    `costs` are weights of objectives that should fall (tokens, seconds, tool_errors), together at most 1. They speak
    only where the two attempts score alike and both were measured, so success is never bought by them on any task.
    """

    kind: Literal["hard", "soft", "mixed"] = "hard"
    weight: float = 0.5
    costs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1 or any(w < 0 for w in self.costs.values()) or sum(self.costs.values()) > 1:
            raise ValueError("metric: weights lie in [0, 1], and those of costs sum to at most 1")

    def of(self, score: Score) -> float:
        """The score as one number in [0, 1]."""
        if self.kind == "hard":
            return score.hard
        if self.kind == "soft":
            return score.soft
        return (1 - self.weight) * score.hard + self.weight * score.soft

    def difference(self, live: Score, candidate: Score) -> float:
        """d of one pair, in [-1, 1]: the score's difference, or where it is a tie the weighted relative saving."""
        d = self.of(candidate) - self.of(live)
        if abs(d) > _TINY or not self.costs:
            return max(-1.0, min(1.0, d))
        return sum(
            weight * _saving(live.objectives[name], candidate.objectives[name])
            for name, weight in self.costs.items()
            if name in live.objectives and name in candidate.objectives
        )


HARD: Final = Metric()


def _saving(before: float, after: float) -> float:
    """Relative saving in [-1, 1]."""
    larger = max(abs(before), abs(after))
    return (before - after) / larger if larger > 0 else 0.0
