"""What every scheduler of the platform is asked: render, install, remove, show. Nothing is installed unasked."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["systemd", "cron", "launchd"]

KEPT = ("PATH", "LANG", "LC_ALL", "SKILLOPT_HOME", "SKILLOPT_CONFIG", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME")
"""What of the environment goes into the schedule: where things are, never a key or token."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to run and when: an absolute command, its environment, and a wall time of the machine's zone."""

    command: tuple[str, ...]
    at: time
    environment: Mapping[str, str] = field(default_factory=dict)
    log: str = ""


@dataclass(frozen=True, slots=True)
class Installed:
    """The `schedule` document of cli.md. `changed`: whether this call changed the machine."""

    kind: Kind
    installed: bool
    at: str | None
    next: str | None
    command: str
    text: str
    changed: bool = False

    def as_json(self) -> dict[str, object]:
        return {
            "format": 1,
            "kind": self.kind,
            "installed": self.installed,
            "at": self.at,
            "next": self.next,
            "command": self.command,
            "text": self.text,
            "changed": self.changed,
        }


class Scheduler(Protocol):
    kind: Kind

    def render(self, plan: Plan) -> str:
        """The exact text that `install` would write."""
        ...

    def install(self, plan: Plan) -> Installed: ...

    def remove(self) -> Installed: ...

    def show(self) -> Installed: ...


def this_command(*arguments: str) -> tuple[str, ...]:
    """The absolute command line of this very installation: what works in a terminal works at night."""
    beside = Path(sys.executable).with_name("skillopt-sleep")
    if beside.is_file():
        return (str(beside), *arguments)
    if found := shutil.which("skillopt-sleep"):
        return (str(Path(found).absolute()), *arguments)
    return (sys.executable, "-m", "skillopt_sleep.cli", *arguments)


def kept_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment that a scheduled night needs to find what this terminal finds."""
    kept = {key: environ[key] for key in KEPT if environ.get(key)}
    return {**kept, "SKILLOPT_TRIGGER": "scheduled"}
