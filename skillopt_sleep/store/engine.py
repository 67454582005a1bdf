"""The store itself: one SQLite file, one connection, one writer.

`synchronous` is FULL, also in WAL, where NORMAL may lose the last transactions in a power cut (never in a kill): what
was reserved must survive both. It costs one fsync a transaction, and a harvest has one for 64 files. What may be done
again, at a price but within every limit (answers, attempts), waits for it four times a second at most (together.py).
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from sqlalchemy import Connection, CursorResult, Engine, create_engine
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.base import Executable

from skillopt_sleep.clock import DAY_MS, Clock
from skillopt_sleep.domain.sessions import StoredSession
from skillopt_sleep.errors import NotFound, StoreError
from skillopt_sleep.store import files, sessions
from skillopt_sleep.store.failures import speaking
from skillopt_sleep.store.interrupts import held_back
from skillopt_sleep.store.together import Covered, Together, Work

T = TypeVar("T")

BUSY_MS: Final = 10_000
"""How long a write waits for another process's: longer than any transaction of ours."""
CACHE_KB: Final = 16_384
CHECKPOINT: Final = 8000
"""Pages (32 MB) after which the journal is written back: the indexes of a harvest are then written a few times only."""
SMALL: Final = 32 << 20
"""A store up to this size (bytes) is checked at each opening; a larger one after an unclean end and once a day."""

Rows = Sequence[tuple[Any, ...]]


class Store:
    """An open store. Use it as a context manager; `warnings` say what is not as it should be.

    Threads may share it: a transaction is held by one at a time, and signals wait for its end.
    """

    def __init__(self, path: Path, clock: Clock, engine: Engine, *, read_only: bool, warnings: tuple[str, ...]) -> None:
        self.path = path
        self.clock = clock
        self.read_only = read_only
        self.warnings = warnings
        self._engine = engine
        self._lock = threading.RLock()
        self._depth = 0
        self._writer: int | None = None
        self._connection = engine.connect()
        self._unsynced = False
        (mode,) = self.driver.execute("PRAGMA journal_mode").fetchone()
        self._wal = mode == "wal"
        self._together = Together(self._transaction)
        self._last: list[Work[object]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        try:
            if not self.read_only:
                self._finish()
        finally:
            self._close()

    def _finish(self) -> None:
        """Write what was put off; all of it is on the disk then."""
        if self._last:
            for work in self._last:
                self.later(work)
            self._last = []
            self.together(lambda _: None)
        self.flush()

    def _close(self) -> None:
        self._connection.close()
        self._engine.dispose()

    def write(self) -> AbstractContextManager[Connection]:
        """One transaction: all of it is stored, and durable, when the block ends; none of it if it raises.

        Blocks may nest; the outermost one commits.
        """
        return self._transaction(lambda: False)

    @contextmanager
    def _transaction(self, unsynced: Callable[[], bool]) -> Iterator[Connection]:
        with held_back(), self._lock, speaking(self.path):
            if self._depth == 0:
                self._sync(unsynced() and self._wal)
                self._connection.exec_driver_sql("BEGIN IMMEDIATE")
            self._depth += 1
            self._writer = threading.get_ident()
            try:
                yield self._connection
            except BaseException:
                self._leave()
                self._give_up()
                raise
            self._leave()
            if self._depth == 0:
                self._keep()

    def _sync(self, unsynced: bool) -> None:
        """Whether the next commit waits for the disk. Nothing is said twice: it is a statement of its own."""
        if unsynced != self._unsynced:
            self._connection.exec_driver_sql(f"PRAGMA synchronous = {'NORMAL' if unsynced else 'FULL'}")
            self._unsynced = unsynced

    def together(self, work: Work[T], covered: Covered = lambda: False) -> T:
        """Small work of one of several threads, in a transaction with what the others have waiting; committed after it.

        `work` is given the connection. Inside `write` it is part of that transaction. It is durable by then, unless it
        is `covered`: then a power cut may take what was done in the last quarter of a second.
        """
        if self._writer == threading.get_ident():
            return work(self._connection)
        return self._together.do(work, covered)

    @property
    def syncs(self) -> int:
        """How often small work has waited for the disk: what was committed before the last time is on it."""
        return self._together.syncs

    def at_close(self, work: Work[object]) -> None:
        """Do this last, before the store is closed in good order."""
        self._last.append(work)

    def later(self, work: Work[object]) -> None:
        """As `together`, without waiting: durable with the next one, with `flush`, or when the store is closed."""
        if self._writer == threading.get_ident():
            work(self._connection)
        else:
            self._together.add(work)

    def flush(self) -> None:
        """Write what was put off."""
        if self._writer != threading.get_ident():
            self._together.flush()

    def _leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._writer = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """The connection, for statements that change nothing. Inside `write` it sees what was written so far."""
        with held_back(), self._lock, speaking(self.path):
            yield self._connection

    def rows(self, statement: Executable, parameters: dict[str, Any] | None = None) -> Sequence[Any]:
        """All rows of one statement."""
        with self.read() as connection:
            return connection.execute(statement, parameters or {}).fetchall()

    def run(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]:
        """One changing statement, in the open transaction or in one of its own."""
        with self.write() as connection:
            return connection.execute(statement, parameters or {})

    def sessions(self, origin: str = "interactive", id: str | None = None) -> Iterator[dict[str, Any]]:  # noqa: A002
        """`sessions.session_documents`: one document a session, as cli.md writes it."""
        return sessions.session_documents(self, origin, id)

    def stored_sessions(
        self, project: str | None = None, since_ms: int | None = None, origins: Sequence[str] = ("interactive",)
    ) -> Iterator[StoredSession]:
        """`sessions.stored_sessions`: the miner's input, oldest session first."""
        return sessions.stored_sessions(self, project, since_ms, origins)

    def projects(self) -> list[dict[str, Any]]:
        """`sessions.projects`: roots with their sessions, the last used first."""
        return sessions.projects(self)

    @property
    def driver(self) -> sqlite3.Connection:
        """SQLite's own connection, for bulk work inside `write`."""
        driver = self._connection.connection.driver_connection
        if not isinstance(driver, sqlite3.Connection):
            raise StoreError("the store is closed", where=str(self.path))
        return driver

    def _keep(self) -> None:
        try:
            self._connection.exec_driver_sql("COMMIT")
        except BaseException:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Roll back, unless SQLite has done so itself (a full disk) or an outer block still has to raise."""
        if self._depth == 0 and self.driver.in_transaction:
            self._connection.exec_driver_sql("ROLLBACK")


def open_store(
    path: Path,
    clock: Clock,
    *,
    read_only: bool = False,
    file_system: Callable[[Path], str] = files.file_system,
) -> Store:
    """Open the store at `path`, making and migrating it as needed; `read_only` does neither.

    Raises `NotFound` where a read-only one is not there, and `StoreError` for one that is damaged, newer than this
    version, not ours, or cannot be reached. `file_system` names what a folder lies on.
    """
    if read_only:
        return _open_to_read(path, clock)
    files.make_folder(path.parent)
    with speaking(path):
        if not path.exists():
            _create(path)
        files.must_be_a_database(path)
        files.keep_private(path)
        connection = _connect(path)
        try:
            warnings = _prepare(path, connection, clock, file_system(path.parent))
        except BaseException:
            connection.close()
            raise
        return Store(path, clock, _engine(connection), read_only=False, warnings=warnings)


def _open_to_read(path: Path, clock: Clock) -> Store:
    if not path.exists():
        raise NotFound("there is no store yet", where=str(path), remedy="Run `skillopt-sleep harvest` first")
    files.must_be_a_database(path)
    with speaking(path):
        connection = _connect(path, mode=_readable(path))
        try:
            connection.execute("PRAGMA query_only = ON")
            if _due(path, connection):
                raise StoreError(
                    "the store was made by an older version",
                    where=str(path),
                    remedy="Run `skillopt-sleep harvest` to bring it up to date",
                )
        except BaseException:
            connection.close()
            raise
        return Store(path, clock, _engine(connection), read_only=True, warnings=())


def _readable(path: Path) -> str:
    """To read a store in WAL mode SQLite makes files beside it; where it may not, and no writer left any, none are
    needed."""
    alone = not os.access(path.parent, os.W_OK) and not files.beside(path, "-wal").exists()
    return "ro&immutable=1" if alone else "ro"


def _connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """SQLite's connection with our settings. Transactions are ours: the driver begins none."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000
    )
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _engine(connection: sqlite3.Connection) -> Engine:
    return create_engine(
        "sqlite+pysqlite://", creator=lambda: connection, poolclass=StaticPool, isolation_level="AUTOCOMMIT"
    )


def _create(path: Path) -> None:
    """A new store under another name, whole before it gets its own: a store is never seen half made.

    Whoever comes second to the name uses what the first has made.
    """
    from skillopt_sleep.store.migrate import create

    files.must_not_be_lost(path)
    create(path)


def _prepare(path: Path, connection: sqlite3.Connection, clock: Clock, kind: str) -> tuple[str, ...]:
    if _due(path, connection):
        from skillopt_sleep.store.migrate import migrate

        files.must_be_whole(path, connection)
        migrate(path, connection)
    warnings = _set_journal(path, connection, kind)
    _check(path, connection, clock)
    return warnings


def _due(path: Path, connection: sqlite3.Connection) -> bool:
    """Whether a migration is due. Raises `StoreError` for a newer store and for somebody else's database."""
    from skillopt_sleep.store.version import APPLICATION, SCHEMA

    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(
            "the file is a database of another program", where=str(path), remedy="Name another folder with --home"
        )
    if version > SCHEMA:
        raise StoreError(
            f"the store has format {version}, this version knows {SCHEMA} at most",
            where=str(path),
            remedy="Update skillopt-sleep",
        )
    return bool(version < SCHEMA)


def _set_journal(path: Path, connection: sqlite3.Connection, kind: str) -> tuple[str, ...]:
    """WAL where the file system allows it, and what was said to have been applied is verified."""
    wanted = "delete" if files.is_remote(kind) else "wal"
    (applied,) = connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()
    if wanted == "wal" and applied != "wal":
        (applied,) = connection.execute("PRAGMA journal_mode = delete").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    if applied == "wal":
        return ()
    if applied != "delete":
        raise StoreError(
            f"SQLite keeps its journal in mode {applied}, which loses data in a power cut",
            where=str(path),
            remedy="Close what else has the store open and try again",
        )
    where = f"a file system of type {kind}" if kind else "a file system without shared memory"
    return (f"{path} lies on {where}: slower, and only one process at a time may use it. Use a local disk (--home)",)


def _check(path: Path, connection: sqlite3.Connection, clock: Clock) -> None:
    """Look for damage where that is cheap or due (`SMALL`)."""
    now = clock.now_ms()
    row = connection.execute("SELECT value FROM setting WHERE name = 'checked_ms'").fetchone()
    if path.stat().st_size > SMALL and row is not None and 0 <= now - int(row[0]) < DAY_MS:
        return
    files.must_be_whole(path, connection)
    if path.stat().st_size > SMALL:
        upsert = "INSERT INTO setting VALUES ('checked_ms', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        connection.execute(upsert, (str(now),))
