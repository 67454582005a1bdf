"""The two ways to shut a command in: how the process is started that ends up inside as process 1."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from skillopt_sleep.sandbox.room import SHARED_MEMORY, TMP, Place, Room, interpreter, machine_wide

Wall = Callable[[Room, Sequence[str]], list[str]]
"""A room and what is to run in it, to the argv that does it."""
PACKAGES = Path(__file__).resolve().parents[2]
BOOT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from skillopt_sleep.sandbox import enclose, walls
enclose.main(walls.read_room(sys.argv[2]), sys.argv[3:])
"""
"""Our own modules and the standard library alone: the person's packages have no part in this."""


def bubblewrap(room: Room, argv: Sequence[str]) -> list[str]:
    """Of version 0.8 or newer (`--size`, `--as-pid-1`)."""
    spaces = ("--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts")
    ends = ("--die-with-parent", "--as-pid-1", "--cap-drop", "ALL")
    size = ("--perms", "0700", "--size", str(room.scratch), "--tmpfs")
    machine = [word for path in map(str, machine_wide(Path("/proc"))) for word in ("--ro-bind", path, path)]
    own = ("--proc", "/proc", *machine, "--dev", "/dev", "--remount-ro", "/dev", *size, SHARED_MEMORY, *size, TMP)
    places = [word for place in room.places for word in _bound(place)]
    return ["bwrap", *spaces, *ends, *own, *places, "--remount-ro", "/", "--chdir", "/", "--", *argv]


def _bound(place: Place) -> Iterator[str]:
    if place.link:
        yield from ("--symlink", place.link, place.path)
    else:
        yield from ("--bind" if place.writable else "--ro-bind", place.source, place.path)


def namespaces(room: Room, argv: Sequence[str]) -> list[str]:
    return [str(interpreter()), "-I", "-S", "-c", BOOT, str(PACKAGES), json.dumps(asdict(room)), *argv]


def read_room(text: str) -> Room:
    """The inverse of what `namespaces` writes."""
    told = json.loads(text)
    return Room(tuple(Place(**place) for place in told["places"]), told["scratch"])


@dataclass(frozen=True, slots=True)
class Walls:
    """One way, by name."""

    name: str
    around: Wall


WAYS = (Walls("bubblewrap", bubblewrap), Walls("namespaces", namespaces))
"""In the order in which they are tried."""
