"""The command in a process of its own, as a shell or a scheduler starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DEADLINE = 60.0
COMMAND = (sys.executable, "-m", "skillopt_sleep.cli")


@dataclass(frozen=True)
class Said:
    """Exit code and what was said on both streams."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line of an error; more than one, or a traceback, is none."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


@dataclass
class Child:
    """Starts commands below `folder` with an environment of their own."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = COMMAND

    def __call__(self, *arguments: str, environ: Mapping[str, str] | None = None, **options: Any) -> Said:
        done = subprocess.run(
            [*self.prefix, *arguments],
            env={**self.environ, **(environ or {})},
            cwd=self.folder,
            stdin=options.pop("stdin", subprocess.DEVNULL),
            capture_output=True,
            check=False,
            timeout=DEADLINE,
            **options,
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def shell(self, script: str) -> Said:
        """A line of shell in which `"$@"` is the command."""
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", *self.prefix],
            env=self.environ, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=DEADLINE,
        )  # fmt: skip
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def least(folder: Path, user_home: Path) -> dict[str, str]:
    """The environment that a cron job has, with a home of ours below `folder`."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "COVERAGE_PROCESS_START") if key in os.environ}
    return {**kept, "HOME": str(user_home), "SKILLOPT_HOME": str(folder / "state"), "TZ": "UTC"}
