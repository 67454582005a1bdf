"""Bulk writing: SQL made once (from a Core statement where it is an insert) and run with tuples on SQLite's connection.

Core's own way of running an `insert()` takes as long as reading the transcripts does (bench/harvest.py).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from sqlalchemy import Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import Insert

TOGETHER: Final = 50
"""Rows that one statement carries: fewer turns between Python and SQLite."""

Row = tuple[Any, ...]
_DIALECT: Final = sqlite.dialect()


class Statement:
    """One statement, written with `?` for its values."""

    def __init__(self, sql: str) -> None:
        self.sql = sql

    def run(self, driver: sqlite3.Connection, *values: Any) -> sqlite3.Cursor:
        return driver.execute(self.sql, values)


class Bulk:
    """An INSERT of many rows; `columns` is the order of a row's values."""

    def __init__(self, into: Table, columns: Sequence[str], statement: Insert | None = None) -> None:
        named = (sqlite.insert(into) if statement is None else statement).values(dict.fromkeys(columns))
        sql = str(named.compile(dialect=_DIALECT, column_keys=list(columns)))
        places = "(" + ", ".join("?" * len(columns)) + ")"
        head, found, tail = sql.partition(places)
        if not found or "?" in tail:
            raise ValueError(f"not an INSERT of {len(columns)} plain values: {sql}")
        listed = ", ".join(_DIALECT.identifier_preparer.quote(name) for name in columns)
        head = head[: head.index("(")] + f"({listed}) VALUES "
        self._one = head + places + tail
        self._many = head + ", ".join([places] * TOGETHER) + tail

    def run(self, driver: sqlite3.Connection, rows: Sequence[Row]) -> int:
        """Insert the rows. Returns how many were inserted or changed."""
        before = driver.total_changes
        whole = len(rows) - len(rows) % TOGETHER
        for start in range(0, whole, TOGETHER):
            driver.execute(self._many, tuple(chain.from_iterable(rows[start : start + TOGETHER])))
        if whole < len(rows):
            driver.executemany(self._one, rows[whole:])
        return driver.total_changes - before
