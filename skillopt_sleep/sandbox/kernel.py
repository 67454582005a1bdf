"""Calls of Linux that Python has no name for. OSError as everywhere."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

NEW_MOUNTS, NEW_NAMES, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
"""Kinds of namespace, of sched.h."""
READ_ONLY, NO_SETUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
"""Flags of mount(2)."""
DETACH = 2
"""A flag of umount2(2)."""
PARENT_DEATH, NO_DUMP, DROP_BOUND, NO_NEW_PRIVILEGES = 1, 4, 24, 38
"""Options of prctl(2)."""
MOUNT_SETATTR = 442
"""Of one number on every architecture, as all calls since Linux 5.0 (but on alpha)."""
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
IFF_UP, SIOCGIFFLAGS, SIOCSIFFLAGS = 1, 0x8913, 0x8914

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a call, or its OSError."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(kinds: int) -> None:
    checked(libc.unshare(kinds), "unshare")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str = "") -> None:
    args = (source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags), options.encode())
    checked(libc.mount(*args), f"mount {target}")


def make_read_only(path: str) -> None:
    """A mount and all below it (mount_setattr, since Linux 5.12)."""
    attributes = struct.pack("QQQQ", READ_ONLY | NO_SETUID, 0, 0, 0)
    call = (MOUNT_SETATTR, AT_FDCWD, path.encode(), AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes)))
    checked(libc.syscall(*call), f"mount_setattr {path}")


def unmount(path: str) -> None:
    checked(libc.umount2(path.encode(), DETACH), f"umount {path}")


def pivot_root(new: str, old: str) -> None:
    checked(libc.pivot_root(new.encode(), old.encode()), "pivot_root")


def prctl(option: int, value: int) -> None:
    checked(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl")


def drop_privileges() -> None:
    """No capability outlives the next exec, and none can be won again."""
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii"))
    for capability in range(last + 1):
        prctl(DROP_BOUND, capability)
    prctl(NO_NEW_PRIVILEGES, 1)


def raise_loopback() -> None:
    """A new network namespace has its loopback down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH22x", b"lo", 0)
        (flags,) = struct.unpack("16xH22x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, asked))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | IFF_UP))
