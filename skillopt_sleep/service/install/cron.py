"""One marked line in the person's crontab. Every other byte of it stays what it was."""

from __future__ import annotations

import os
import shlex
import subprocess

from skillopt_sleep.errors import NotFound, SleepError
from skillopt_sleep.models.keys import without_keys
from skillopt_sleep.service.install.base import Installed, Kind, Plan

MARK = "# skillopt-sleep"


class Cron:
    """The person's own crontab, read and written through the `crontab` command alone."""

    kind: Kind = "cron"

    def __init__(self, crontab: str = "crontab") -> None:
        self._crontab = crontab

    def render(self, plan: Plan) -> str:
        """The line: cron takes `%` for a newline and its own environment is nearly empty, hence both are spelt out."""
        words = [f"{key}={shlex.quote(value)}" for key, value in sorted(plan.environment.items())]
        words += [shlex.quote(word) for word in plan.command]
        log = f" >>{shlex.quote(plan.log)} 2>&1" if plan.log else ""
        line = " ".join(words) + log
        if "\n" in line or "\r" in line:
            raise SleepError("a path in the command holds a line break", remedy="Install from a path without it")
        return f"{plan.at.minute} {plan.at.hour} * * * {line.replace('%', chr(92) + '%')} {MARK}"

    def install(self, plan: Plan) -> Installed:
        text, line = self._read(), self.render(plan)
        others = _others(text)
        wanted = others + ("\n" if others and not others.endswith("\n") else "") + line + "\n"
        if wanted != text:
            self._write(wanted)
        return Installed("cron", True, plan.at.strftime("%H:%M"), None, shlex.join(plan.command), line, wanted != text)

    def remove(self) -> Installed:
        before, text = self.show(), self._read()
        if before.installed:
            self._write(_others(text))
        return Installed("cron", False, None, None, before.command, before.text, before.installed)

    def show(self) -> Installed:
        line = next((line for line in self._read().splitlines() if line.rstrip().endswith(MARK)), "")
        if not line:
            return Installed("cron", False, None, None, "", "")
        minute, hour, _, _, _, command = line.split(" ", 5)
        at = f"{int(hour):02}:{int(minute):02}" if minute.isdigit() and hour.isdigit() else None
        return Installed("cron", True, at, None, command.removesuffix(MARK).strip(), line)

    def _read(self) -> str:
        done = self._call("-l", text=None)
        if done.returncode and "no crontab" not in done.stderr.decode(errors="replace").lower():
            said = done.stderr.decode(errors="replace").strip()
            raise SleepError(f"crontab -l: {said or 'failed'}", remedy="Nothing was changed; use `schedule --print`")
        return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else ""

    def _write(self, text: str) -> None:
        done = self._call("-", text=text)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise SleepError(f"crontab refused: {said or 'no reason given'}", remedy="Your crontab is as it was")

    def _call(self, argument: str, text: str | None) -> subprocess.CompletedProcess[bytes]:
        sent = None if text is None else text.encode("utf-8", "surrogateescape")
        try:
            return subprocess.run(
                [self._crontab, argument],
                capture_output=True,
                check=False,
                env=without_keys(os.environ),
                input=sent,
                stdin=subprocess.DEVNULL if sent is None else None,
            )
        except FileNotFoundError as error:
            raise NotFound("crontab is not there", remedy="Install cron, or use `daemon`") from error


def _others(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.rstrip().endswith(MARK))
