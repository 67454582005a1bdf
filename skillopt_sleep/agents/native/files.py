"""What an agent left in its folder, read only where a check asks for it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

LARGEST: Final = 16 << 20
"""Bytes of a file that can be judged."""
MOST: Final = 100_000
"""Files of a folder that are listed."""
_OURS: Final = frozenset({".git"})


class NotJudged(Exception):
    """A folder or file that is too large, or cannot be read: what is not seen whole is not judged."""


class Left(Mapping[str, bytes]):
    """Contents of a folder's regular files by relative path with `/`. Links are not followed and are no files.

    Raises `NotJudged`. To be looked at while the folder is there, and only once nobody writes into it any more.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, path: str) -> bytes:
        parts = path.split("/")
        if not self._inside(parts):
            raise KeyError(path)
        here = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
                os.close(here)
                here = below
            return _read(parts[-1], here)
        except (FileNotFoundError, NotADirectoryError):
            raise KeyError(path) from None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise KeyError(path) from None
            raise NotJudged(f"a file of the folder cannot be read ({error.strerror})") from error
        finally:
            os.close(here)

    def __contains__(self, path: object) -> bool:
        try:
            return isinstance(path, str) and self[path] is not None
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        try:
            yield from self._listed()
        except RecursionError:
            raise NotJudged("the folder's folders lie too deep within each other") from None

    def _listed(self) -> Iterator[str]:
        seen = 0
        for where, folders, files in os.walk(self._folder):
            folders[:] = sorted(name for name in folders if name not in _OURS)
            for name in sorted(files):
                if (seen := seen + 1) > MOST:
                    raise NotJudged(f"the folder holds more than {MOST} files")
                path = Path(where, name)
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path.relative_to(self._folder).as_posix()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _inside(self, parts: list[str]) -> bool:
        return parts[0] not in _OURS and not {"", ".", ".."} & set(parts)


def _read(name: str, folder: int) -> bytes:
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise FileNotFoundError(name)
        if found.st_size > LARGEST:
            raise NotJudged(f"a file of the folder is larger than {LARGEST} bytes")
        with os.fdopen(file, "rb", closefd=False) as opened:
            return opened.read(LARGEST)
    finally:
        os.close(file)
