"""Another program's SQLite, read so that its owner cannot notice: nothing is written, created or locked beside it.

A connection in `mode=ro` is not enough: it takes locks on the file, and in write-ahead mode it creates the `-shm` file
and marks itself in it. So

- a database at rest (no write-ahead log with content) is opened `immutable`: no locks, no files. Whether it stayed at
  rest is seen afterwards (`steady`); what was read from one that did not is read again from a copy;
- of one with a write-ahead log, `immutable` would miss what stands in the log, so both files are copied to a private
  temporary folder and opened there. A writer may go on: what it appends is cut off by the log's checksums, and what it
  folds into the database stands in the log too. Only a log that was begun anew meanwhile spoils the copy;
- one with a rollback journal is in the middle of a transaction, or was left there. Only its owner may undo that (a
  journal can name further files, which undoing deletes), so it is reported and left for later.

All its content is hostile: what is read must be a real table, no function of its schema is trusted, values and steps
are bounded, text comes as bytes.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from skillopt_harvesters.bytestream import LINE_CAP, digest, open_regular, why
from skillopt_harvesters.model import Source, Trouble, Unreadable

MAGIC = b"SQLite format 3\0"
JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
HEADER = 100
LOG_HEADER = 32
COPY_CAP = 8 << 30
"""Bytes of a database with its log that are copied at most."""
COPIES = 3
"""Times that a copy is tried while its owner writes."""
CHUNK = 4 << 20
STEPS = 1_000_000
"""Virtual machine steps between two looks at how many there were."""
REFUSED = (sqlite3.Error, UnicodeDecodeError)
"""The second where SQLite's own message, or the name of a column, is no UTF-8."""
ROUNDS = 4000
"""Looks before a statement is given up: a healthy one takes a few steps a row."""


class FileState(NamedTuple):
    """A file beside which, or of which, nothing changed if this stayed the same. `head` are its first bytes."""

    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    head: bytes = b""


ABSENT = FileState()


class Rest(NamedTuple):
    """The files of a database, looked at without opening it as one."""

    main: FileState
    log: FileState
    journal: FileState

    @property
    def logged(self) -> bool:
        """Whether something may stand in the write-ahead log alone."""
        return self.log.size > LOG_HEADER

    @property
    def signature(self) -> str:
        """Changes with every commit."""
        return digest(repr(self).encode())


def file_state(path: str, head: int) -> FileState:
    """Raises OSError; `ABSENT` where there is no such file, or it is no regular one."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return ABSENT
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return ABSENT
        return FileState(found.st_size, found.st_mtime_ns, found.st_ino, os.pread(fd, head, 0))
    finally:
        os.close(fd)


def look(path: str) -> Rest:
    """The state of a database's files. Raises `Unreadable` where it is none, or in the middle of a transaction."""
    fd, found = open_regular(path)
    try:
        head = os.pread(fd, HEADER, 0)
        main = FileState(found.st_size, found.st_mtime_ns, found.st_ino, head)
        state = Rest(main, file_state(f"{path}-wal", LOG_HEADER), file_state(f"{path}-journal", len(JOURNAL)))
    except OSError as problem:
        raise Unreadable(path, why(problem)) from problem
    finally:
        os.close(fd)
    if not head.startswith(MAGIC):
        raise Unreadable(path, "not a database")
    if state.journal.head == JOURNAL:
        raise Unreadable(path, "in the middle of a transaction, or left there: it is read when its owner has ended it")
    return state


def database_source(agent: str, path: Path, root: str, trouble: list[Trouble]) -> Iterator[Source]:
    """The source that a database is, if it is there. Its size and time are those of the file and its log together."""
    name = str(path)
    try:
        found = path.stat()
        log = Path(f"{name}-wal").stat() if os.path.lexists(f"{name}-wal") else None
    except FileNotFoundError:
        if os.path.lexists(name):
            trouble.append(Trouble(name, 0, "a link to nothing"))
        return
    except NotADirectoryError:
        return
    except (OSError, ValueError) as problem:
        trouble.append(Trouble(name, 0, why(problem)))
        return
    if not stat.S_ISREG(found.st_mode):
        trouble.append(Trouble(name, 0, "not a regular file"))
        return
    yield Source(
        agent=agent,
        path=name,
        root=root,
        size=found.st_size + (log.st_size if log else 0),
        mtime_ns=max(found.st_mtime_ns, log.st_mtime_ns if log else 0),
        device=found.st_dev,
        inode=found.st_ino,
    )


def schema_text(path: Path, head: bytes) -> bytes:
    """What a database's first bytes say of its tables; of one that stands in its log still, the log's first bytes."""
    if not head.startswith(MAGIC):
        return b""
    try:
        return head + file_state(f"{path}-wal", len(head)).head
    except (OSError, ValueError):
        return head


class Database:
    """An open database. Close it. Every method raises `Unreadable`, with SQLite's own words.

    `taken` counts the bytes of texts and blobs that were read.
    """

    def __init__(self, path: str, state: Rest, folder: tempfile.TemporaryDirectory[str] | None) -> None:
        self.path = path
        self._state = state
        self._folder = folder
        self._rounds = 0
        self.taken = 0
        try:
            self._connection = connect(path, folder)
            self._connection.set_progress_handler(self._gone_on, STEPS)
        except REFUSED as problem:
            self._drop_folder()
            raise Unreadable(path, said(problem)) from problem

    def close(self) -> None:
        self._connection.close()
        self._drop_folder()

    def _drop_folder(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def _gone_on(self) -> bool:
        self._rounds += 1
        return self._rounds > ROUNDS

    def steady(self) -> bool:
        """Whether what was read so far is of one state of the database."""
        if self._folder is not None:
            return True
        try:
            return look(self.path) == self._state
        except Unreadable:
            return False

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table; none where there is no such table (a view or a virtual table is none)."""
        found = self.row("SELECT type, sql FROM sqlite_master WHERE name = ?", table)
        if found is None or found[0] != b"table" or not is_plain(found[1]):
            return frozenset()
        rows = self.rows("SELECT name FROM pragma_table_info(?)", table)
        return frozenset(row[0].decode("utf-8", "replace") for row in rows)

    def require(self, table: str, *columns: str) -> None:
        """Raises `Unreadable` unless the table is there with these columns."""
        known = self.columns(table)
        if not known:
            raise Unreadable(self.path, f"no table `{table}`")
        missing = [column for column in columns if column not in known]
        if missing:
            raise Unreadable(self.path, f"table `{table}` has no column `{missing[0]}`")

    def rows(self, statement: str, *values: str | bytes | int) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, one by one; texts are bytes."""
        self._rounds = 0
        try:
            for row in self._connection.execute(statement, values):
                self.taken += sum(len(value) for value in row if isinstance(value, bytes))
                yield row
        except REFUSED as problem:
            raise Unreadable(self.path, said(problem)) from problem

    def row(self, statement: str, *values: str | bytes | int) -> tuple[Any, ...] | None:
        return next(self.rows(statement, *values), None)

    def named(self, statement: str, *values: str | bytes | int) -> dict[str, Any] | None:
        """The first row of a statement by the names of its columns."""
        self._rounds = 0
        try:
            cursor = self._connection.execute(statement, values)
            found = cursor.fetchone()
        except REFUSED as problem:
            raise Unreadable(self.path, said(problem)) from problem
        return None if found is None else dict(zip((part[0] for part in cursor.description), found, strict=True))


def is_plain(sql: Any) -> bool:
    """Whether a table's definition is that of a stored table."""
    return isinstance(sql, bytes) and not sql.lstrip().upper().startswith(b"CREATE VIRTUAL")


def said(problem: sqlite3.Error | UnicodeDecodeError) -> str:
    """SQLite's words in one short line; they may name tables, never rows."""
    if isinstance(problem, UnicodeDecodeError):
        return "malformed database schema: a name is no text"
    return " ".join(str(problem).split())[:200] or type(problem).__name__


def is_database(path: Path) -> bool:
    """Whether a file begins as a database does."""
    try:
        return file_state(str(path), len(MAGIC)).head == MAGIC
    except (OSError, ValueError):
        return False


def connect(path: str, folder: tempfile.TemporaryDirectory[str] | None) -> sqlite3.Connection:
    """A connection that cannot write: to the file itself as it lies, or to our copy of it."""
    name = Path(path).absolute() if folder is None else Path(folder.name) / "copy.db"
    mode = "mode=ro&immutable=1" if folder is None else "mode=rw"
    connection = sqlite3.connect(f"file:{quote(os.fsencode(name))}?{mode}", uri=True, isolation_level=None)
    try:
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LINE_CAP)
        for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except REFUSED:
        connection.close()
        raise
    return connection


def open_database(path: str) -> Database:
    """A database as it lies, or a copy of it where its log holds more. Raises `Unreadable`."""
    state = look(path)
    return open_copy(path) if state.logged else Database(path, state, None)


def open_copy(path: str) -> Database:
    """A private copy of a database with its log, taken while its owner may write. Raises `Unreadable`."""
    folder = tempfile.TemporaryDirectory(prefix="skillopt-", ignore_cleanup_errors=True)
    try:
        for _ in range(COPIES):
            before = look(path)
            room_for(before, path, folder.name)
            copy(path, Path(folder.name) / "copy.db")
            if before.logged:
                copy(f"{path}-wal", Path(folder.name) / "copy.db-wal")
            if whole_copy(before, look(path)):
                return Database(path, before, folder)
        raise Unreadable(path, "its owner writes all the time; it is read next time")
    except BaseException:
        folder.cleanup()
        raise


def whole_copy(before: Rest, after: Rest) -> bool:
    """Whether what was copied between two looks is one state of a database."""
    if before == after:
        return True
    same = before.main.inode == after.main.inode and before.log.inode == after.log.inode
    return same and before.logged and before.log.head == after.log.head


def room_for(state: Rest, path: str, folder: str) -> None:
    size = state.main.size + state.log.size
    if size > COPY_CAP:
        raise Unreadable(
            path, f"{size} bytes with a log in use are more than is copied; it is read when its owner rests"
        )
    if size > shutil.disk_usage(folder).free // 2:
        raise Unreadable(path, f"no room for a temporary copy of {size} bytes")


def copy(path: str, to: Path) -> None:
    """Copy a file that only we may read. Raises `Unreadable`."""
    fd, _ = open_regular(path)
    try:
        with open(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123
            offset = 0
            while chunk := os.pread(fd, CHUNK, offset):
                file.write(chunk)
                offset += len(chunk)
    except OSError as problem:
        raise Unreadable(path, why(problem)) from problem
    finally:
        os.close(fd)
