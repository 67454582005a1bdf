"""The commands as typer knows them: all of them, or those of one module."""

from __future__ import annotations

from importlib import import_module

from skillopt_sleep.cli.common import app
from skillopt_sleep.cli.overview import COMMANDS

__all__ = ["app", "register"]


def register(name: str) -> None:
    """Import the module that holds a command; it registers what it holds."""
    import_module(f"skillopt_sleep.cli.{COMMANDS[name][0]}")
