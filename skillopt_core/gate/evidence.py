"""Evidence: betting on a candidate, task by task, in a way that may be stopped at any time (gate.md, evidence).

E is the mean over bets b of the product of (1 + b d). Under "on average not better, given the past" it is at most 1 in
expectation at every stopping time (Ville), so E >= 1/alpha happens with probability at most alpha, ever.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

BETS: Final = (0.2, 0.4, 0.6, 0.8, 0.95)
NOISY_BETS: Final = (0.1, 0.2, 0.3, 0.5, 0.8)
"""For one run of a noisy agent, whose single difference says less."""

HARM: Final = 20.0
"""Reverse evidence from which a candidate counts as worse."""

_CEILING: Final = 700.0  # of a logarithm: what a float can hold
_FAR: Final = 10_000


def e_value(ds: Iterable[float], bets: Sequence[float] = BETS) -> float:
    """Evidence that the mean of `ds` (each in [-1, 1], one a unit) is above zero.

    `e_value([1] * 9)` is about 140. The order does not matter. Evidence of harm is that of the negated differences.
    """
    return _mean_exp(_logs(Counter(ds), bets, 0.0))


def e_reverse(ds: Iterable[float], bets: Sequence[float] = BETS) -> float:
    """Evidence that the mean of `ds` is below zero."""
    return e_value([-d for d in ds], bets)


def interval(ds: Sequence[float], level: float = 0.95, bets: Sequence[float] = BETS) -> tuple[float, float] | None:
    """A two-sided interval for the mean of d over units, None without units.

    The means that neither E against them nor its reverse refutes at (1 - level)/2 (betting confidence sequence,
    Waudby-Smith and Ramdas 2024). It assumes nothing about the distribution, holds for any n and at any stopping
    time, so it may be looked at every night; it is wider than an interval that holds for one look only.
    """
    if not ds:
        return None
    counted, threshold = Counter(ds), 2 / (1 - level)
    mirrored = Counter({-d: n for d, n in counted.items()})
    return _lower(counted, threshold, bets), -_lower(mirrored, threshold, bets)


def needed(ds: Sequence[float], threshold: float, bets: Sequence[float] = BETS) -> int:
    """How many further clear wins in a row would bring E to `threshold`: "at least n more"."""
    return _first(_logs(Counter(ds), bets, 0.0), [math.log1p(bet) for bet in bets], threshold) or 0


def projected(ds: Sequence[float], threshold: float, bets: Sequence[float] = BETS) -> int | None:
    """How many further units at the mean growth seen so far would bring E to `threshold`; None if they never would."""
    if not ds:
        return needed(ds, threshold, bets)
    logs = _logs(Counter(ds), bets, 0.0)
    return _first(logs, [log / len(ds) for log in logs], threshold)


def e_bh(es: Sequence[float], alpha: float = 0.05) -> tuple[int, ...]:
    """Indices that the e-BH procedure keeps at false discovery rate `alpha`, whatever their dependence.

    The k largest, for the largest k with k-th largest E >= m / (alpha k) (Wang and Ramdas 2022).
    """
    order = sorted(range(len(es)), key=lambda i: -es[i])
    kept = max((k for k in range(1, len(es) + 1) if es[order[k - 1]] >= len(es) / (alpha * k)), default=0)
    return tuple(sorted(order[:kept]))


def spent(alpha: float, t: int) -> float:
    """The share of a family-wise `alpha` for the t-th candidate (t from 1): alpha 6 / (pi^2 t^2)."""
    return alpha * 6 / (math.pi**2 * t**2)


def trial_over(e: float, reverse: float, nights: int, *, others_wait: bool) -> str:
    """Why a trial gives up its slot after `nights` nights, empty while it goes on (gate.md, trials).

    While nobody waits for the slot it is given up late: dropping at E < .5 from night 10 would lose two good
    candidates of a hundred (+.15, simulated) to save a useless one three nights. It costs no validity either way.
    """
    least = ((20, 3.0), (10, 1.0), (5, 0.3)) if others_wait else ((25, 1.0), (10, 0.2))
    floor = next((bound for night, bound in least if nights >= night), 0.0)
    if reverse >= HARM:
        return f"evidence of harm {reverse:.3g}"
    if e < floor:
        return f"evidence {e:.3g} after {nights} nights, below {floor:g}"
    return "sixty nights without proof" if nights >= 60 else ""


def aa_evidence(accepted: int, looks: int, alpha: float, rates: Sequence[float] = (0.1, 0.2, 0.35, 0.5)) -> float:
    """Evidence that a gate accepts comparisons of a text with itself at a rate above `alpha` (gate.md, calibration).

    A mean of likelihood ratios against alternatives above alpha; the gate halts at 20.
    """
    above = [rate for rate in rates if rate > alpha]
    missed = looks - accepted
    return _mean_exp(
        [accepted * math.log(rate / alpha) + missed * math.log((1 - rate) / (1 - alpha)) for rate in above]
    )


def _logs(counted: Counter[float], bets: Sequence[float], mean: float) -> list[float]:
    """For each bet the log of its product against the null "the mean is at most `mean`", in (-1, 1)."""
    if any(not -1 <= d <= 1 for d in counted):
        raise ValueError("differences lie in [-1, 1]")
    return [sum(n * math.log1p(bet * (d - mean) / (1 + mean)) for d, n in counted.items()) for bet in bets]


def _mean_exp(logs: Sequence[float]) -> float:
    return math.fsum(math.exp(min(log, _CEILING)) for log in logs) / len(logs)


def _lower(counted: Counter[float], threshold: float, bets: Sequence[float]) -> float:
    """The largest mean that E still refutes. E falls as the mean that it bets against rises."""
    low, high = -1.0, 1.0
    for _ in range(26):  # to 3e-8
        middle = (low + high) / 2
        low, high = (middle, high) if _mean_exp(_logs(counted, bets, middle)) >= threshold else (low, middle)
    return low


def _first(logs: Sequence[float], growth: Sequence[float], threshold: float) -> int | None:
    """The least n at which the mean over bets of exp(log + n growth) reaches the threshold."""

    def reaches(n: int) -> bool:
        return _mean_exp([log + n * more for log, more in zip(logs, growth, strict=True)]) >= threshold

    if reaches(0):
        return 0
    if not reaches(_FAR):
        return None
    low, high = 0, _FAR
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
