"""Calibration of the gate: `gate aa`, `gate power`, `gate simulate` (gate.md). It reads what it is given and prints
nothing."""

from __future__ import annotations

from skillopt_sleep.calibrate.coins import POPULATIONS, Edit
from skillopt_sleep.calibrate.kept import level, so_far
from skillopt_sleep.calibrate.nightly import Calibrated, Itself, Repeats, nightly
from skillopt_sleep.calibrate.operating import Row, Rule, operating
from skillopt_sleep.calibrate.simulated import Season

__all__ = [
    "POPULATIONS",
    "Calibrated",
    "Edit",
    "Itself",
    "Repeats",
    "Row",
    "Rule",
    "Season",
    "level",
    "nightly",
    "operating",
    "so_far",
]
