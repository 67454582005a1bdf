"""One command in one sandbox, from outside: start it, read what it says, see that nothing of it is left."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from skillopt_sleep.sandbox.command import Command, Ran
from skillopt_sleep.sandbox.environment import HOME, PROXY_PORT, environment
from skillopt_sleep.sandbox.hosts import Host
from skillopt_sleep.sandbox.outside import Inside
from skillopt_sleep.sandbox.room import room_of
from skillopt_sleep.sandbox.walls import Walls

if TYPE_CHECKING:
    from skillopt_sleep.sandbox.proxy import Proxy


COUNTED_BY_NAMESPACE = (5, 14)
"""The Linux from which a namespace of users is counted by itself; before, all that the person runs counts."""


def run(walls: Walls, command: Command) -> Ran:
    """Run a command to its end. `SandboxUnavailable` where it could not be shut in; then it did not run.

    UsageError where a folder of it is not there. Whatever is raised here, nothing of the command is alive afterwards.
    """
    began = time.monotonic()
    room = room_of(command)
    with ExitStack() as held:
        inside = held.enter_context(Inside(walls, room, order_of(command)))
        proxy = held.enter_context(_proxy(inside.listener, command.hosts)) if inside.listener else None
        status, ended = inside.attend(command.limits, command.stop)
    out, err = inside.out, inside.err
    seconds = time.monotonic() - began
    visits = proxy.visits() if proxy else ()
    return Ran(status, ended, out.bytes(), err.bytes(), (out.cut, err.cut), seconds, visits)


def linux() -> tuple[int, ...]:
    """Major and minor version of the kernel."""
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def _proxy(listener: socket.socket, hosts: tuple[Host, ...]) -> Proxy:
    from skillopt_sleep.sandbox.proxy import Proxy  # brings asyncio, which most commands do without

    return Proxy(listener, hosts)


def order_of(command: Command) -> str:
    """What process 1 is told (`inside.py`)."""
    limits = command.limits
    home = str(command.home.resolve()) if command.home else HOME
    kernel = {
        "RLIMIT_CPU": limits.cpu_s,
        "RLIMIT_DATA": limits.memory,
        "RLIMIT_FSIZE": limits.file,
        "RLIMIT_CORE": 0,
    }
    if linux() >= COUNTED_BY_NAMESPACE:
        kernel["RLIMIT_NPROC"] = limits.processes
    order = {
        "argv": command.argv,
        "folder": str(command.folder.resolve()),
        "environ": environment(command.environ, command.given, command.hosts, home),
        "port": PROXY_PORT if command.hosts else 0,
        "limits": kernel,
        "deadline_s": limits.deadline_s,
        "grace_s": limits.grace_s,
        "memory": limits.memory,
        "processes": limits.processes,
    }
    return json.dumps(order)
