"""Exact tail probabilities, by the standard library alone (gate.md, looks; recorded)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from skillopt_core.seeded import Seeded

FLIPS: Final = 9999
"""Sign flips drawn where scores are real-valued."""

_FINEST: Final = 60  # the least common multiple of 1 to 5: any mixture of repeats up to five lies on this lattice
_MOST_BIT_OPERATIONS: Final = 4e9  # about a second; beyond it the flips are sampled
_CHEAP: Final = 2e8  # within it ties are broken; with more units they hardly matter
_TINY: Final = 1e-9


def binomial_tail(k: int, n: int, rate: float) -> float:
    """P(X >= k) for X binomial with n trials of probability `rate`: the exact upper tail."""
    if not 0 <= rate <= 1:
        raise ValueError(f"a rate lies in [0, 1], not {rate}")
    if k <= 0 or rate == 1:
        return 1.0 if k <= n else 0.0
    if k > n or rate == 0:
        return 0.0
    log, log_not = math.log(rate), math.log1p(-rate)
    total = math.fsum(math.exp(_log_choose(n, i) + i * log + (n - i) * log_not) for i in range(k, n + 1))
    return min(total, 1.0)


def binomial_interval(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The exact two-sided interval for a rate of which k of n were seen (Clopper and Pearson 1934); (0, 1) without any.

    By bisection on exact tails, to 1e-9.
    """
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else _where(lambda rate: binomial_tail(k, n, rate) >= tail)
    high = 1.0 if k == n else _where(lambda rate: 1 - binomial_tail(k + 1, n, rate) < tail)
    return low, high


def sign_flip_p(ds: Sequence[float], seed: int = 0) -> float:
    """One-sided p of the sum of `ds` when each sign is flipped with probability one half.

    Exact where all differences are multiples of some 1/R (R up to 60), by counting in integers; otherwise
    (1 + b)/(1 + B) over B = 9,999 seeded flips. No difference at all (d = 0) says nothing, and without any p is 1.

    Sums over a coarse lattice tie often, and counting every tie as "as extreme" wastes up to a third of alpha. So of
    equal sums the one with fewer wins beyond losses, that is with larger ones, counts as more extreme. The order is
    fixed before anything is seen, hence the test stays exact; with one repeat there is nothing to break, and it is
    McNemar's exact test. A larger difference on any unit never makes p larger.
    """
    moved = [d for d in ds if abs(d) > _TINY]
    if not moved:
        return 1.0
    steps = _lattice(moved)
    if steps is None:
        return _sampled(moved, seed)
    finer = _ties_broken(steps)
    if _bit_operations(finer) < _CHEAP:
        return _counted(tuple(sorted(finer)))
    return _counted(tuple(sorted(steps))) if _bit_operations(steps) < _MOST_BIT_OPERATIONS else _sampled(moved, seed)


def normal_quantile(tail: float) -> float:
    """z with an upper tail probability of `tail` under the standard normal, by bisection. For forecasts only."""
    low, high = -40.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(middle / math.sqrt(2)) / 2 > tail else (low, middle)
    return (low + high) / 2


def _where(reached: Callable[[float], bool]) -> float:
    """The least rate in [0, 1] from which `reached` holds."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return (low + high) / 2


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _lattice(ds: Sequence[float]) -> list[int] | None:
    """The differences as integers over the coarsest lattice that holds them all."""
    for finest in range(1, _FINEST + 1):
        steps = [round(d * finest) for d in ds]
        if all(abs(d * finest - step) < _TINY * finest for d, step in zip(ds, steps, strict=True)):
            return steps
    return None


def _ties_broken(steps: Sequence[int]) -> list[int]:
    """Weights whose sum orders by the sum of steps first, then by losses minus wins.

    Equal sums of steps differ by at most 2n in wins minus losses, unequal ones by at least 2 (flips change a sum by
    even amounts), so a factor of n + 1 keeps the two apart.
    """
    factor = len(steps) + 1
    return [step * factor - (1 if step > 0 else -1) for step in steps]


def _bit_operations(steps: Sequence[int]) -> float:
    return sum(map(abs, steps)) * float(len(steps)) ** 2


@lru_cache(maxsize=1 << 14)  # one look asks for the same differences several times
def _counted(steps: tuple[int, ...]) -> float:
    """The sum reaches what was seen iff the flips to plus sum to at least the sum of the positive steps.

    The numbers of subsets by sum are the coefficients of the product of (1 + x^|step|). They are held side by side in
    one integer, `width` bits each, so that a factor is a shift and an addition, and their sum is a remainder.
    """
    width = len(steps) + 1
    coefficients = 1
    for step in steps:
        coefficients += coefficients << (abs(step) * width)
    reached = coefficients >> (sum(step for step in steps if step > 0) * width)
    return reached % ((1 << width) - 1) / (1 << len(steps))


def _sampled(ds: Sequence[float], seed: int) -> float:
    stream, seen = Seeded(seed), sum(ds)
    as_large = 0
    for _ in range(FLIPS):
        total, bits = 0.0, 0
        for at, d in enumerate(ds):
            bits = stream.bits() if at % 64 == 0 else bits >> 1
            total += d if bits & 1 else -d
        as_large += total >= seen - _TINY
    return (1 + as_large) / (1 + FLIPS)
