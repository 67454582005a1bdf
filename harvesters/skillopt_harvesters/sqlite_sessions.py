"""Sessions inside another program's database: one source a file, one watermark a session.

One source a file, because finding is by name and place alone: unchanged costs a stat, and nothing is opened. Inside,
each session has a token (row counts, highest row ids and the like, compared for equality only) that says whether it
may have changed, and a fingerprint of each event that was given: of a session that grew, only what is new or other is
given again, and what is gone from it is withdrawn. A session that is gone as a whole stays with whoever stored it.

An event's `offset` is the number of its record within the session, its `length` the record's bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Protocol

import msgspec

from skillopt_harvesters.fold import Fold
from skillopt_harvesters.jsonl import REFUSED, Line
from skillopt_harvesters.model import Batch, Cursor, Event, Source, Trouble, Unreadable, Usage
from skillopt_harvesters.sqlite_ro import Database, look, open_copy, open_database
from skillopt_harvesters.turns import new_facts

EVERY = 64
"""Sessions after which the cursor moves: what it remembers grows with the database, and is not written for each."""
PRINT = 4
"""Bytes of an event's fingerprint."""


class Kept(msgspec.Struct, array_like=True):
    """What is remembered of a session: its token, the keys of what was given (compressed) and their fingerprints."""

    token: bytes
    keys: bytes = b""
    prints: bytes = b""


class Watermarks(msgspec.Struct):
    """What is remembered of a database. Names are bytes: they are compared, never shown."""

    sessions: dict[bytes, Kept] = {}


class Shelf(Protocol):
    """How one agent keeps its sessions in a database."""

    agent: str

    def check(self, database: Database) -> None:
        """Raises `Unreadable` where the tables are not those of this agent."""
        ...

    def sessions(self, database: Database) -> Iterator[tuple[str, bytes]]:
        """Native ids, each with a token that changes whenever the session may have changed."""
        ...

    def tell(self, database: Database, source: Source, name: str) -> Fold[Line]:
        """A session, told to its end. Raises `Unreadable`."""
        ...


_marks = msgspec.msgpack.Decoder(Watermarks)


def read_sessions(source: Source, cursor: Cursor | None, shelf: Shelf, parser: int) -> Iterator[Batch]:
    """A batch for each session that changed. Raises `Unreadable`."""
    signature = look(source.path).signature
    if cursor is not None and cursor.parser == parser and cursor.before == signature:
        return
    marks, at = restored(cursor, parser)
    with closing(Reading(source, shelf)) as reading:
        changed = reading.changed(marks)
        for number, (name, token) in enumerate(changed, 1):
            batch = reading.told(name)
            if batch.understood or not batch.warnings:
                keep_news(batch, marks, name, token)
            batch.more, batch.one_of_many = number < len(changed), True
            if number % EVERY == 0 or not batch.more:
                before = "" if batch.more else signature
                state = msgspec.msgpack.encode(marks)
                at = Cursor(offset=at.offset + reading.taken(), before=before, parser=parser, state=state)
            batch.cursor = at
            yield batch


class Reading:
    """One reading of a database as it lies; goes over to a copy where its owner begins to write. Close it."""

    def __init__(self, source: Source, shelf: Shelf) -> None:
        self._source = source
        self._shelf = shelf
        self._database = open_database(source.path)
        self._taken = 0

    def close(self) -> None:
        self._database.close()

    def taken(self) -> int:
        """Bytes of values that were read since it was last asked."""
        new, self._taken = self._database.taken - self._taken, self._database.taken
        return max(0, new)

    def changed(self, marks: Watermarks) -> list[tuple[str, bytes]]:
        """The sessions that may have changed."""
        try:
            self._shelf.check(self._database)
            sessions = self._shelf.sessions(self._database)
            found = [(name, token) for name, token in sessions if is_new(marks, name, token)]
        except Unreadable:
            if self._database.steady():
                raise
            found = []
        if self._database.steady():
            return found
        self._go_over()
        return self.changed(marks)

    def told(self, name: str) -> Batch:
        """All of a session, or a batch that holds nothing but a warning."""
        try:
            batch = self._shelf.tell(self._database, self._source, name).batch(Cursor(), more=False)
        except Unreadable as problem:
            batch = failed(self._shelf.agent, name, problem)
        if self._database.steady():
            return batch
        self._go_over()
        return self.told(name)

    def _go_over(self) -> None:
        self._database.close()
        self._database, self._taken = open_copy(self._source.path), 0


def standing(database: Database, statement: str, *values: str | bytes | int) -> tuple[Any, ...] | str | None:
    """A row, to be compared; where it cannot be read, why: it will be said when the session is told."""
    try:
        return database.row(statement, *values)
    except Unreadable as problem:
        if not database.steady():
            raise
        return problem.reason


def row_of(database: Database, turns: Fold[Line], statement: str, *values: str | bytes | int) -> tuple[Any, ...] | None:
    """A record's row, if it is there. One that cannot be read (it is too long, or damaged) costs only itself. Raises
    `Unreadable` where the database changed meanwhile."""
    try:
        return database.row(statement, *values)
    except Unreadable as problem:
        if not database.steady():
            raise
        turns.warn(0, f"a record cannot be read: {problem.reason}")
        turns.unknown += 1
        return None


def is_new(marks: Watermarks, name: str, token: bytes) -> bool:
    known = marks.sessions.get(named(name))
    return known is None or known.token != token


def named(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def failed(agent: str, name: str, problem: Unreadable) -> Batch:
    facts = new_facts(agent)
    facts.native_id = name
    trouble = Trouble(problem.path, 0, f"a session cannot be read: {problem.reason}")
    return Batch(session=facts, events=[], usage=[], cursor=Cursor(), warnings=[trouble])


def keep_news(batch: Batch, marks: Watermarks, name: str, token: bytes) -> None:
    """Leave in a batch what was not given before, withdraw what is there no longer, and remember all of it."""
    before = given(marks.sessions.get(named(name)))
    now = {event.key: fingerprint(event) for event in batch.events}
    spent = {f"\0{usage.key}": fingerprint(usage) for usage in batch.usage}
    batch.events = [event for event in batch.events if before.get(event.key) != now[event.key]]
    batch.usage = [usage for usage in batch.usage if before.get(f"\0{usage.key}") != spent[f"\0{usage.key}"]]
    batch.withdrawn = [key for key in before if key not in now and not key.startswith("\0")]
    marks.sessions[named(name)] = kept(token, {**now, **spent})


def fingerprint(given: Event | Usage) -> bytes:
    return zlib.crc32(msgspec.msgpack.encode(given)).to_bytes(PRINT, "big")


def kept(token: bytes, prints: Mapping[str, bytes]) -> Kept:
    keys = msgspec.msgpack.encode(list(prints))
    return Kept(token, zlib.compress(keys, 6), b"".join(prints.values()))


def given(known: Kept | None) -> dict[str, bytes]:
    """The fingerprints of what was given of a session, by key; nothing where that cannot be told any more."""
    if known is None or not known.keys:
        return {}
    try:
        keys = msgspec.msgpack.decode(zlib.decompress(known.keys), type=list[str])
    except (zlib.error, *REFUSED):
        return {}
    return {key: known.prints[n * PRINT : (n + 1) * PRINT] for n, key in enumerate(keys)}


def restored(cursor: Cursor | None, parser: int) -> tuple[Watermarks, Cursor]:
    """What is remembered, and the cursor that holds as long as there is no newer one."""
    if cursor is not None and cursor.parser == parser and cursor.state:
        try:
            marks = _marks.decode(cursor.state)
            return marks, Cursor(offset=cursor.offset, parser=parser, state=cursor.state)
        except REFUSED:
            pass
    return Watermarks(), Cursor(parser=parser)
