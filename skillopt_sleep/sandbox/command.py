"""What is run in a sandbox, within which limits, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from skillopt_sleep.sandbox.hosts import Host, Visit

MIB = 1 << 20
Ended = Literal["", "deadline", "memory", "processes", "output", "lost"]
"""Why a command was ended; "" where it ended by itself. `lost`: its sandbox broke down, as when memory ran out."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may use. Whoever passes one is ended with all that it started, and `Ran.ended` says which.

    A single process is held by the kernel (`cpu_s`, `file`, `memory` as its writable memory); all of them together
    are counted about twenty times a second (`memory`, `processes`), so a sum may be passed for that long.
    """

    deadline_s: float = 120.0
    grace_s: float = 2.0
    """From TERM to KILL."""
    cpu_s: int = 600
    """Seconds of one process; it is sent XCPU then, and KILL a second later."""
    memory: int = 2048 * MIB
    """Bytes: private and shared memory of all processes and what lies in /tmp and /dev/shm."""
    scratch: int = 512 * MIB
    """Bytes that /tmp (with the home) and /dev/shm may hold each."""
    file: int = 512 * MIB
    """Bytes of one file."""
    processes: int = 512
    """Processes and threads together."""
    output: int = MIB
    """Bytes kept of each of the two streams: the first half and the last."""
    flood: int = 256 * MIB
    """Bytes of both streams together after which the command is ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command and what it may see. Paths are outside's, and the same inside.

    `folder` is where it starts, and the one place of the person's that it may write; `writable` adds to that.
    `readable` adds to what every command may read: programs, libraries, certificates. Everything else is not there.
    Of `environ` only the names of `environment.ALLOWED` go in; `given` goes in as it is. `home` is a folder that
    stands for the HOME, otherwise it is empty and forgotten afterwards. `hosts` may be reached, and nothing else.
    `stop` is asked about once a second: where it says so, the command is ended as if its deadline were over.
    """

    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    home: Path | None = None
    hosts: tuple[Host, ...] = ()
    limits: Limits = field(default_factory=Limits)
    stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command. `status` is its exit status, as a shell counts: 128 and the signal where one ended it.

    `out` and `err` are raw bytes of a stranger: redact before anything is kept. `cut` is how many bytes of each were
    left out of the middle; a mark stands there. `visits` is what was asked for over the network, in order.
    """

    status: int
    ended: Ended
    out: bytes
    err: bytes
    cut: tuple[int, int]
    seconds: float
    visits: tuple[Visit, ...] = ()
