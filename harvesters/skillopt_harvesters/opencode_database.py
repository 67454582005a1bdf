"""OpenCode's database: tables `session`, `message` and `part`, the last two with their record as JSON in `data`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillopt_harvesters.content import decoded
from skillopt_harvesters.jsonl import Line
from skillopt_harvesters.model import Source
from skillopt_harvesters.opencode_session import AGENT, OpenCodeTurns
from skillopt_harvesters.opencode_shapes import Message, Part, Revert, Session, Times
from skillopt_harvesters.simple_turns import SimpleTurns
from skillopt_harvesters.sqlite_ro import Database
from skillopt_harvesters.sqlite_sessions import row_of, standing

PARSER = 1
ROWS = "SELECT count(*), max(rowid), total(time_updated) FROM message WHERE session_id = ?"
PARTS = "SELECT count(*), max(rowid), total(time_updated) FROM part WHERE session_id = ?"


class Sessions:
    """The `Shelf` of OpenCode."""

    agent = AGENT

    def check(self, database: Database) -> None:
        database.require("session", "id", "directory")
        database.require("message", "id", "session_id", "time_created", "time_updated", "data")
        database.require("part", "id", "message_id", "session_id", "time_updated", "data")

    def sessions(self, database: Database) -> Iterator[tuple[str, bytes]]:
        """The token sums up when each row was changed last; a row is changed in place while its tool runs."""
        for (name,) in database.rows("SELECT id FROM session ORDER BY rowid"):
            if isinstance(name, bytes):
                own = standing(database, "SELECT * FROM session WHERE id = ?", text(name))
                tokens = (own, database.row(ROWS, text(name)), database.row(PARTS, text(name)))
                yield text(name), repr(tokens).encode("utf-8", "replace")

    def tell(self, database: Database, source: Source, name: str) -> SimpleTurns[Line]:
        turns = OpenCodeTurns(source, name)
        turns.known(session_of(name, database.named("SELECT * FROM session WHERE id = ?", name) or {}))
        messages = "SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id"
        for key in [row[0] for row in database.rows(messages, name)]:
            message, length = read(database, turns, "SELECT data FROM message WHERE id = ?", key, Message)
            if message is None:
                continue
            message.id = text(key)
            told = list(parts_of(database, turns, key))
            turns.message(message, [part for part, _ in told], length + sum(size for _, size in told))
        turns.leave_open()
        return turns


def parts_of(database: Database, turns: OpenCodeTurns, message: Any) -> Iterator[tuple[Part, int]]:
    keys = [row[0] for row in database.rows("SELECT id FROM part WHERE message_id = ? ORDER BY id", text(message))]
    for key in keys:
        part, length = read(database, turns, "SELECT data FROM part WHERE id = ?", key, Part)
        if part is not None:
            part.id = text(key)
            yield part, length


def read(database: Database, turns: OpenCodeTurns, statement: str, key: Any, shape: type[Any]) -> tuple[Any, int]:
    """The record of a row and its bytes."""
    found = row_of(database, turns, statement, text(key))
    if found is None:
        return None, 0
    record = decoded(shape, found[0])
    if record is None:
        turns.unknown += 1
        turns.skipped["not JSON"] += 1
        return None, 0
    return record, len(found[0])


def session_of(name: str, row: dict[str, Any]) -> Session:
    """A session's row as the record that the files hold."""
    revert = row.get("revert")
    return Session(
        id=name,
        parent=text(row["parent_id"]) if row.get("parent_id") else None,
        directory=text(row.get("directory")),
        title=text(row.get("title")),
        version=text(row.get("version")),
        time=Times(created=number(row.get("time_created")), updated=number(row.get("time_updated"))),
        revert=decoded(Revert, revert) if revert else None,
    )


def text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) else None
