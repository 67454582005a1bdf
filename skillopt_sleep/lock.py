"""One night at a time, and one daemon, by locks of the kernel: whoever is killed lets go of them.

A night's lock is `Home.lock`; beside it `night.holder` says who holds it, for the message alone: it is never believed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from skillopt_sleep.clock import Clock, iso
from skillopt_sleep.errors import NightLocked, StoreError

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
GRACE_S = 0.5
"""A look by `holder` takes the lock for a moment; a night waits that moment out."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock: process id, boot id of its machine ("" where there is none) and when it took it (ms UTC)."""

    pid: int
    boot: str
    since_ms: int

    def __str__(self) -> str:
        elsewhere = "" if self.boot == boot_id() else " of another boot or machine"
        return f"process {self.pid}{elsewhere}, since {iso(self.since_ms)}"


def boot_id() -> str:
    """The kernel's id of this boot; "" where there is none (macOS)."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


@contextmanager
def hold(path: Path, clock: Clock, *, what: str = "night") -> Iterator[Holder]:
    """Hold the lock at `path` (its folder is made, 0700) as long as the block runs; `NightLocked` if another does.

    `what` is what the lock allows one of.
    """
    kernel = _kernel_lock(path, GRACE_S)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kernel.acquire()
    except Timeout:
        who = _read(path)
        raise NightLocked(
            f"another {what} is running" + (f" ({who})" if who else ""),
            where=str(path),
            remedy="Let it finish, or end that process: a night can be resumed",
        ) from None
    except OSError as error:
        raise _cannot(path, error) from error
    try:
        me = Holder(os.getpid(), boot_id(), clock.now_ms())
        _note(path, me)
        yield me
    finally:
        with suppress(OSError):
            _beside(path).unlink(missing_ok=True)
        kernel.release()


def _note(path: Path, me: Holder) -> None:
    try:
        _write(path, me)
    except OSError as error:
        raise _cannot(path, error) from error


def _cannot(path: Path, error: OSError) -> StoreError:
    remedy = "Put the home folder where you may write and where files can be locked, see --home"
    return StoreError(
        f"the lock cannot be taken: {(error.strerror or str(error)).lower()}", where=str(path), remedy=remedy
    )


def holder(path: Path) -> Holder | None:
    """Who holds the lock now; None if nobody does, or if we may not touch it. One that left no note is pid 0."""
    if not path.exists():
        return None
    kernel = _kernel_lock(path, 0)
    try:
        kernel.acquire()
    except Timeout:
        return _read(path) or Holder(0, boot_id(), 0)
    except OSError:
        return None
    kernel.release()
    return None


def _kernel_lock(path: Path, timeout: float) -> FileLock:
    return FileLock(path, timeout=timeout, mode=0o600, fallback_to_soft=False)


def _beside(path: Path) -> Path:
    return path.with_suffix(".holder")


def _write(path: Path, me: Holder) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(_beside(path), flags, 0o600), "w", encoding="ascii") as note:
        json.dump(asdict(me), note)


def _read(path: Path) -> Holder | None:
    try:
        said = json.loads(_beside(path).read_bytes()[:1000])
        return Holder(int(said["pid"]), str(said["boot"])[:64], int(said["since_ms"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
