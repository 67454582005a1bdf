"""The A/A process over all that the store has: pseudo-arms of every night, and the real comparisons in between."""

from __future__ import annotations

from skillopt_core.gate import Calibration, Metric
from skillopt_sleep.calibrate.nightly import Calibrated, Itself, Repeats, nightly
from skillopt_sleep.config.model import Gate
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.repeats import against_itself, clearances, live_runs


def so_far(store: Store, gate: Gate) -> Calibrated:
    """What is known of the configured gate by now, since a person last let it go on; nothing of one that is off."""
    if gate.mode == "off":
        return Calibrated(Calibration(gate.alpha))
    alpha = level(gate)
    since = max((one.at_ms for one in clearances(store, gate.mode, alpha)), default=-1)
    found: list[tuple[int, Repeats | Itself]] = [
        (one.at_ms, Repeats(one.night, one.skill, one.runs)) for one in live_runs(store)
    ]
    found += [(one.at_ms, Itself(one.night, one.accepted)) for one in against_itself(store) if one.accepted is not None]
    in_time = [one for at_ms, one in sorted(found, key=lambda pair: pair[0]) if at_ms > since]
    return nightly(in_time, gate.mode, alpha, Metric(gate.metric, gate.mixed_weight))


def level(gate: Gate) -> float:
    """The alpha at which the gate decides at night."""
    return gate.trial_alpha if gate.mode == "proof" else gate.alpha
