"""The statements of a harvest (store/intake.py). They run some thousand times a second, so each is made once."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, and_, literal_column, or_
from sqlalchemy.dialects.sqlite import insert

from skillopt_sleep.store.compiled import Bulk, Statement
from skillopt_sleep.store.schema.harvest import SEQUENCE_BITS, body, event, message

BODY_COLUMNS: Final = ("digest", "codec", "bytes", "redaction")
EVENT_COLUMNS: Final = (
    "id",
    "key",
    "kind",
    "author",
    "at_ms",
    "offset",
    "length",
    "tool",
    "outcome",
    "stretch_id",
    "place",
)


def _same_session(name: str) -> str:
    return f"({name}.id >> {SEQUENCE_BITS}) = (excluded.id >> {SEQUENCE_BITS})"


def _event_upsert() -> Bulk:
    """The same record again from its own session replaces what is known of it; from another session it is a copy.

    Its own source knows best: an open call got its outcome, a provisional answer its last words. Another source of the
    session (a snapshot, an archive) adds to what is known only where it goes further, and never opens a call again.
    """
    statement = insert(event)
    new = statement.excluded
    same_source: ColumnElement[bool] = literal_column(
        "(SELECT source_id FROM stretch WHERE id = excluded.stretch_id) = "
        "(SELECT source_id FROM stretch WHERE id = event.stretch_id)"
    )
    goes_further = and_(
        new.offset >= event.c.offset,
        or_(
            new.offset > event.c.offset,
            new.length != event.c.length,
            new.outcome != event.c.outcome,
            new.kind != event.c.kind,
        ),
        literal_column("NOT (excluded.outcome = 'open' AND event.outcome NOT IN ('', 'open'))"),
    )
    upsert = statement.on_conflict_do_update(
        index_elements=["key"],
        set_={name: new[name] for name in EVENT_COLUMNS if name not in {"id", "key"}},
        where=and_(
            literal_column(_same_session("event")),
            event.c.forgotten == literal_column("0"),
            or_(same_source, goes_further),
        ),
    )
    return Bulk(event, EVENT_COLUMNS, upsert)


BODY: Final = Bulk(body, BODY_COLUMNS, insert(body).on_conflict_do_nothing())
EVENT: Final = _event_upsert()
MESSAGE: Final = Bulk(message, ("key", "session_id"), insert(message).on_conflict_do_nothing())

SESSION_COLUMNS: Final = (
    "origin",
    "parent",
    "fork_of",
    "project_id",
    "cwd",
    "cwds",
    "branch",
    "head_commit",
    "agent_version",
    "models",
    "title",
    "started_ms",
    "ended_ms",
)
"""What the three statements below have in common, in their order."""

KNOWN_SESSION: Final = Statement(
    "SELECT id, name, events, forgotten_ms, origin, parent, fork_of, project_id, cwd, cwds, branch, "
    "head_commit, agent_version, models, title, started_ms, ended_ms FROM session WHERE agent = ? AND native_id = ?"
)
NEW_SESSION: Final = Statement(
    "INSERT INTO session (name, agent, native_id, first_seen_ms, origin, parent, fork_of, project_id, cwd, cwds, "
    "branch, head_commit, agent_version, models, title, started_ms, ended_ms) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
UPDATE_SESSION: Final = Statement(
    "UPDATE session SET origin = ?, parent = ?, fork_of = ?, project_id = ?, cwd = ?, cwds = ?, branch = ?, "
    "head_commit = ?, agent_version = ?, models = ?, title = ?, started_ms = ?, ended_ms = ? WHERE id = ?"
)
NUMBERED: Final = Statement("UPDATE session SET events = ?, changed_ms = ? WHERE id = ?")
TWIN_OF: Final = Statement("UPDATE session SET twin_of = ? WHERE id = ?")
NO_TWIN: Final = Statement("UPDATE session SET twin_of = NULL WHERE id = ? AND twin_of IS NOT NULL")

SEEN_IN: Final = Statement(
    "INSERT INTO session_source (session_id, source_id, relation) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)
STRETCH: Final = Statement("INSERT INTO stretch (session_id, source_id, body) VALUES (?, ?, ?)")
TOMBSTONE: Final = Statement("SELECT id FROM body WHERE digest = ? AND tombstone_ms IS NOT NULL")
FORGOTTEN: Final = Statement("SELECT key FROM event WHERE forgotten = 1 AND key IN (SELECT value FROM json_each(?))")
OWNERS: Final = Statement("SELECT DISTINCT session_id FROM event WHERE key IN (SELECT value FROM json_each(?))")
COUNTED_HERE: Final = Statement(
    "SELECT key FROM message WHERE session_id = ? AND key IN (SELECT value FROM json_each(?))"
)
USAGE: Final = Statement("INSERT INTO usage (session_id, tokens) VALUES (?, ?)")
TOKENS: Final = Statement("SELECT tokens FROM usage WHERE session_id = ? ORDER BY id")
WITHDRAW: Final = Statement(
    "UPDATE event SET kind = 'withdrawn' WHERE key = ? AND session_id = ? AND kind <> 'withdrawn'"
)
SKILL_USE: Final = Statement(
    "INSERT INTO skill_use (session_id, event_id, skill, digest_seen, offered, opened) "
    "SELECT session_id, id, ?, ?, ?, ? FROM event WHERE key = ? AND session_id = ? "
    "ON CONFLICT (event_id) DO UPDATE SET skill = excluded.skill, digest_seen = excluded.digest_seen, "
    "offered = excluded.offered, opened = excluded.opened"
)
PROJECT: Final = Statement(
    "INSERT INTO project (root, git_root, cwd, remote, first_seen_ms) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (root) DO UPDATE SET git_root = CASE WHEN excluded.git_root <> '' THEN excluded.git_root "
    "ELSE project.git_root END, remote = CASE WHEN excluded.remote <> '' THEN excluded.remote ELSE project.remote END "
    "RETURNING id"
)
ALIAS: Final = Statement("INSERT INTO project_alias (project_id, path) VALUES (?, ?) ON CONFLICT (path) DO NOTHING")

SOURCE: Final = Statement(
    "INSERT INTO source (agent, path, root, device, inode, size, mtime_ns, state, why, seen_ms) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (agent, path) DO UPDATE SET root = excluded.root, "
    "device = excluded.device, inode = excluded.inode, size = excluded.size, mtime_ns = excluded.mtime_ns, "
    "state = excluded.state, why = excluded.why, seen_ms = excluded.seen_ms, gone_ms = NULL RETURNING id, skipped"
)
COUNTED: Final = Statement(
    "UPDATE source SET understood = understood + ?, unknown = unknown + ?, skipped = ? WHERE id = ?"
)
READ_ON: Final = Statement(
    "UPDATE source SET understood = understood + ?, unknown = unknown + ?, skipped = ?, offset = ?, before = ?, "
    "parser = ?, reader_state = ? WHERE id = ?"
)
FORGET_LISTING: Final = Statement("DELETE FROM setting WHERE name = 'listing'")
GONE: Final = Statement("UPDATE source SET state = 'gone', gone_ms = ? WHERE id = ? AND state <> 'gone'")
TWIN: Final = Statement(
    "INSERT INTO source (agent, path, root, device, inode, size, mtime_ns, head, offset, before, parser, reader_state, "
    "state, seen_ms) SELECT ?, ?, ?, device, inode, size, mtime_ns, head, offset, before, parser, reader_state, "
    "state, seen_ms FROM source WHERE agent = ? AND path = ? "
    "ON CONFLICT (agent, path) DO UPDATE SET device = excluded.device, inode = excluded.inode, size = excluded.size, "
    "mtime_ns = excluded.mtime_ns, offset = excluded.offset, before = excluded.before, parser = excluded.parser, "
    "reader_state = excluded.reader_state, state = excluded.state, seen_ms = excluded.seen_ms, gone_ms = NULL"
)
TWIN_SESSIONS: Final = Statement(
    "INSERT INTO session_source (session_id, source_id, relation) "
    "SELECT ss.session_id, twin.id, 'copy' FROM source AS twin, source AS first "
    "JOIN session_source AS ss ON ss.source_id = first.id "
    "WHERE twin.agent = ? AND twin.path = ? AND first.agent = ? AND first.path = ? ON CONFLICT DO NOTHING"
)
