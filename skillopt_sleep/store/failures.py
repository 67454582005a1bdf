"""SQLite's errors in words a person can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from skillopt_sleep.errors import StoreError

RESTORE = "Put it aside and restore a copy (`skillopt-sleep backup` makes them)"

_SAID: dict[str, tuple[str, str]] = {
    "SQLITE_FULL": ("the disk is full; nothing of this step was stored", "Free some space and run the command again"),
    "SQLITE_BUSY": ("another process is writing to the store", "Try again when it has finished"),
    "SQLITE_LOCKED": ("another process is writing to the store", "Try again when it has finished"),
    "SQLITE_READONLY": ("the store may not be written", "Check the owner and the permissions of the file"),
    "SQLITE_PERM": ("the store may not be opened", "Check the owner and the permissions of the file"),
    "SQLITE_CANTOPEN": ("the store cannot be opened", "Check the owner and the permissions of the file and its folder"),
    "SQLITE_NOTADB": ("the file is not a store", RESTORE),
    "SQLITE_CORRUPT": ("the store is damaged", RESTORE),
    "SQLITE_IOERR": ("the disk failed; nothing of this step was stored", "Check the disk and the space left on it"),
}


class Conflict(StoreError):
    """A row that the store's own rules refuse: it is there already, or what it speaks of is not."""

    code = "conflict"


def in_words(path: Path, error: sqlite3.Error) -> StoreError:
    """The store's error for one of SQLite's, by its code and never by its text."""
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith("SQLITE_CONSTRAINT"):
        return Conflict(f"the store refused a row: {error}", where=str(path))
    family = "_".join(name.split("_")[:2])
    said, remedy = _SAID.get(family, (f"the store failed: {error}", "Run `skillopt-sleep doctor`"))
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
