"""Every command, in the order in which `--help` lists them."""

from __future__ import annotations

from typing import Final

from skillopt_sleep.cli import begin, looking, morning, nights, service  # noqa: F401  (importing registers them)
from skillopt_sleep.cli.common import app

ORDER: Final = (
    "init", "run", "review", "adopt", "reject", "rollback", "harvest", "sessions", "tasks", "status", "history", "show",
    "daemon", "doctor",
)  # fmt: skip

app.registered_commands.sort(key=lambda one: ORDER.index(one.name or getattr(one.callback, "__name__", "")))

__all__ = ["app"]
