"""Sources: what is known of each file, what has changed, where to go on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import func, select

from skillopt_harvesters.model import Cursor, Source
from skillopt_sleep.store import intake_sql as sql
from skillopt_sleep.store.bodies import released
from skillopt_sleep.store.compiled import Statement
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import session, source

Key = tuple[str, str]
"""Agent and path text."""


class KnownSource(NamedTuple):
    """A row of `source`, as far as a listing needs it."""

    agent: str
    path: str
    size: int
    mtime_ns: int
    inode: int
    id: int
    state: str
    why: str


_AS_KNOWN: Final[Callable[[Sequence[Any]], KnownSource]] = partial(tuple.__new__, KnownSource)
_KNOWN: Final = Statement("SELECT agent, path, size, mtime_ns, inode, id, state, why FROM source")
_LISTING: Final = Statement("SELECT value FROM setting WHERE name = 'listing'")
_NOTE_LISTING: Final = Statement("INSERT OR REPLACE INTO setting (name, value) VALUES ('listing', ?)")
_CURSOR: Final = Statement("SELECT offset, before, parser, reader_state FROM source WHERE agent = ? AND path = ?")
_COUNTED: Final = "s.origin = 'interactive' AND s.twin_of IS NULL AND s.forgotten_ms IS NULL"
_ALL_SESSIONS: Final = Statement(
    f"SELECT COUNT(*) FROM session AS s WHERE {_COUNTED} AND EXISTS "  # noqa: S608  # our own words
    "(SELECT 1 FROM session_source AS ss WHERE ss.session_id = s.id)"
)
_SESSIONS_THERE: Final = Statement(
    f"SELECT COUNT(*) FROM session AS s WHERE {_COUNTED} AND EXISTS (SELECT 1 FROM session_source AS ss "  # noqa: S608
    "JOIN source AS so ON so.id = ss.source_id WHERE ss.session_id = s.id AND so.state <> 'gone')"
)
_SESSIONS: Final = Statement(
    "SELECT COUNT(DISTINCT ss.session_id) FROM session_source AS ss JOIN session AS s ON s.id = ss.session_id "  # noqa: S608
    f"WHERE {_COUNTED} AND +ss.source_id IN (SELECT value FROM json_each(?))"  # the plus: no scan for each value
)


def path_text(path: str) -> str:
    """A path as text that SQLite takes: bytes that are no UTF-8 are written as `\\xff`."""
    if path.isascii():
        return path
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def signed(number: int) -> int:
    """An inode or device as SQLite's 64-bit number."""
    return number if number < 1 << 63 else number - (1 << 64)


def known_sources(store: Store) -> dict[Key, KnownSource]:
    """All sources ever seen, by agent and path: one select."""
    with store.read():
        rows = _KNOWN.run(store.driver).fetchall()
    return {(row[0], row[1]): _AS_KNOWN(row) for row in rows}


@contextmanager
def source_rows(store: Store) -> Iterator[None]:
    """A transaction that changes what is known of sources: no listing is one that was seen before any more."""
    with store.write():
        sql.FORGET_LISTING.run(store.driver)
        yield


class Seen(NamedTuple):
    """The last listing of which every source was as the store had it: its digest, and how many sources besides those
    the store knows, all of them gone."""

    digest: str
    besides: int


def seen_listing(store: Store) -> Seen | None:
    """None where rows of sources have changed since."""
    with store.read():
        row = _LISTING.run(store.driver).fetchone()
    return Seen(*json.loads(row[0])) if row else None


def note_listing(store: Store, seen: Seen) -> None:
    with store.write():
        _NOTE_LISTING.run(store.driver, json.dumps(seen))


def cursor_of(store: Store, source: Source) -> Cursor | None:
    """Where reading a source stopped; None where it was never read."""
    with store.read():
        row = _CURSOR.run(store.driver, source.agent, path_text(source.path)).fetchone()
    if row is None or not (row[0] or row[3]):
        return None
    return Cursor(offset=row[0], before=row[1], parser=row[2], state=released(row[3]))


def save_source(driver: sqlite3.Connection, source: Source, state: str, why: str, now: int) -> tuple[int, str]:
    """Make or renew the row of a source, in the open transaction. Returns its id and its column `skipped`.

    Size and times are kept only where the source was read to its end, so that one left half-way is changed for ever.
    """
    whole = state in {"read", "excluded"}
    name = (source.agent, path_text(source.path), source.root, signed(source.device), signed(source.inode))
    stat = (source.size, source.mtime_ns) if whole else (-1, 0)
    number, skipped = sql.SOURCE.run(driver, *name, *stat, state, why, now).fetchone()
    return number, skipped


def mark_waiting(store: Store, sources: Iterable[Source]) -> None:
    """These were seen and not read: a cap was reached. Where reading one of them stopped is kept."""
    with source_rows(store):
        for one in sources:
            save_source(store.driver, one, "pending", "", store.clock.now_ms())


def mark_excluded(store: Store, sources: Iterable[Source], why: str) -> None:
    """These waited and are no longer to be read; `why` is the digest of the patterns that leave them out."""
    with source_rows(store):
        for one in sources:
            save_source(store.driver, one, "excluded", why, store.clock.now_ms())


def waiting(store: Store) -> int:
    """How many sources were seen and are still to be read, or read to their end."""
    return int(store.rows(select(func.count()).where(source.c.state == "pending"))[0][0])


def mark_gone(store: Store, sources: Iterable[int]) -> None:
    """These are no longer there. Their sessions stay: the store is the memory."""
    with source_rows(store):
        for source in sources:
            sql.GONE.run(store.driver, store.clock.now_ms(), source)


def sessions_of(store: Store, sources: AbstractSet[int] | None) -> int:
    """How many interactive sessions these sources (row ids) hold; None for all that there are."""
    with store.read():
        if sources is None:
            return int(_ALL_SESSIONS.run(store.driver).fetchone()[0])
        return int(_SESSIONS.run(store.driver, json.dumps(list(sources))).fetchone()[0])


def sessions_there(store: Store) -> int:
    """How many interactive sessions are held by sources that are not gone."""
    with store.read():
        return int(_SESSIONS_THERE.run(store.driver).fetchone()[0])


def understood_of(store: Store) -> dict[Key, tuple[str, int]]:
    """State of each source, and how many of its records were understood."""
    rows = store.rows(select(source.c.agent, source.c.path, source.c.state, source.c.understood))
    return {(agent, path): (state, understood or 0) for agent, path, state, understood in rows}


def understood_by_agent(store: Store) -> dict[str, tuple[str, float | None]]:
    """For each agent the newest version seen and the share of its records that were understood (None: none read)."""
    counted = select(source.c.agent, func.sum(source.c.understood), func.sum(source.c.unknown)).group_by(source.c.agent)
    newest = select(session.c.agent, session.c.agent_version).where(session.c.agent_version != "")
    versions = {row[0]: row[1] for row in store.rows(newest.order_by(session.c.ended_ms))}
    found: dict[str, tuple[str, float | None]] = {}
    for agent, understood, unknown in store.rows(counted):
        records = (understood or 0) + (unknown or 0)
        found[agent] = (versions.get(agent, ""), understood / records if records else None)
    return found
