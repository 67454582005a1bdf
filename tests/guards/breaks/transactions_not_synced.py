"""The store does not wait for the disk."""

import sqlite3
from pathlib import Path

from skillopt_sleep.store import engine

_set = engine._set_journal


def _off(path: Path, connection: sqlite3.Connection, kind: str) -> tuple[str, ...]:
    warnings = _set(path, connection, kind)
    connection.execute("PRAGMA synchronous = OFF")
    return warnings


engine._set_journal = _off
