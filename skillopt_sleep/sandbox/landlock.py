"""Landlock: what a process, and all that it starts, may do with files (kernel docs, userspace-api/landlock)."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from skillopt_sleep.sandbox.kernel import checked, libc

CREATE, ADD, RESTRICT = 444, 445, 446
VERSION = 1
BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
FIRST = (1 << 13) - 1
"""All accesses that the first version knows."""
ADDED = {2: REFER, 3: TRUNCATE, 5: IOCTL_DEVICE}
"""Those that came with later versions of the interface."""
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
"""Accesses that can be granted for what is no folder."""


def version() -> int:
    """Of the kernel's interface. OSError where there is none: ENOSYS not built, EOPNOTSUPP not switched on."""
    return checked(libc.syscall(CREATE, None, ctypes.c_size_t(0), VERSION), "landlock")


def accesses(of_version: int) -> int:
    """All that can be forbidden from that version on."""
    return FIRST | sum(bit for since, bit in ADDED.items() if of_version >= since)


def restrict(read: Iterable[str], write: Iterable[str]) -> None:
    """From here on this process may only read and start what lies under `read`, and do all under `write`."""
    known = accesses(version())
    attributes = struct.pack("Q", known)
    rules = checked(libc.syscall(CREATE, attributes, ctypes.c_size_t(len(attributes)), 0), "landlock_create_ruleset")
    try:
        for path in read:
            _allow(rules, path, READ)
        for path in write:
            _allow(rules, path, known)
        checked(libc.syscall(RESTRICT, rules, 0), "landlock_restrict_self")
    finally:
        os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        granted = access if stat.S_ISDIR(os.fstat(place).st_mode) else access & OF_FILES
        rule = struct.pack("=Qi", granted, place)
        checked(libc.syscall(ADD, rules, BENEATH, rule, 0), f"landlock_add_rule {path}")
    finally:
        os.close(place)
