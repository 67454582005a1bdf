"""Looks: when a comparison may stop, and what each repeat must show (gate.md, looks, stop early)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.gate.exact import normal_quantile, sign_flip_p

# For alpha = .05, by the number of repeats: success after each, futile after each but the last. Chosen so that all
# looks together stay below .05 under a normal approximation, however much the repeats of a task agree
# (tests/core/test_looks.py). Futility is counted in: it ends a comparison for good.
_AT_REFERENCE: Final = {
    1: ((0.05,), ()),
    2: ((0.005, 0.0485), (0.45,)),
    3: ((0.0005, 0.012, 0.049), (0.65, 0.3)),
    4: ((0.0005, 0.005, 0.015, 0.0475), (0.65, 0.45, 0.25)),
    5: ((0.0005, 0.003, 0.010, 0.020, 0.046), (0.65, 0.5, 0.35, 0.2)),
}
_REFERENCE: Final = 0.05
_EARLY: Final = 1 / 3


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

    Without early stopping, and for more than five repeats, all of alpha is kept for the last repeat. Below .05 looks
    overlap less, so scaled boundaries would exceed alpha: the earlier ones get a third of their share there and the
    last one what they leave (a union bound). Futility does not shrink with alpha: a boundary that did would stop good
    candidates (+.15 at .05/8 on 40 tasks, simulated: .33 found instead of .51).
    """
    if repeats < 1:
        raise ValueError("a look needs at least one repeat")
    if not early or repeats not in _AT_REFERENCE:
        return Boundaries((0.0,) * (repeats - 1) + (alpha,), (1.0,) * (repeats - 1))
    success, futile = _AT_REFERENCE[repeats]
    scale = alpha / _REFERENCE
    if alpha >= _REFERENCE:
        return Boundaries(tuple(p * scale for p in success), futile)
    first = [p * scale * _EARLY for p in success[:-1]]
    return Boundaries((*first, alpha - sum(first)), futile)


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


def proven(ds: Sequence[float], done: int, plan: Boundaries, seed: int = 0) -> bool:
    """True if a comparison that ends after `done` repeats has proven the candidate."""
    return sign_flip_p(ds, seed) <= plan.success[done - 1] or certain(ds, done, plan, seed)


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
