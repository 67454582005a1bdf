"""With which exit status a command ends on a folder that an attempt left.

Not among the names of the package: it knows the core, which what runs inside our own walls has no part in.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.errors import SandboxUnavailable
from skillopt_sleep.log import one_line
from skillopt_sleep.sandbox.command import Command, Limits, Ran
from skillopt_sleep.sandbox.folders import set_aside

SECONDS: Final = 120.0
CORES: Final = 64
"""One process may use that many cores for the whole time: time is what is limited, not work."""
CANNOT_RUN: Final = frozenset({126, 127})
"""What a shell says, and we do, where a program is not there or is none."""
_PASSED: Final = frozenset({128 + signal.SIGXCPU, 128 + signal.SIGXFSZ})
_ENDED: Final = {
    "memory": "it took more memory than it may",
    "processes": "it started more processes than it may",
    "output": "it said more than it may",
    "lost": "its sandbox broke down",
}


def exit_status(
    run: Callable[[Command], Ran],
    argv: Sequence[str],
    folder: Path,
    *,
    environ: Mapping[str, str],
    seconds: float = SECONDS,
) -> int | Missing:
    """The exit status of a command that `run` (a `Sandbox`'s) runs on a copy of the folder, as a shell counts it.

    No shell reads `argv`. The folder itself stays as it is, so that commands do not see what others left; the copy lies
    under the folder's own path meanwhile. There is no network. `Missing`, with the reason, where the status would say
    nothing of the folder: no sandbox, a program that is not there (126, 127), a deadline or limit that was passed. A
    program that `argv` names by a path inside of the folder should have been left there: its 126 or 127 is a status.
    """
    limits = Limits(deadline_s=seconds, cpu_s=int(seconds * CORES) + 1)
    try:
        with set_aside(folder):
            ran = run(Command(argv=tuple(argv), folder=folder, environ=environ, limits=limits))
    except SandboxUnavailable as error:
        return _missing(argv, f"no sandbox works here ({error.message})")
    except OSError as error:
        return _missing(argv, f"the folder cannot be copied ({error.strerror or error})")
    if ran.ended == "deadline":
        return _missing(argv, f"it was not done within {seconds:g} s")
    if ran.ended or ran.status in _PASSED:
        return _missing(argv, _ENDED.get(ran.ended, "it passed a limit"))
    if ran.status in CANNOT_RUN and not _of_the_folder(argv[0]):
        return _missing(argv, f"a program is not there or cannot be run (status {ran.status})")
    return ran.status


def _of_the_folder(program: str) -> bool:
    return "/" in program and not program.startswith("/")


def _missing(argv: Sequence[str], why: str) -> Missing:
    return Missing(f"the command {one_line(argv[0])}: {why}")
