"""A systemd user timer: survives sleep (Persistent=), one night a date, hardened where that breaks no sandbox."""

from __future__ import annotations

import os
import subprocess
from datetime import time
from pathlib import Path

from skillopt_sleep.errors import NotFound, SleepError
from skillopt_sleep.models.keys import without_keys
from skillopt_sleep.service.install.base import Installed, Kind, Plan

NAME = "skillopt-sleep"

SERVICE = """\
# Rendered by skillopt-sleep; `skillopt-sleep schedule install --systemd` writes it again.
[Unit]
Description=skillopt-sleep: one night of practice
# A night reads local files; it needs the network only where a model was named in sleep.toml.
After=network-online.target

[Service]
Type=oneshot
ExecStart={command}
{environment}
# 3: done, but something needs a person. 4: another night runs. 5: the budget stopped it. None of them is a failure.
SuccessExitStatus=3 4 5
# SIGTERM leaves a resumable night; this is how long it may take to write that down.
TimeoutStopSec=60
KillMode=mixed
# The state of a night belongs to one person.
UMask=0077
# Nothing that a night starts may gain rights; its own sandboxes need no more than user namespaces.
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
# Work that waits for the machine, not the other way round.
Nice=10
IOSchedulingClass=idle
"""

TIMER = """\
# Rendered by skillopt-sleep; `skillopt-sleep schedule install --systemd` writes it again.
[Unit]
Description=skillopt-sleep: every night at {at}

[Timer]
OnCalendar=*-*-* {at}:00
# A machine that slept at that hour catches up once when it wakes.
Persistent=true
AccuracySec=1min

[Install]
WantedBy=timers.target
"""


def quoted(word: str) -> str:
    """One word of a unit file: quoted, with systemd's specifiers and variables taken literally."""
    if any(ord(char) < 32 or ord(char) == 127 for char in word):
        raise SleepError(f"{word!r} holds control characters", remedy="Install from a path without them")
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


class Systemd:
    """The user manager of systemd. `folder` is where user units live; `systemctl` is called with `--user`."""

    kind: Kind = "systemd"

    def __init__(self, folder: Path, systemctl: str = "systemctl") -> None:
        self._folder = folder
        self._systemctl = systemctl

    @property
    def service(self) -> Path:
        return self._folder / f"{NAME}.service"

    @property
    def timer(self) -> Path:
        return self._folder / f"{NAME}.timer"

    def render_service(self, plan: Plan) -> str:
        # Environment= knows specifiers but no variables: a dollar sign stands for itself.
        pairs = [f"{key}={value}" for key, value in sorted(plan.environment.items())]
        environment = "\n".join(f"Environment={quoted(pair).replace('$$', '$')}" for pair in pairs)
        return SERVICE.format(command=" ".join(map(quoted, plan.command)), environment=environment)

    def render_timer(self, plan: Plan) -> str:
        return TIMER.format(at=plan.at.strftime("%H:%M"))

    def render(self, plan: Plan) -> str:
        return f"# {self.service.name}\n{self.render_service(plan)}\n# {self.timer.name}\n{self.render_timer(plan)}"

    def install(self, plan: Plan) -> Installed:
        wanted = {self.service: self.render_service(plan), self.timer: self.render_timer(plan)}
        changed = any(_text(path) != text for path, text in wanted.items())
        self._folder.mkdir(parents=True, exist_ok=True)
        for path, text in wanted.items():
            path.write_text(text, encoding="utf-8")
        self._call("daemon-reload")
        self._call("enable", "--now", self.timer.name)
        return self._state(plan, changed=changed)

    def remove(self) -> Installed:
        before = self.show()
        if before.installed:
            self._call("disable", "--now", self.timer.name)
            self.service.unlink(missing_ok=True)
            self.timer.unlink(missing_ok=True)
            self._call("daemon-reload")
        return Installed("systemd", False, None, None, before.command, before.text, changed=before.installed)

    def show(self) -> Installed:
        text = "\n".join(filter(None, [_text(self.service), _text(self.timer)]))
        at = _after(text, "OnCalendar=*-*-* ")
        return Installed("systemd", bool(text), at[:5] if at else None, None, _after(text, "ExecStart="), text)

    def _state(self, plan: Plan, *, changed: bool) -> Installed:
        command = " ".join(map(quoted, plan.command))
        return Installed("systemd", True, _hhmm(plan.at), None, command, self.render(plan), changed)

    def _call(self, *arguments: str) -> None:
        try:
            done = subprocess.run(
                [self._systemctl, "--user", *arguments],
                capture_output=True,
                text=True,
                check=False,
                env=without_keys(os.environ),
            )
        except FileNotFoundError as error:
            raise NotFound("systemctl is not there", remedy="Use `schedule install --cron`, or `daemon`") from error
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise SleepError(
                f"systemctl --user {' '.join(arguments)}: {said}",
                remedy="Without a user manager use `schedule install --cron`, or `daemon`",
            )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _after(text: str, key: str) -> str:
    return next((line.removeprefix(key) for line in text.splitlines() if line.startswith(key)), "")


def _hhmm(at: time) -> str:
    return at.strftime("%H:%M")
