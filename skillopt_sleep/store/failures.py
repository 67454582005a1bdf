"""SQLite's errors in words a person can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from skillopt_sleep.errors import StoreError

RESTORE = "Put it aside and restore a copy (`skillopt-sleep backup` makes them)"

_MISSING = ("the store cannot be opened", "Check the owner and the permissions of the file and its folder")
_BUSY = ("another process is writing to the store", "Try again when it has finished")
_CLOSED = ("the store may not be written", "Check the owner and the permissions of the file")

_SAID: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full; nothing of this step was stored",
        "Free some space and run the command again",
    ),
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
    sqlite3.SQLITE_CANTOPEN: _MISSING,
    sqlite3.SQLITE_NOTADB: ("the file is not a store", RESTORE),
    sqlite3.SQLITE_CORRUPT: ("the store is damaged", RESTORE),
    sqlite3.SQLITE_IOERR: (
        "the disk failed; nothing of this step was stored",
        "Check the disk and the space left on it",
    ),
}
"""What to say, by SQLite's primary error code."""


class Conflict(StoreError):
    """A row that the store's own rules refuse: it is there already, or what it speaks of is not."""

    code = "conflict"


def in_words(path: Path, error: sqlite3.Error) -> StoreError:
    """The store's error for one of SQLite's, by its code and never by its text."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_CONSTRAINT:
        return Conflict(f"the store refused a row: {error}", where=str(path))
    said, remedy = _SAID.get(code, (f"the store failed: {error}", "Run `skillopt-sleep doctor`"))
    return StoreError(said, where=str(path), remedy=remedy)


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Inside, what SQLite says of the store at `path` is raised as a `StoreError`."""
    try:
        yield
    except DBAPIError as wrapped:
        if isinstance(wrapped.orig, sqlite3.Error):
            raise in_words(path, wrapped.orig) from wrapped
        raise
    except sqlite3.Error as error:
        raise in_words(path, error) from error
