"""The configuration: `load` it, `override` it by options, show an `example` of it."""

from __future__ import annotations

from skillopt_sleep.config.example import example
from skillopt_sleep.config.load import Loaded, load, override, project_file
from skillopt_sleep.config.model import Config, keys, lookback_ms

__all__ = ["Config", "Loaded", "example", "keys", "load", "lookback_ms", "override", "project_file"]
