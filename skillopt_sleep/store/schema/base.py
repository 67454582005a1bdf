"""The words in which the tables are written: one `MetaData`, and short names for the columns that come again.

Every table is STRICT. Times are UTC in milliseconds and end in `_ms`. Text that somebody wrote lies in `body`; other
tables name it by its digest, so that forgetting it in one place forgets it everywhere.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import REAL, CheckConstraint, Column, ForeignKey, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy import text as sql
from sqlalchemy.sql.schema import SchemaItem

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def table(name: str, *items: SchemaItem, **options: Any) -> Table:
    """A STRICT table of the store."""
    return Table(name, metadata, *items, sqlite_strict=True, **options)


def row_id() -> Column[int]:
    """`id`: SQLite's own row id, for rows that people never name."""
    return Column("id", Integer, primary_key=True)


def shown_id() -> Column[str]:
    """`id`: a short stable name that people see and type (`n-20261129-1`)."""
    return Column("id", Text, primary_key=True)


def text(name: str, default: str | None = "", **options: Any) -> Column[str]:
    """Text that is never null; empty where nothing is known, unless `default` is None: then it must be given."""
    return Column(name, Text, nullable=False, server_default=default, **options)


def maybe_text(name: str, **options: Any) -> Column[str]:
    return Column(name, Text, nullable=True, **options)


def json(name: str, default: str = "{}") -> Column[str]:
    """A JSON document of our own making."""
    return Column(name, Text, nullable=False, server_default=default)


def count(name: str, default: int = 0) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=sql(str(default)))


def whole(name: str) -> Column[int]:
    """A whole number that may be unknown."""
    return Column(name, Integer, nullable=True)


def flag(name: str) -> Column[int]:
    """0 or 1; null where it could not be told."""
    return Column(name, Integer, CheckConstraint(f"{name} IN (0, 1)", name=f"{name}_flag"), nullable=True)


def real(name: str) -> Column[float]:
    return Column(name, REAL, nullable=True)


def ms(name: str, *, required: bool = False) -> Column[int]:
    """A time: milliseconds since the epoch, UTC."""
    return Column(name, Integer, nullable=not required)


def digest(name: str) -> Column[bytes]:
    """16 bytes of BLAKE2b."""
    return Column(name, LargeBinary, nullable=True)


def body_ref(name: str = "body") -> Column[bytes]:
    """The digest of a body row; null where there is no text."""
    return Column(name, LargeBinary, ForeignKey("body.digest"), nullable=True)


def ref(name: str, target: str, *, required: bool = True, **options: Any) -> Column[Any]:
    """A foreign key; `target` is `table.column`."""
    return Column(name, ForeignKey(target), nullable=not required, **options)


def one_of(name: str, *allowed: str) -> CheckConstraint:
    """The closed set of a text column."""
    listed = ", ".join(f"'{word}'" for word in allowed)
    return CheckConstraint(f"{name} IN ({listed})", name=f"{name}_known")
