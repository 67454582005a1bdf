"""SIMULATED comparisons: the gate's own decisions (skillopt_core.gate) over coins, without the objects of a real run.

`tests/core/test_gate_simulations.py` shows that they decide and spend as the gates do on the same coins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from skillopt_core.gate import (
    BETS,
    HARM,
    NOISY_BETS,
    Boundaries,
    e_reverse,
    e_value,
    least_units,
    proven,
    settled,
    trial_over,
)
from skillopt_sleep.calibrate.coins import Edit, rates, toss


@dataclass(frozen=True, slots=True)
class Look:
    """One simulated comparison on a fixed set: whether it accepted, and the attempts that it took."""

    accepted: bool
    rollouts: int


def look(tasks: list[tuple[float, float]], plan: Boundaries, random: Random, *, early: bool = True) -> Look:
    """As `LookGate` does: stop where it is settled, accept what is proven; a set that is too small costs nothing."""
    if len(tasks) < least_units(plan.last):
        return Look(accepted=False, rollouts=0)
    wins, repeats = [0] * len(tasks), len(plan.success)
    for done in range(1, repeats + 1):
        wins = toss(tasks, wins, random)
        ds = [won / done for won in wins]
        if early and settled(ds, done, plan):
            break
    return Look(proven(ds, done, plan) and sum(wins) >= 0, 2 * len(tasks) * done)


def strict(tasks: list[tuple[float, float]], repeats: int, random: Random) -> Look:
    """As `StrictGate` does: any higher mean is enough."""
    wins = [0] * len(tasks)
    for _ in range(repeats):
        wins = toss(tasks, wins, random)
    return Look(sum(wins) > 0, 2 * len(tasks) * repeats)


@dataclass(frozen=True, slots=True)
class Trial:
    """One simulated trial: the first night on which E reached each threshold (None: it did not), the nights that it
    ran, and the attempts that it took until the highest threshold or its end."""

    reached: tuple[int | None, ...]
    nights: int
    rollouts: int


@dataclass(frozen=True, slots=True)
class Season:
    """What the nights bring: tasks of a population, repeats, and how long a trial may last."""

    population: str
    per_night: int = 4
    repeats: int = 3
    nights: int = 60


def trial(season: Season, edit: Edit, thresholds: Sequence[float], random: Random) -> Trial:
    """As `EvidenceGate` does night after night, ended by `trial_over`; several thresholds are read off one trial."""
    ds: list[float] = []
    reached: list[int | None] = [None] * len(thresholds)
    night = 0
    while night < season.nights:
        night += 1
        e, reverse = one_night(season, edit, ds, random)
        if reverse < HARM and sum(ds) > -1e-9:
            reached = [when or (night if e >= t else None) for when, t in zip(reached, thresholds, strict=True)]
        if all(reached) or trial_over(e, reverse, night, others_wait=False):
            break
    return Trial(tuple(reached), night, 2 * season.per_night * season.repeats * night)


def one_night(season: Season, edit: Edit, ds: list[float], random: Random) -> tuple[float, float]:
    """One night of a trial: new units are added to `ds`. E and reversed E after it."""
    tasks = rates(season.population, edit, season.per_night, random)
    wins = [0] * len(tasks)
    for _ in range(season.repeats):
        wins = toss(tasks, wins, random)
    ds += [won / season.repeats for won in wins]
    bets = BETS if season.repeats > 1 else NOISY_BETS
    return e_value(ds, bets), e_reverse(ds, bets)
