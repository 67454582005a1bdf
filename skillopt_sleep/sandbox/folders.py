"""Folders that somebody else fills: made for a while, copied without what is no file, removed whatever their modes."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final
from uuid import uuid4

from filelock import FileLock, Timeout

LARGEST: Final = 2 << 30
"""Bytes of a folder that is copied."""
MOST: Final = 200_000
"""Files of a folder that is copied."""

DEEPEST: Final = 200
"""Folders within each other of one that is copied."""
PREFIX: Final = "skillopt-sleep-"
_IN_USE: Final = ".in-use"
_NUMBERS: Final = itertools.count()


class TooLarge(OSError):
    """The folder holds more than is copied."""


@contextmanager
def temporary(purpose: str) -> Iterator[Path]:
    """A folder that only its owner can enter, gone with the block; one that a killed process left goes with the next.

    Such folders hold copies of logins and of projects, so a kernel's lock in each tells whether its process lives.
    """
    _sweep(Path(tempfile.gettempdir()))
    root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-"))
    lock = FileLock(root / f"{_IN_USE}.new", mode=0o600)
    try:
        with lock:
            Path(lock.lock_file).replace(root / _IN_USE)  # seen by others no sooner than it is held
            yield root
    finally:
        remove(root)


@cache
def _sweep(place: Path) -> None:
    """Remove what processes that are no more left there. Once a process; nothing that is not ours is looked into."""
    for root in place.glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout):
            found = root.lstat()
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if ours and stat.S_ISREG((root / _IN_USE).lstat().st_mode):
                with FileLock(root / _IN_USE, timeout=0):
                    remove(root)


@contextmanager
def set_aside(folder: Path) -> Iterator[None]:
    """While it lasts, a copy stands in the folder's place, under the same path; what is done there is gone afterwards.

    Raises OSError (`TooLarge`) where it cannot be copied. Nobody else may use the folder meanwhile.
    """
    aside = folder.with_name(f".{folder.name}.aside")
    folder.rename(aside)
    try:
        copy(aside, folder)
        yield
    finally:
        remove(folder)
        if folder.exists():  # whatever of it would not go is out of the way at least
            folder.rename(folder.with_name(f".{folder.name}.{uuid4().hex}"))
        aside.rename(folder)


def copy(folder: Path, to: Path) -> None:
    """Files, folders and links (as links) with their modes; sockets, pipes and devices stay behind. Raises OSError."""
    must_fit(folder)

    def odd(where: str, names: list[str]) -> set[str]:
        return {name for name in names if not _kept(Path(where, name).lstat().st_mode)}

    shutil.copytree(folder, to, symlinks=True, ignore=odd)


def remove(root: Path) -> None:
    """All of it, as far as can be: whatever its modes are, however deep it is. Nothing that a link leads to is touched.

    A folder is taken up to the root before it is looked into: a path too long for the system leads to none of them.
    """
    mark, found = uuid4().hex, [root]
    while found:
        here = found.pop()
        with suppress(OSError):
            here.chmod(0o700)
            with os.scandir(here) as entries:
                inside = list(entries)
            for entry in inside:
                if entry.is_dir(follow_symlinks=False):
                    found.append(_hoisted(entry, root / f".{mark}-{next(_NUMBERS)}"))
                else:
                    Path(entry.path).unlink()
        with suppress(OSError):
            here.rmdir()
    with suppress(RecursionError):
        shutil.rmtree(root, ignore_errors=True)  # what would not move was looked into before what it holds


def _hoisted(entry: os.DirEntry[str], to: Path) -> Path:
    """The folder at its new place, or where it is if it will not move."""
    here = Path(entry.path)
    try:
        here.chmod(0o700)
        here.rename(to)
    except OSError:
        return here
    return to


def must_fit(folder: Path, largest: int = LARGEST) -> None:
    """Raises `TooLarge` for a folder of more bytes, files or depth, OSError where it cannot be looked into."""
    files = size = 0
    level = [folder]
    for _ in range(DEEPEST):
        below = []
        for here in level:
            with os.scandir(here) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        below.append(Path(entry.path))
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
            if files > MOST or size > largest:
                raise TooLarge(f"the folder holds more than {MOST:,} files or {largest >> 20:,} MiB")
        if not below:
            return
        level = below
    raise TooLarge(f"the folder is more than {DEEPEST} folders deep")


def _kept(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
