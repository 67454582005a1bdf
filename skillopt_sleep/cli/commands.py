"""Every command, registered in the order in which `--help` lists them."""

from __future__ import annotations

from skillopt_sleep.cli import begin, looking, morning, nights, service  # noqa: F401
from skillopt_sleep.cli.common import app

__all__ = ["app"]
