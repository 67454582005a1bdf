"""A/A: how soon a gate that accepts a text against itself is halted, and how rarely a sound one is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from gate.cells import Cell, median, share, stream
from skillopt_core.gate import Calibration, boundaries
from skillopt_core.types import Score, Trajectory
from skillopt_sleep.calibrate import Repeats, nightly
from skillopt_sleep.calibrate.coins import PLACEBO, POPULATIONS, rates
from skillopt_sleep.calibrate.simulated import look

YEAR, TASKS = 365, 12
GATES = ("accepts 33 %", "accepts 5 %", "strict on pseudo-arms", "look at .05 on pseudo-arms", "proof on pseudo-arms")


@dataclass(frozen=True)
class Asked:
    """A year of nightly A/A comparisons under one gate; `part` of the seeds."""

    gate: str
    seeds: range


def gates(seeds: int) -> Iterator[Asked]:
    """Every gate; `proof` runs through the gate objects themselves, so fewer years of it."""
    for gate in GATES:
        yield Asked(gate, range(max(seeds // 50, 1) if gate.startswith("proof") else seeds))


def halted(asked: Asked) -> list[Cell]:
    """The share of years in which the gate was halted, and the median night."""
    nights = [_year(asked.gate, stream(asked.gate, seed)) for seed in asked.seeds]
    when = [night for night in nights if night is not None]
    return [
        share("A/A", asked.gate, "halted within a year", len(when), len(nights)),
        median("A/A", asked.gate, "night of the halt", when),
    ]


def _year(gate: str, random: Random) -> int | None:
    if gate.startswith(("strict", "proof")):
        mode, alpha = ("strict", 0.05) if gate.startswith("strict") else ("proof", 0.01)
        length = 60 if mode == "strict" else YEAR
        return nightly([_night(night, random) for night in range(length)], mode, alpha).state.halted_at
    state, plan = Calibration(0.05), boundaries(1, 0.05)
    for _ in range(YEAR):
        if gate.startswith("look"):
            population = random.choice(list(POPULATIONS))
            accepted = look(rates(population, PLACEBO, TASKS, random), plan, random).accepted
        else:
            accepted = random.random() < (0.33 if "33" in gate else 0.05)
        state = state.after(accepted=accepted)
        if state.halted_at is not None:
            break
    return state.halted_at


def _night(night: int, random: Random) -> Repeats:
    """Three repeats of the live text on twelve new tasks."""
    population = random.choice(list(POPULATIONS))
    runs = []
    for task, (rate, _) in enumerate(rates(population, PLACEBO, TASKS, random)):
        for draw in range(3):
            passed = float(random.random() < rate)
            runs.append(Trajectory(str(task), draw, "live", Score(passed, passed)))
    return Repeats(str(night), "live", tuple(runs))
