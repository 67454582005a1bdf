"""A process as an attempt asks for it, and what came of it: the seam behind which a sandbox may stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SIGNED_OUT: Final = "is it signed in?"
"""How the reason of a run ends that nobody may have been signed in for."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is run. `environ` is the whole environment; standard input is closed.

    `folder` is where it works, `home` its HOME and `temporary` its TMPDIR: of the person's disk it needs to write
    nothing else. `hosts` (`host` or `host:port`) are all that it needs to reach. `seconds` is its deadline, `output`
    the most bytes that are kept of each of its streams; `stop` is asked often whether it should end at once.
    """

    argv: tuple[str, ...]
    folder: Path
    home: Path
    temporary: Path
    environ: Mapping[str, str]
    seconds: float
    output: int
    hosts: tuple[str, ...] = ()
    stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of it; whatever it started is dead by now.

    `status` is its exit status, negative for the signal that ended it. `late`: the deadline, or `stop`, ended it. `out`
    and `err` are a stranger's bytes; `cut`: there were more before them. `refused`: hosts that
    it asked for and did not reach.
    """

    status: int
    out: bytes
    err: bytes
    seconds: float
    late: bool = False
    cut: bool = False
    refused: tuple[str, ...] = ()


Run = Callable[[Command], Ended]
"""Runs a command to its end. Raises OSError where it cannot be started."""
