"""Trials: evidence over nights, and half a year with three slots."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from gate.cells import Cell, mean, median, share, stream
from skillopt_core.gate import spent, trial_over
from skillopt_sleep.calibrate.coins import (
    BETTER,
    CATASTROPHE,
    HARMFUL,
    MUCH_BETTER,
    PLACEBO,
    POPULATIONS,
    Edit,
    sparse,
)
from skillopt_sleep.calibrate.simulated import Season, one_night, trial

EDITS = (PLACEBO, sparse(PLACEBO), CATASTROPHE, HARMFUL, sparse(HARMFUL), BETTER, sparse(BETTER), MUCH_BETTER)
THRESHOLDS = (20.0, 100.0)


@dataclass(frozen=True)
class Asked:
    """Trials of one kind of edit on tasks of one population."""

    edit: Edit
    population: str
    seeds: int


def trials(seeds: int) -> Iterator[Asked]:
    """Every edit on every population."""
    yield from (Asked(edit, population, seeds) for edit in EDITS for population in POPULATIONS)


def tried(asked: Asked) -> list[Cell]:
    """Share accepted and median night at each threshold; nights that a trial took."""
    where = {"kind": asked.edit.name, "edit": asked.edit.effect, "shape": asked.edit.shape,
             "population": asked.population}  # fmt: skip
    seen = [
        trial(Season(asked.population), asked.edit, THRESHOLDS, stream("trial", asked, seed))
        for seed in range(asked.seeds)
    ]
    cells = [mean("evidence", "E", "nights of a trial", [one.nights for one in seen], **where)]
    for n, threshold in enumerate(THRESHOLDS):
        when = [night for one in seen if (night := one.reached[n]) is not None]
        rule = f"E >= {threshold:.0f}"
        cells += [
            share("evidence", rule, "accepted", len(when), asked.seeds, **where),
            median("evidence", rule, "night", when, **where),
        ]
    return cells


@dataclass(frozen=True)
class HalfYear:
    """180 nights: a new candidate every `every` nights, 15 % of them good (+.15), the others without effect."""

    policy: str
    every: int
    seeds: int
    nights: int = 180
    slots: int = 3
    good: float = 0.15


def half_years(seeds: int) -> Iterator[HalfYear]:
    """With alpha .01 for each trial, and with a family-wise .05 that all share."""
    yield from (HalfYear(policy, every, seeds) for policy in ("trial", "spend") for every in (3, 4, 6))


@dataclass
class _Candidate:
    edit: Edit
    population: str
    t: int = 0
    began: int = 0
    ds: list[float] = field(default_factory=list)


@dataclass
class _Tally:
    good: int = 0
    adopted: int = 0
    false: int = 0
    waited: list[int] = field(default_factory=list)


def slept(asked: HalfYear) -> list[Cell]:
    """Of the good candidates whose trial began with forty nights to go: how many were adopted, after how many nights;
    false adoptions in the half year."""
    seen = [_half_year(asked, seed) for seed in range(asked.seeds)]
    good, adopted = sum(one.good for one in seen), sum(one.adopted for one in seen)
    where = {"candidate_every": asked.every, "policy": asked.policy}
    rule = f"three slots, {asked.policy}"
    return [
        share("half a year", rule, "good adopted", adopted, good, **where),
        mean("half a year", rule, "nights to adopt", [night for one in seen for night in one.waited], **where),
        mean("half a year", rule, "false adoptions", [one.false for one in seen], **where),
    ]


def _half_year(asked: HalfYear, seed: int) -> _Tally:
    random = stream(asked, seed)
    waiting: deque[_Candidate] = deque()
    running: list[_Candidate] = []
    tally, entered = _Tally(), 0
    for night in range(asked.nights):
        if night % asked.every == 0:
            names = list(POPULATIONS)
            edit = BETTER if random.random() < asked.good else random.choice((PLACEBO, sparse(PLACEBO)))
            waiting.append(_Candidate(edit, random.choice(names)))
        while waiting and len(running) < asked.slots:
            one, entered = waiting.popleft(), entered + 1
            one.t, one.began = entered, night
            tally.good += one.edit.effect > 0 and night <= asked.nights - 40
            running.append(one)
        for one in tuple(running):
            alpha = 0.01 if asked.policy == "trial" else spent(0.05, one.t)
            e, reverse = one_night(Season(one.population), one.edit, one.ds, random)
            slept = night - one.began + 1
            if e >= 1 / alpha and sum(one.ds) > 0:
                running.remove(one)
                _adopt(one, slept, tally, in_time=one.began <= asked.nights - 40)
            elif trial_over(e, reverse, slept, others_wait=bool(waiting)):
                running.remove(one)
    return tally


def _adopt(one: _Candidate, slept: int, tally: _Tally, *, in_time: bool) -> None:
    if one.edit.effect > 0:
        tally.adopted += in_time
        tally.waited.append(slept)
    else:
        tally.false += 1
