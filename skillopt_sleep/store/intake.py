"""Storing what a harvest read: sources and their cursors, sessions, stretches of events, usage.

A cursor moves in the transaction that stores its events, or not at all. Text comes in as `Redacted`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from struct import unpack
from typing import Any, Final, Literal

from skillopt_harvesters.model import Cursor, Event, Source, Usage
from skillopt_sleep.domain.sessions import session_name
from skillopt_sleep.errors import StoreError
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import intake_sql as sql
from skillopt_sleep.store import tokens
from skillopt_sleep.store.bodies import LOST, Body, of_stretch, stretch_words
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import SEQUENCE_BITS, SEQUENCE_MASK
from skillopt_sleep.store.sources import path_text, save_source, source_rows

LARGEST: Final = (1 << 62) - 1
"""No count or time in a transcript is believed beyond this; SQLite's numbers end there."""

LONGEST_NAME: Final = 128
"""Characters of a call's or a message's name that is kept as it is."""

EventRow = tuple[int, str, str, int | None, int, int, str, str]
"""key, kind, author, at_ms, offset, length, tool, outcome."""
SkillRow = tuple[int, str, str, int | None, int | None]
"""key of the event, skill, digest seen, offered, opened."""


@dataclass(frozen=True, slots=True)
class CleanFacts:
    """A session's facts after redaction. `root` names its project, "" where no folder is known."""

    agent: str
    native_id: str
    origin: str
    parent: str
    fork_of: str
    root: Redacted
    git_root: Redacted
    remote: str  # digest
    cwd: Redacted
    cwds: tuple[Redacted, ...]
    branch: Redacted
    head_commit: str
    agent_version: str
    models: tuple[str, ...]
    title: Redacted
    started_ms: int | None
    ended_ms: int | None


@dataclass(frozen=True, slots=True)
class CleanBatch:
    """One batch of a source, ready to be stored. `events[i]` finds its words at place i of `body`; `messages[i]` is the
    key of `usage[i]`."""

    facts: CleanFacts
    events: list[EventRow]
    body: Body | None
    messages: Sequence[int]
    usage: list[tokens.Row]
    skills: list[SkillRow]
    withdrawn: list[int]


@dataclass(frozen=True, slots=True)
class CleanSource:
    """What was read of one source, with the cursor from which to go on; no cursor where nothing could be read."""

    source: Source
    state: Literal["pending", "read", "unreadable", "excluded"]
    cursor: Cursor | None = None
    why: str = ""
    batches: list[CleanBatch] = field(default_factory=list)
    understood: int = 0
    unknown: int = 0
    skipped: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Saved:
    """Names of the interactive sessions that a transaction made, changed, or found as they were.

    `apart` holds the others that it made or changed, by their origin.
    """

    new: set[str] = field(default_factory=set)
    updated: set[str] = field(default_factory=set)
    same: set[str] = field(default_factory=set)
    apart: dict[str, set[str]] = field(default_factory=dict)


def record_key(agent: str, key: str) -> int:
    """The unique key of an event or a usage: BLAKE2b-64 of agent, NUL and the agent's record key."""
    return record_keys(agent, (key,))[0]


def record_keys(agent: str, keys: Sequence[str]) -> tuple[int, ...]:
    """`record_key` of many."""
    before = f"{agent}\0".encode()
    digests = [blake2b(before + key.encode("utf-8", "surrogatepass"), digest_size=8).digest() for key in keys]
    return unpack(f">{len(digests)}q", b"".join(digests))


def identifiers(texts: Sequence[str]) -> Sequence[str]:
    """`identifier` of many: mostly none is odd, which is seen at once."""
    together = "".join(texts)
    if together.isascii() and together.isprintable() and max(map(len, texts), default=0) <= LONGEST_NAME:
        return texts
    return [identifier(text) for text in texts]


def identifier(text: str) -> str:
    """A name that a transcript gives to a call or a message, as it may be stored: odd ones as their digest."""
    if not text or (len(text) <= LONGEST_NAME and text.isascii() and text.isprintable()):
        return text
    return f"x-{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


def event_rows(agent: str, events: Sequence[Event], tools: Mapping[str, Redacted]) -> list[EventRow]:
    """The columns of events that are no words. `tools` are the redacted names of tools."""
    return [
        (
            key,
            str(event.kind),
            str(event.author),
            at if (at := event.at_ms) is None or -LARGEST < at < LARGEST else None,
            event.offset,
            event.length,
            tools[event.tool],
            "" if event.outcome is None else str(event.outcome),
        )
        for key, event in zip(record_keys(agent, [event.key for event in events]), events, strict=True)
    ]


def usage_rows(usage: Sequence[Usage]) -> list[tokens.Row]:
    """What is kept of messages' tokens."""
    counts = [(one.input, one.output, one.cache_read, one.cache_write) for one in usage]
    if counts and (min(map(min, counts)) < 0 or max(map(max, counts)) > LARGEST):
        counts = [believed_counts(*some) for some in counts]
    names, models = identifiers([one.key for one in usage]), identifiers([one.model for one in usage])
    return [
        (name, *some, model, at if (at := one.at_ms) is None or -LARGEST < at < LARGEST else None)
        for name, some, model, one in zip(names, counts, models, usage, strict=True)
    ]


def believed_counts(*tokens: int) -> tuple[int, int, int, int]:
    a, b, c, d = [min(max(n, 0), LARGEST) for n in tokens]
    return a, b, c, d


def save(store: Store, sources: Sequence[CleanSource]) -> Saved:
    """Store what was read of some sources and move their cursors, in one transaction."""
    saved = Saved()
    with source_rows(store):
        work = _Work(store.driver, store.clock.now_ms(), saved)
        for clean in sources:
            row, skipped = save_source(store.driver, clean.source, clean.state, clean.why, work.now)
            for batch in clean.batches:
                work.store(row, batch)
            work.read_on(row, skipped, clean)
    return saved


def link_twins(store: Store, twins: Iterable[tuple[Source, Source]]) -> None:
    """Sources that are the same file as another (hard links), each with that one: same cursor, same sessions, never
    read."""
    with source_rows(store):
        for source, twin in twins:
            mine, its = (source.agent, path_text(source.path)), (twin.agent, path_text(twin.path))
            sql.TWIN.run(store.driver, *mine, source.root, *its)
            sql.TWIN_SESSIONS.run(store.driver, *mine, *its)


@dataclass(slots=True)
class _Session:
    id: int
    name: str
    events: int
    known: bool
    twin: bool = False  # made now, and all that it holds stands in another session


@dataclass(slots=True)
class _Work:
    """One transaction's work: SQLite's connection, the time, and what came of it."""

    driver: sqlite3.Connection
    now: int
    saved: Saved
    projects: dict[str, int] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)

    def read_on(self, source: int, skipped: str, clean: CleanSource) -> None:
        """Where to go on with a source, and how many records were read. `skipped` is what was left out before."""
        if clean.skipped:
            together = json.loads(skipped)
            for reason, n in clean.skipped.items():
                together[reason] = together.get(reason, 0) + n
            skipped = json.dumps(together)
        counts = (clean.understood, clean.unknown, skipped)
        if (at := clean.cursor) is None:
            sql.COUNTED.run(self.driver, *counts, source)
        else:
            sql.READ_ON.run(self.driver, *counts, at.offset, at.before, at.parser, at.state, source)

    def store(self, source: int, batch: CleanBatch) -> None:
        session = self._session(batch)
        if session is None:
            return
        sql.SEEN_IN.run(self.driver, session.id, source, "own")
        changed = self._events(session, source, batch)
        changed += self._usage(session, batch)
        for key in batch.withdrawn:
            changed += sql.WITHDRAW.run(self.driver, key, session.id).rowcount
        for key, skill, seen, offered, opened in batch.skills:
            sql.SKILL_USE.run(self.driver, skill, seen, offered, opened, key, session.id)
        sql.NUMBERED.run(self.driver, session.events, self.now, session.id)
        self._count(session, batch.facts.origin, changed)

    def _count(self, session: _Session, origin: str, changed: int) -> None:
        name, saved = session.name, self.saved
        if session.twin:
            return
        if origin != "interactive":
            saved.apart.setdefault(origin, set()).add(name)
        elif not session.known:
            saved.new.add(name)
        elif changed:
            saved.updated.add(name)
        else:
            saved.same.add(name)

    def _session(self, batch: CleanBatch) -> _Session | None:
        """The session's row, made or brought up to date; None where it holds nothing yet or was forgotten."""
        facts = batch.facts
        known = sql.KNOWN_SESSION.run(self.driver, facts.agent, facts.native_id).fetchone()
        if known is None:
            if not batch.events and not batch.usage:
                return None
            return self._new_session(facts)
        (number, name, events, forgotten_ms, *old) = known
        if forgotten_ms is not None:
            return None
        project = self._project(facts)
        sql.UPDATE_SESSION.run(self.driver, *_merged(facts, project, old), number)
        return _Session(number, name, events, known=True)

    def _new_session(self, facts: CleanFacts) -> _Session:
        name = session_name(facts.agent, facts.native_id)
        row = _merged(facts, self._project(facts), None)
        made = sql.NEW_SESSION.run(self.driver, name, facts.agent, facts.native_id, self.now, *row)
        return _Session(int(made.lastrowid or 0), name, 0, known=False)

    def _project(self, facts: CleanFacts) -> int | None:
        if not facts.root:
            return None
        number = self.projects.get(facts.root)
        if number is None:
            git, remote = facts.git_root, facts.remote
            made = sql.PROJECT.run(self.driver, facts.root, git, facts.cwd, remote, self.now)
            number = self.projects[facts.root] = int(made.fetchone()[0])
        for cwd in facts.cwds:
            if cwd not in self.aliases:
                sql.ALIAS.run(self.driver, number, cwd)
                self.aliases.add(cwd)
        return number

    def _events(self, session: _Session, source: int, batch: CleanBatch) -> int:
        if not batch.events or batch.body is None:
            return 0
        body = self._body(batch.body, batch.events)
        stretch = sql.STRETCH.run(self.driver, session.id, source, body).lastrowid
        first = _numbers(session.id, session.events, len(batch.events))
        rows = [(first + i, *row, stretch, i) for i, row in enumerate(batch.events)]
        changed = sql.EVENT.run(self.driver, rows)
        session.events += len(rows)
        if changed < len(rows):
            self._note_copies(session, source, batch.events)
        if changed and session.known:
            sql.NO_TWIN.run(self.driver, session.id)
        return changed

    def _body(self, body: Body, rows: Sequence[EventRow]) -> bytes:
        """Keep the words of a stretch and return their digest.

        A body that was forgotten is not stored again; the same stretch without the words that were is.
        """
        if sql.BODY.run(self.driver, [body]) or sql.TOMBSTONE.run(self.driver, body.digest).fetchone() is None:
            return body.digest
        forgotten = {key for (key,) in sql.FORGOTTEN.run(self.driver, json.dumps([row[0] for row in rows]))}
        words = stretch_words(body.codec, body.content) or []
        kept = [LOST if row[0] in forgotten else said for row, said in zip(rows, words, strict=True)]
        rest = of_stretch(kept, body.redaction)
        sql.BODY.run(self.driver, [rest])
        return rest.digest

    def _note_copies(self, session: _Session, source: int, rows: Sequence[EventRow]) -> None:
        """Some events stand in another session already: their source repeats that session."""
        keys = json.dumps([row[0] for row in rows])
        owners = [owner for (owner,) in sql.OWNERS.run(self.driver, keys)]
        others = [owner for owner in owners if owner != session.id]
        for owner in others:
            sql.SEEN_IN.run(self.driver, owner, source, "copy")
        if others and session.id not in owners and not session.known:
            sql.TWIN_OF.run(self.driver, others[0], session.id)
            session.twin = True

    def _usage(self, session: _Session, batch: CleanBatch) -> int:
        """Keep the tokens of messages that no other session has, and return how many say something new."""
        rows = batch.usage
        if not rows:
            return 0
        if sql.MESSAGE.run(self.driver, [(key, session.id) for key in batch.messages]) < len(rows):
            rows = self._new_tokens(session, batch)
        if rows:
            sql.USAGE.run(self.driver, session.id, tokens.packed(rows))
        return len(rows)

    def _new_tokens(self, session: _Session, batch: CleanBatch) -> list[tokens.Row]:
        """Of messages some of which were counted before: those of this session of which more is said now."""
        here = {key for (key,) in sql.COUNTED_HERE.run(self.driver, session.id, json.dumps(batch.messages))}
        known = tokens.unpacked(pack for (pack,) in sql.TOKENS.run(self.driver, session.id))
        new = []
        for key, row in zip(batch.messages, batch.usage, strict=True):
            said = tokens.Tokens(*row)
            before = known.get(said.message)
            if key in here and (before is None or said.goes_beyond(before)):
                known[said.message] = said if before is None else before.and_more(said)
                new.append(row)
        return new


def _numbers(session: int, after: int, wanted: int) -> int:
    """The first of `wanted` row ids of a session; its sequence has room for 67 million."""
    if after + wanted > SEQUENCE_MASK:
        raise StoreError("a session of more than 67 million events cannot be stored", remedy="Leave its file out")
    return (session << SEQUENCE_BITS) | after


def _merged(facts: CleanFacts, project: int | None, old: Sequence[Any] | None) -> tuple[Any, ...]:
    """The session's columns (`intake_sql.SESSION_COLUMNS`) after these facts.

    What is known stays where the facts say nothing, so that an older copy of a session takes nothing away.
    """
    new = (
        facts.origin,
        facts.parent,
        facts.fork_of,
        project,
        facts.cwd,
        json.dumps(facts.cwds),
        facts.branch,
        facts.head_commit,
        facts.agent_version,
        json.dumps(facts.models),
        facts.title,
        facts.started_ms,
        facts.ended_ms,
    )
    if old is None:
        return new
    merged: dict[str, Any] = {
        name: was if now in (None, "", "[]") else now
        for name, now, was in zip(sql.SESSION_COLUMNS, new, old, strict=True)
    }
    before = dict(zip(sql.SESSION_COLUMNS, old, strict=True))
    if before["origin"] == "own":
        merged["origin"] = "own"
    for name in ("cwds", "models"):
        merged[name] = _union(merged[name], before[name])
    for name, choose in (("started_ms", min), ("ended_ms", max)):
        known = [at for at in (merged[name], before[name]) if at is not None]
        merged[name] = choose(known, default=None)
    return tuple(merged.values())


def _union(new: str, old: str) -> str:
    """Two JSON lists of strings as one, the new one's order first."""
    return new if new == old else json.dumps(list(dict.fromkeys([*json.loads(new), *json.loads(old)])))
