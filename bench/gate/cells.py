"""What an experiment yields: cells of a share or a mean, each with its number of runs and its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from random import Random
from typing import Any

from skillopt_core.gate import binomial_interval


@dataclass(frozen=True)
class Cell:
    """One figure: what was done (`where`), under which rule, how often, what came out."""

    experiment: str
    rule: str
    where: Mapping[str, Any]
    what: str
    n: int
    value: float | None
    low: float | None = None
    high: float | None = None


def share(experiment: str, rule: str, what: str, hits: int, n: int, **where: Any) -> Cell:
    """A share of n runs, with the exact interval; None where there were none."""
    if not n:
        return Cell(experiment, rule, where, what, 0, None)
    return Cell(experiment, rule, where, what, n, hits / n, *binomial_interval(hits, n))


def mean(experiment: str, rule: str, what: str, values: Sequence[float], **where: Any) -> Cell:
    """A mean over runs, with the normal interval; None where there is nothing to average."""
    n = len(values)
    if not n:
        return Cell(experiment, rule, where, what, 0, None)
    m = sum(values) / n
    error = 1.96 * math.sqrt(sum((v - m) ** 2 for v in values) / max(n - 1, 1) / n)
    return Cell(experiment, rule, where, what, n, m, m - error, m + error)


def median(experiment: str, rule: str, what: str, values: Sequence[float], **where: Any) -> Cell:
    """A median over runs, with the interval by order statistics."""
    n, ordered = len(values), sorted(values)
    if not n:
        return Cell(experiment, rule, where, what, 0, None)
    half = 0.98 * math.sqrt(n)
    low, high = max(int(n / 2 - half), 0), min(math.ceil(n / 2 + half), n - 1)
    return Cell(experiment, rule, where, what, n, ordered[n // 2], ordered[low], ordered[high])


def stream(*names: Any) -> Random:
    """The random numbers of one run: they depend on its names alone."""
    return Random(" ".join(map(str, names)))


def spread(work: Callable[[Any], list[Cell]], asked: Iterable[Any], processes: int) -> Iterator[Cell]:
    """The cells of each piece of work, in order, over so many processes."""
    if processes == 1:
        for one in asked:
            yield from work(one)
        return
    with Pool(processes) as pool:
        for cells in pool.imap(work, list(asked)):
            yield from cells
