"""What a task set could show, said before anything is run (gate.md, said before running; calibration)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skillopt_core.gate.exact import normal_quantile
from skillopt_core.gate.looks import least_units

_SPREAD = 0.2
"""Mean of p(1 - p) over tasks of unequal difficulty with a mean pass rate of about one half."""
_COARSE = 3
"""Units that coarse sums and early stopping cost, beyond the normal approximation: with it 9, 17, 40 and 86 units find
+.40, +.25, +.15 and +.10 in .78, .81, .81 and .79 of runs (simulated, R 3, pooled over four populations)."""


@dataclass(frozen=True, slots=True)
class Power:
    """`least_p` is the p if every unit went better; `discordant_needed` units must differ before p can reach alpha;
    `detectable_effect` is found with the asked power, None where nothing could be; `attempts` is the price of a full
    look."""

    units: int
    least_p: float
    discordant_needed: int
    detectable_effect: float | None
    attempts: int


def power(units: int, repeats: int = 3, alpha: float = 0.05, wanted: float = 0.8) -> Power:
    """The least uniform effect that a look over `units` units of binary scores finds with power `wanted`.

    The mean of d has variance 2 p(1 - p) / (R n), taken as normal with the correction above.
    """
    needed = least_units(alpha)
    z = normal_quantile(alpha) + normal_quantile(1 - wanted)
    effect = z * math.sqrt(2 * _SPREAD / (repeats * max(units - _COARSE, 1))) if units >= needed else None
    return Power(
        units=units,
        least_p=2.0**-units,
        discordant_needed=needed,
        detectable_effect=None if effect is None or effect > 1 else effect,
        attempts=2 * repeats * units,
    )


def units_for(effect: float, repeats: int = 3, alpha: float = 0.05, wanted: float = 0.8) -> int:
    """How many units a look needs to find a uniform effect with power `wanted`; never fewer than could prove it."""
    if effect <= 0:
        raise ValueError("an effect to be found is above zero")
    z = normal_quantile(alpha) + normal_quantile(1 - wanted)
    return max(math.ceil(z * z * 2 * _SPREAD / (repeats * effect * effect)) + _COARSE, least_units(alpha))
