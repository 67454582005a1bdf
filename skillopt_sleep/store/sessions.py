"""Reading sessions: for the miner, and as the JSON that people and scripts see (cli.md, `sessions`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from skillopt_sleep.clock import iso
from skillopt_sleep.domain.sessions import StoredEvent, StoredSession, session_name
from skillopt_sleep.store.bodies import LOST, Words, stretch_words
from skillopt_sleep.store.compiled import Statement
from skillopt_sleep.store.schema.harvest import SEQUENCE_BITS, SEQUENCE_MASK
from skillopt_sleep.store.tokens import Tokens, unpacked

if TYPE_CHECKING:
    from skillopt_sleep.store.engine import Store

TYPED: Final = frozenset({"prompt", "queued", "command", "rejection"})
"""Kinds of events that a person typed, as far as `sessions` lists them."""
ORIGINS: Final = ("interactive", "headless", "subagent", "own")

_LIST: Final = Statement(
    "SELECT s.id, s.name, s.agent, s.native_id, s.origin, coalesce(p.root, '') AS project, s.cwd, s.branch, "
    "s.head_commit, s.agent_version, s.models, s.started_ms, s.ended_ms "
    "FROM session AS s LEFT JOIN project AS p ON p.id = s.project_id "
    "WHERE s.twin_of IS NULL AND s.forgotten_ms IS NULL "
    "AND s.origin IN (SELECT value FROM json_each(?1)) "
    "AND (?2 IS NULL OR s.name = ?2 OR s.native_id = ?2) "
    "AND (?3 IS NULL OR p.root = ?3 OR p.id IN (SELECT project_id FROM project_alias WHERE path = ?3)) "
    "AND (?4 IS NULL OR s.ended_ms >= ?4) "
    "ORDER BY s.started_ms, s.name"
)
_EVENTS: Final = Statement(
    "SELECT e.id, e.kind, e.author, e.at_ms, e.tool, e.outcome, e.stretch_id, e.place, e.offset "
    "FROM event AS e WHERE e.id BETWEEN ? AND ? AND e.kind <> 'withdrawn'"
)
_STRETCHES: Final = Statement(
    "SELECT st.id, st.source_id, b.codec, b.bytes FROM stretch AS st JOIN body AS b ON b.digest = st.body "
    "WHERE st.session_id = ?"
)
_TOKENS: Final = Statement("SELECT tokens FROM usage WHERE session_id = ? ORDER BY id")
_SOURCES: Final = Statement(
    "SELECT so.path, so.gone_ms IS NOT NULL FROM session_source AS ss JOIN source AS so ON so.id = ss.source_id "
    "WHERE ss.session_id = ? ORDER BY so.gone_ms IS NOT NULL, ss.relation = 'copy', so.id DESC LIMIT 1"
)
_AGENTS: Final = Statement(
    "SELECT DISTINCT s.agent FROM session AS s JOIN project AS p ON p.id = s.project_id "
    "WHERE p.root = ? AND s.origin = 'interactive' AND s.forgotten_ms IS NULL"
)
_FORKS: Final = Statement("SELECT agent, native_id, fork_of FROM session WHERE fork_of <> ''")
_ENDED: Final = Statement(
    "SELECT name FROM session WHERE forgotten_ms IS NULL AND coalesce(ended_ms, started_ms, first_seen_ms) < ? "
    "ORDER BY coalesce(ended_ms, started_ms, first_seen_ms), name"
)
_PROJECTS: Final = Statement(
    "SELECT p.root, count(*), min(s.started_ms), max(s.ended_ms) FROM session AS s "
    "JOIN project AS p ON p.id = s.project_id WHERE s.twin_of IS NULL AND s.forgotten_ms IS NULL "
    "AND s.origin = 'interactive' GROUP BY p.id ORDER BY max(s.ended_ms) DESC, p.root"
)


def stored_sessions(
    store: Store, project: str | None = None, since_ms: int | None = None, origins: Sequence[str] = ("interactive",)
) -> Iterator[StoredSession]:
    """Sessions with their events, oldest first. `project` is a root or a folder known to belong to one.

    Events come in the order of their file; `seq` counts them from 0. A session is whole in itself: nothing is held
    open between two of them, so a caller may write meanwhile.
    """
    forks = _forks(store)
    for row in _listed(store, None, project, since_ms, origins):
        events = _events(store, row[0], row[1])
        times = [event.at_ms for event in events if event.at_ms is not None]
        started = row[11] if row[11] is not None else min(times, default=0)
        ended = row[12] if row[12] is not None else max(times, default=started)
        output = {message: took.output for message, took in _tokens(store, row[0]).items()}
        yield StoredSession(
            id=row[1],
            agent=row[2],
            native_id=row[3],
            origin=row[4],
            project=row[5],
            cwd=row[6],
            branch=row[7],
            head_commit=row[8],
            agent_version=row[9],
            started_ms=started,
            ended_ms=ended,
            events=events,
            output_by_message=output,
            family=_family(forks, row[2], row[3]),
        )


def _forks(store: Store) -> dict[tuple[str, str], str]:
    """From which session each resume or fork went out, by agent and native id."""
    with store.read():
        return {(agent, native): before for agent, native, before in _FORKS.run(store.driver)}


def _family(forks: Mapping[tuple[str, str], str], agent: str, native: str) -> str:
    """The first session that one goes back to, also where that was never read; "" for one that began by itself."""
    first, seen = native, set[str]()
    while (before := forks.get((agent, first))) and first not in seen:
        seen.add(first)
        first = before
    return "" if first == native else session_name(agent, first)


def session_documents(store: Store, origin: str = "interactive", name: str | None = None) -> Iterator[dict[str, Any]]:
    """One document a session (cli.md, `sessions`). `origin` may be `all`; `name` is our id or the agent's own."""
    origins = ORIGINS if origin == "all" or name is not None else (origin,)
    for row in _listed(store, name, None, None, origins):
        yield _document(store, row)


def ended_before(store: Store, at_ms: int) -> list[str]:
    """Our ids of sessions, of whatever origin, in which nothing was said since; the oldest first."""
    with store.read():
        return [name for (name,) in _ENDED.run(store.driver, at_ms).fetchall()]


def projects(store: Store) -> list[dict[str, Any]]:
    """Projects with interactive sessions, the last used first: root, sessions, first and last time (ms UTC)."""
    with store.read():
        rows = _PROJECTS.run(store.driver).fetchall()
    return [{"project": root, "sessions": n, "first_ms": first, "last_ms": last} for root, n, first, last in rows]


def agents_of(store: Store, root: str) -> frozenset[str]:
    """The agents with which a person worked in a project."""
    with store.read():
        return frozenset(agent for (agent,) in _AGENTS.run(store.driver, root))


def _listed(
    store: Store, name: str | None, project: str | None, since_ms: int | None, origins: Sequence[str]
) -> list[tuple[Any, ...]]:
    with store.read():
        return _LIST.run(store.driver, json.dumps(list(origins)), name, project, since_ms).fetchall()


def _span(session: int) -> tuple[int, int]:
    """The row ids of a session's events."""
    return session << SEQUENCE_BITS, (session << SEQUENCE_BITS) | SEQUENCE_MASK


def _tokens(store: Store, session: int) -> dict[str, Tokens]:
    """Of each message of a session."""
    with store.read():
        packs = _TOKENS.run(store.driver, session).fetchall()
    return unpacked(pack for (pack,) in packs)


def _events(store: Store, session: int, name: str) -> tuple[StoredEvent, ...]:
    """A session's events in the order of their file.

    Rows are numbered in the order in which they were stored, and an answer that was provisional keeps its number; so
    the order is that of the sources as they were first read, and within one that of the records.
    """
    with store.read():
        rows = _EVENTS.run(store.driver, *_span(session)).fetchall()
        stretches = _STRETCHES.run(store.driver, session).fetchall()
    rank: dict[int, int] = {}
    place = {stretch: rank.setdefault(source, len(rank)) for stretch, source, _, _ in stretches}
    rows.sort(key=lambda row: (place[row[6]], row[8], row[0]))
    words = _Shelf({stretch: (codec, content) for stretch, _, codec, content in stretches})
    return tuple(_event(name, seq, row, words.at(row[6], row[7])) for seq, row in enumerate(rows))


def _event(session: str, seq: int, row: tuple[Any, ...], said: Words) -> StoredEvent:
    return StoredEvent(
        row[0],
        session,
        seq,
        row[1],
        row[2],
        row[3],
        said.text,
        said.call_id,
        row[4],
        said.arguments,
        row[5],
        said.output_length,
        said.output_digest,
        said.head,
        said.message_id,
        said.agent_id,
    )


class _Shelf:
    """The words of a session's stretches, unpacked when first asked for."""

    def __init__(self, packed: Mapping[int, tuple[str, bytes]]) -> None:
        self._packed = packed
        self._open: dict[int, list[Words] | None] = {}

    def at(self, stretch: int, place: int) -> Words:
        if stretch not in self._open:
            self._open[stretch] = stretch_words(*self._packed[stretch])
        found = self._open[stretch]
        return LOST if found is None else found[place]


def _document(store: Store, row: tuple[Any, ...]) -> dict[str, Any]:
    events = _events(store, row[0], row[1])
    calls = [event for event in events if event.kind == "call"]
    typed = [event for event in events if event.kind in TYPED]
    return {
        "format": 1,
        "id": row[1],
        "agent": row[2],
        "native_id": row[3],
        "origin": row[4],
        "project": row[5] or None,
        "cwd": row[6] or None,
        "branch": row[7] or None,
        "agent_version": row[9] or None,
        "models": json.loads(row[10]),
        "started": iso(row[11]),
        "ended": iso(row[12]),
        "source": _source(store, row[0]),
        "prompts": [{"text": event.text, "at": iso(event.at_ms), "kind": event.kind} for event in typed],
        "answers": sum(event.kind == "answer" for event in events),
        "tool_calls": len(calls),
        "tool_errors": sum(event.outcome == "error" for event in calls),
        "interrupts": sum(event.kind == "interrupt" for event in events),
        "tokens": _token_counts(_tokens(store, row[0]).values()),
    }


def _source(store: Store, session: int) -> dict[str, Any]:
    with store.read():
        row = _SOURCES.run(store.driver, session).fetchone()
    return {"path": row[0], "gone": bool(row[1])} if row else {"path": None, "gone": None}


def _token_counts(messages: Collection[Tokens]) -> dict[str, int | None]:
    """Sums over messages; null where the agent said nothing of tokens."""
    sums = map(sum, zip(*(took.counts for took in messages), strict=True)) if messages else (None,) * 4
    return dict(zip(("input", "output", "cache_read", "cache_write"), sums, strict=True))
