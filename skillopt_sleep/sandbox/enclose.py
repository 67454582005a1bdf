"""Our own walls where bubblewrap is missing: namespaces, a root of our own, and Landlock over it.

A process of its own: `main(room, argv)` never returns. It moves into new namespaces (user, mounts, processes, network
with loopback alone, names, IPC), puts together a root that holds a room and nothing else, forbids writing anywhere but
there, gives up all privileges and becomes `argv`, as process 1.

Landlock alone would not do: it lets a process talk to any socket that lies on the disk, of a container engine or of a
session bus (as far as its seventh version, the newest that was tried here), and hides no name. Our root has neither.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from skillopt_sleep.sandbox import kernel, landlock
from skillopt_sleep.sandbox.kernel import BIND, NO_DEVICES, NO_EXEC, NO_SETUID, PRIVATE, READ_ONLY, RECURSIVE
from skillopt_sleep.sandbox.room import SHARED_MEMORY, TMP, Room, machine_wide

ALL = (
    kernel.NEW_USER | kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_NETWORK | kernel.NEW_NAMES | kernel.NEW_IPC
)  # fmt: skip
DEVICES = ("null", "zero", "full", "random", "urandom")
LINKS = {
    "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}  # fmt: skip
BASE = "/tmp"  # noqa: S108 - any folder does: it is mounted over in a namespace of our own


def main(room: Room, argv: Sequence[str]) -> NoReturn:
    enter()
    build(room)
    kernel.drop_privileges()
    landlock.restrict(["/"], writable(room))
    os.execv(argv[0], list(argv))  # noqa: S606 - a list of words, no shell


def enter() -> None:
    """Into new namespaces, as the same person. Returns as process 1 of them; the process outside waits for it."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(ALL)
    for name, text in {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}.items():
        Path("/proc/self", name).write_text(text, encoding="ascii")
    kernel.raise_loopback()
    kernel.prctl(kernel.PARENT_DEATH, signal.SIGKILL)
    if first := os.fork():
        _, status = os.waitpid(first, 0)
        os._exit(min(abs(os.waitstatus_to_exitcode(status)), 255))
    kernel.prctl(kernel.PARENT_DEATH, signal.SIGKILL)


def build(room: Room) -> None:
    """The new root is made beside the old one, which then goes."""
    kernel.mount("none", "/", flags=RECURSIVE | PRIVATE)
    kernel.mount("tmpfs", BASE, "tmpfs", NO_SETUID | NO_DEVICES, "mode=0755")
    for name in ("old", "new"):
        Path(BASE, name).mkdir()
    kernel.pivot_root(BASE, f"{BASE}/old")
    os.chdir("/")
    kernel.mount("tmpfs", "/new", "tmpfs", NO_SETUID | NO_DEVICES, "mode=0755")
    furnish(room, Path("/old"), Path("/new"))
    kernel.pivot_root("/new", "/new/old")
    os.chdir("/")
    kernel.unmount("/old")
    Path("/old").rmdir()
    kernel.mount("none", "/", flags=kernel.REMOUNT | BIND | READ_ONLY | NO_SETUID | NO_DEVICES)


def furnish(room: Room, old: Path, new: Path) -> None:
    size = f"size={room.scratch},mode=0700"
    (new / "old").mkdir()
    processes_and_devices(old, new, size)
    (new / "tmp").mkdir()
    kernel.mount("tmpfs", str(new / "tmp"), "tmpfs", NO_SETUID | NO_DEVICES, size)
    for place in room.places:
        target = new / place.path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        if place.link:
            target.symlink_to(place.link)
        else:
            bind(old / place.source[1:], target, read_only=not place.writable)


def processes_and_devices(old: Path, new: Path, size: str) -> None:
    for folder in ("proc", "dev/shm", "dev/pts"):
        (new / folder).mkdir(parents=True)
    kernel.mount("proc", str(new / "proc"), "proc", NO_SETUID | NO_DEVICES | NO_EXEC)
    for path in machine_wide(new / "proc"):
        bind(path, path, read_only=True)
    for name in DEVICES:
        bind(old / "dev" / name, new / "dev" / name, read_only=False)
    for name, to in LINKS.items():
        (new / "dev" / name).symlink_to(to)
    kernel.mount("devpts", str(new / "dev/pts"), "devpts", NO_SETUID | NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    kernel.mount("tmpfs", str(new / "dev/shm"), "tmpfs", NO_SETUID | NO_DEVICES, size)


def bind(source: Path, target: Path, *, read_only: bool) -> None:
    """What is mounted below comes along: the kernel would not let us see what it hides."""
    if source.is_dir():
        target.mkdir(exist_ok=True)
    elif not target.exists():
        target.touch()
    kernel.mount(str(source), str(target), flags=BIND | RECURSIVE)
    if read_only:
        kernel.make_read_only(str(target))


def writable(room: Room) -> Iterator[str]:
    yield from (place.path for place in room.places if place.writable)
    yield from (TMP, SHARED_MEMORY, "/dev/pts", "/proc")
    yield from (f"/dev/{name}" for name in DEVICES)
