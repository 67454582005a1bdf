"""Where health signals are raised, as a person configured it."""

from __future__ import annotations

from skillopt_core.health import Thresholds
from skillopt_sleep.config.model import Health


def thresholds(health: Health) -> Thresholds:
    """The [health] of a configuration, as the core takes it."""
    return Thresholds(
        acceptance=health.acceptance,
        flat=health.flat,
        rising=health.rising,
        tokens=health.tokens,
        baseline=health.baseline,
        gate_tasks=health.gate_tasks,
        patterns=health.patterns,
        shift=health.shift,
    )
