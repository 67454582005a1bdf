"""Looks: when a comparison may stop, and what each repeat must show (gate.md, looks, stop early)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.gate.exact import normal_quantile, sign_flip_p

# For alpha = .05; found by simulation so that all looks together stay below it.
_UP_TO_3: Final = ((0.0015, 0.0181, 0.0437), (0.5, 0.35))
_UP_TO_5: Final = ((0.005, 0.012, 0.017, 0.022, 0.030), (0.5, 0.35, 0.25, 0.15))
_REFERENCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Boundaries:
    """What p must be after each of the planned repeats: at most `success[r]` to be believed, above `futile[r]` to stop.

    `success` has one entry a repeat, `futile` one less: the last repeat decides.
    """

    success: tuple[float, ...]
    futile: tuple[float, ...]

    @property
    def last(self) -> float:
        """The boundary of the last planned repeat, the widest of all."""
        return self.success[-1]


def boundaries(repeats: int, alpha: float, *, early: bool = True) -> Boundaries:
    """The boundaries for `repeats` repeats at level `alpha`.

    Without early stopping all of alpha is kept for the last repeat. Where fewer repeats are planned than a table has,
    the last one gets what the earlier ones leave of alpha (a union bound): one repeat has all of it.
    """
    if repeats < 1:
        raise ValueError("a look needs at least one repeat")
    if not early or repeats > len(_UP_TO_5[0]):
        return Boundaries((0.0,) * (repeats - 1) + (alpha,), (1.0,) * (repeats - 1))
    success, futile = _UP_TO_3 if repeats <= len(_UP_TO_3[0]) else _UP_TO_5
    scale = alpha / _REFERENCE
    first = [p * scale for p in success[: repeats - 1]]
    last = max(success[repeats - 1] * scale, alpha - sum(first))
    return Boundaries((*first, last), tuple(min(p * scale, 1.0) for p in futile[: repeats - 1]))


def settled(ds: Sequence[float], done: int, plan: Boundaries, seed: int = 0) -> bool:
    """True if the comparison may stop after `done` repeats with unit differences `ds`.

    It has reached a boundary, or no completion can change the verdict: even the best remaining repeats would not
    prove it, or even the worst would still not undo it.
    """
    repeats = len(plan.success)
    if done >= repeats:
        return True
    p = sign_flip_p(ds, seed)
    if p <= plan.success[done - 1] or p > plan.futile[done - 1]:
        return True
    return sign_flip_p(_completed(ds, done, repeats, 1), seed) > plan.last or certain(ds, done, plan, seed)


def certain(ds: Sequence[float], done: int, plan: Boundaries, seed: int = 0) -> bool:
    """True if the candidate would be proven at the last repeat whatever the remaining ones bring."""
    return sign_flip_p(_completed(ds, done, len(plan.success), -1), seed) <= plan.last


def least_units(alpha: float) -> int:
    """How many units must differ before p can reach alpha at all: 5 at .05, 7 at .01."""
    n = 1
    while 2.0**-n > alpha:
        n += 1
    return n


def more_units(ds: Sequence[float], alpha: float) -> int | None:
    """About how many more units like these a look at `alpha` would need; None if their mean is not above zero.

    The sum of differences has standard deviation sqrt(sum d^2) under the null, so z grows as the square root of n.
    """
    total, squares = sum(ds), sum(d * d for d in ds)
    if total <= 0:
        return None
    z = total / squares**0.5
    return max(int(len(ds) * ((normal_quantile(alpha) / z) ** 2 - 1)) + 1, 1)


def _completed(ds: Sequence[float], done: int, repeats: int, sign: int) -> list[float]:
    """The differences if every repeat that is left came out as `sign` on every unit."""
    return [(d * done + sign * (repeats - done)) / repeats for d in ds]
