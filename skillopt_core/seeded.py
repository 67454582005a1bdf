"""A small seeded generator, so that every random choice of the core is an argument.

SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). Not for secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

_MASK: Final = (1 << 64) - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15


class Seeded:
    """Numbers that depend on `seed` alone. One object is one stream; `split(name)` starts an independent one."""

    __slots__ = ("_seed", "_state")

    def __init__(self, seed: int) -> None:
        self._seed = seed & _MASK
        self._state = self._seed

    def split(self, name: int) -> Seeded:
        """A stream of its own for `name` (an epoch, a night), whatever was drawn here so far."""
        return Seeded(Seeded(self._seed ^ (name * _GOLDEN & _MASK)).bits())

    def bits(self) -> int:
        """64 uniform bits."""
        self._state = (self._state + _GOLDEN) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def uniform(self) -> float:
        """A float in [0, 1) with 53 bits."""
        return (self.bits() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """A uniform integer in [0, n), without modulo bias."""
        if n < 1:
            raise ValueError(f"below({n}): n must be at least 1")
        limit = (1 << 64) - (1 << 64) % n
        while (drawn := self.bits()) >= limit:
            pass
        return drawn % n

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a uniformly random order (Fisher and Yates)."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """At most `n` of the items, without repetition, in their own order."""
        chosen = sorted(self.shuffled(range(len(items)))[:n])
        return [items[i] for i in chosen]
