"""Tokens of messages: a packed row for what one reading gave of a session, in place of a row a message.

Rows are carried over, one pack a session, with the key of each message and the session that it counts for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

PAGE = 10_000
"""Rows held at a time, besides those of one session."""
OLD = (
    "SELECT id >> 26, key, message, input, output, cache_read, cache_write, model, at_ms FROM usage_0001 "
    "WHERE id > ? ORDER BY id LIMIT ?"
)


def upgrade() -> None:
    op.execute("ALTER TABLE usage RENAME TO usage_0001")
    for statement in filter(str.strip, Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n")):
        op.execute(statement)
    connection = op.get_bind()
    for session, rows in groupby(_old_rows(connection), key=lambda row: row[0]):
        held = [tuple(row) for row in rows]
        messages = [(key, session) for _, key, *_ in held]
        connection.exec_driver_sql("INSERT INTO message (key, session_id) VALUES (?, ?)", messages)
        tokens = msgspec.msgpack.encode([row[2:] for row in held])
        connection.exec_driver_sql("INSERT INTO usage (session_id, tokens) VALUES (?, ?)", (session, tokens))
    op.execute("DROP TABLE usage_0001")
    op.execute("ALTER TABLE session DROP COLUMN messages")


def _old_rows(connection: Any) -> Iterator[tuple[Any, ...]]:
    last = -1
    query = OLD.replace("SELECT id >> 26", "SELECT id >> 26 AS session, id", 1)
    while page := connection.exec_driver_sql(query, (last, PAGE)).fetchall():
        last = page[-1][1]
        yield from ((row[0], *row[2:]) for row in page)
