"""What `evolve` works with where the caller brings nothing of its own: admits all, tells nobody, counts draws."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_core.types import Evolution, Patch, Skill, Step


class AdmitAll:
    """A screen without rules."""

    def admit(self, patch: Patch, skill: Skill) -> Patch:
        """The patch as it came."""
        return patch


class Silent:
    """An observer that is told and keeps nothing."""

    def step(self, step: Step) -> None:
        """A step went by."""

    def done(self, evolution: Evolution) -> None:
        """The run is over."""


class CountedDraws:
    """Draw numbers from a counter: `start`, `start + 1`, … Each number is given out once."""

    def __init__(self, start: int = 0) -> None:
        self._next = start

    def take(self, n: int) -> Sequence[int]:
        """The next `n` numbers."""
        first, self._next = self._next, self._next + n
        return range(first, self._next)
