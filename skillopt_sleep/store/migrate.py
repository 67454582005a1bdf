"""Bringing a store to the newest format. Imported only when one is due, as it loads Alembic."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
from contextlib import closing
from pathlib import Path

from alembic.command import upgrade
from alembic.config import Config
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool

from skillopt_sleep.store import files
from skillopt_sleep.store.version import APPLICATION, SCHEMA

SCRIPTS = Path(__file__).parent / "migrations"
_ALEMBIC = threading.Lock()
"""Alembic's context is one for the whole process."""


def create(path: Path) -> None:
    """A new, empty store at `path`; nothing happens where somebody was quicker."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(handle)
    draft = Path(name)
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            _upgrade(connection)
        _name(draft, path)
    finally:
        for ending in ("", "-journal"):
            files.beside(draft, ending).unlink(missing_ok=True)


def _name(draft: Path, path: Path) -> None:
    """Give the finished file its name, without ever taking it from another. Durable when it returns."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            draft.rename(path)
    files.sync_folder(path.parent)


def migrate(path: Path, connection: sqlite3.Connection) -> Path:
    """Upgrade an existing store after a copy of it was made. Returns the copy."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    copy = files.beside(path, f".before-{version + 1:04d}")
    copy_store(connection, copy)
    _upgrade(connection)
    return copy


def copy_store(connection: sqlite3.Connection, copy: Path) -> None:
    """A consistent copy of an open store, durable when this returns; one of that name is replaced at the end."""
    draft = files.beside(copy, ".part")
    draft.unlink(missing_ok=True)
    files.new_file(draft)
    try:
        with closing(sqlite3.connect(draft)) as target:
            connection.backup(target)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(copy)
    finally:
        draft.unlink(missing_ok=True)
    files.sync_folder(copy.parent)


def _upgrade(connection: sqlite3.Connection) -> None:
    """Run the migrations that are due, in one transaction, with the number of the newest."""
    engine = create_engine(
        "sqlite+pysqlite://", creator=lambda: connection, poolclass=StaticPool, isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as sql:
        sql.exec_driver_sql("PRAGMA foreign_keys = OFF")  # tables may have to be made anew
        sql.exec_driver_sql("BEGIN EXCLUSIVE")
        try:
            with _ALEMBIC:
                upgrade(_config(sql), "head")
            sql.exec_driver_sql(f"PRAGMA user_version = {SCHEMA}")
            sql.exec_driver_sql("COMMIT")
        except BaseException:
            if connection.in_transaction:
                sql.exec_driver_sql("ROLLBACK")
            raise
        sql.exec_driver_sql("PRAGMA foreign_keys = ON")


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
