"""Folders that somebody else filled: copied without what is no file, removed whatever their modes are."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

LARGEST: Final = 2 << 30
"""Bytes of a folder that is copied."""
MOST: Final = 200_000
"""Files of a folder that is copied."""


class TooLarge(OSError):
    """The folder holds more than is copied."""


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
        aside.rename(folder)


def copy(folder: Path, to: Path) -> None:
    """Files, folders and links (as links) with their modes; sockets, pipes and devices stay behind. Raises OSError."""
    _count(folder)

    def odd(where: str, names: list[str]) -> set[str]:
        return {name for name in names if not _kept(Path(where, name).lstat().st_mode)}

    shutil.copytree(folder, to, symlinks=True, ignore=odd)


def remove(root: Path) -> None:
    """All of it; a folder that may not be entered is opened first. Nothing that a link leads to is touched."""
    for where, folders, _ in os.walk(root):
        for name in folders:
            path = Path(where, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(root, ignore_errors=True)


def _count(folder: Path) -> None:
    files = size = 0
    for where, _, names in os.walk(folder):
        for name in names:
            found = Path(where, name).lstat()
            files, size = files + 1, size + found.st_size
            if files > MOST or size > LARGEST:
                raise TooLarge(f"the folder holds more than {MOST:,} files or {LARGEST >> 30} GiB")


def _kept(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
