"""A launchd agent for macOS. Rendered and tested as a property list; loading it needs a Mac and was not seen here."""

from __future__ import annotations

import os
import plistlib
import shlex
import subprocess
from pathlib import Path

from skillopt_sleep.errors import NotFound, SleepError
from skillopt_sleep.models.keys import without_keys
from skillopt_sleep.service.install.base import Installed, Kind, Plan

LABEL = "io.github.skillopt-sleep"


class Launchd:
    """The person's own LaunchAgents. `folder` is `~/Library/LaunchAgents`."""

    kind: Kind = "launchd"

    def __init__(self, folder: Path, launchctl: str = "launchctl") -> None:
        self._path = folder / f"{LABEL}.plist"
        self._launchctl = launchctl

    def render(self, plan: Plan) -> str:
        content: dict[str, object] = {
            "Label": LABEL,
            "ProgramArguments": list(plan.command),
            "EnvironmentVariables": dict(sorted(plan.environment.items())),
            # launchd runs a job that was missed in sleep when the machine wakes.
            "StartCalendarInterval": {"Hour": plan.at.hour, "Minute": plan.at.minute},
            "ProcessType": "Background",
            "Umask": 0o077,
        }
        if plan.log:
            content |= {"StandardErrorPath": plan.log, "StandardOutPath": plan.log}
        return plistlib.dumps(content, sort_keys=False).decode()

    def install(self, plan: Plan) -> Installed:
        text = self.render(plan)
        changed = not self._path.is_file() or self._path.read_text(encoding="utf-8") != text
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(text, encoding="utf-8")
        self._call("load", "-w", str(self._path))
        return Installed("launchd", True, plan.at.strftime("%H:%M"), None, shlex.join(plan.command), text, changed)

    def remove(self) -> Installed:
        before = self.show()
        if before.installed:
            self._call("unload", "-w", str(self._path))
            self._path.unlink()
        return Installed("launchd", False, None, None, before.command, before.text, before.installed)

    def show(self) -> Installed:
        if not self._path.is_file():
            return Installed("launchd", False, None, None, "", "")
        raw = self._path.read_bytes()
        content = plistlib.loads(raw)
        when = content.get("StartCalendarInterval", {})
        at = f"{when.get('Hour', 0):02}:{when.get('Minute', 0):02}"
        return Installed("launchd", True, at, None, shlex.join(content.get("ProgramArguments", [])), raw.decode())

    def _call(self, *arguments: str) -> None:
        try:
            done = subprocess.run(
                [self._launchctl, *arguments], capture_output=True, text=True, check=False, env=without_keys(os.environ)
            )
        except FileNotFoundError as error:
            raise NotFound("launchctl is not there", remedy="On Linux use --systemd or --cron") from error
        if done.returncode:
            raise SleepError(f"launchctl {arguments[0]}: {done.stderr.strip() or 'failed'}")
