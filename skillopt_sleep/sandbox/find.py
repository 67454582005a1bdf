"""Which sandbox works on this machine: seen by running a command in it, not by what is installed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_sleep.errors import SandboxUnavailable, SleepError
from skillopt_sleep.sandbox.command import Command, Limits, Ran
from skillopt_sleep.sandbox.run import run
from skillopt_sleep.sandbox.walls import WAYS, Walls

NETWORK = Path("/proc/self/ns/net")
LOOK = ("sh", "-c", f"readlink {NETWORK} && cat /proc/net/dev")
"""Says which network this is, then which interfaces it has: two lines of heading, one line each."""
HEADING = 3
TRIED_S = 20.0


@dataclass(frozen=True, slots=True)
class Tried:
    """One way: `why` it does not work here, "" where it does."""

    walls: Walls
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Runs commands shut in, one way or the other. Each may read what is `readable`, beside its own."""

    walls: Walls
    readable: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        return self.walls.name

    def run(self, command: Command) -> Ran:
        return run(self.walls, replace(command, readable=(*command.readable, *self.readable)))


def look(ways: Iterable[Walls] = WAYS) -> tuple[Tried, ...]:
    """Try each way, in order, up to the first that works. Takes a quarter of a second each."""
    tried: list[Tried] = []
    for walls in ways:
        tried.append(Tried(walls, _why_not(walls)))
        if not tried[-1].why:
            break
    return tuple(tried)


def find(ways: Iterable[Walls] = WAYS) -> Sandbox:
    """The first that works. `SandboxUnavailable` where none does: commands are not run then, never run unguarded."""
    tried = look(ways)
    if tried and not tried[-1].why:
        return Sandbox(tried[-1].walls)
    raise SandboxUnavailable(reasons(tried), remedy=REMEDY)


REMEDY = "Install bubblewrap, and see that it may make user namespaces (docs/sandbox.md)"


def reasons(tried: Iterable[Tried]) -> str:
    return "; ".join(f"{one.walls.name}: {one.why}" for one in tried)


def _why_not(walls: Walls) -> str:
    if sys.platform != "linux":
        return "only Linux has it"
    try:
        with tempfile.TemporaryDirectory(prefix="skillopt-sleep-") as folder:
            ran = run(walls, Command(argv=LOOK, folder=Path(folder), limits=Limits(deadline_s=TRIED_S)))
    except SleepError as error:
        return error.message
    if ran.status:
        return f"a command ended with {ran.status} {ran.ended}".strip()
    lines = ran.out.decode().splitlines()
    names = [line.partition(":")[0].strip() for line in lines[HEADING:]]
    shut = lines[0] != str(NETWORK.readlink()) and names == ["lo"]
    return "" if shut else "a command has more than a loopback of its own there"
