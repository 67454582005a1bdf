"""What was harvested: sources and their cursors, sessions, events, bodies, usage, projects."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, PrimaryKeyConstraint, Text, UniqueConstraint
from sqlalchemy import text as sql

from skillopt_sleep.store.schema.base import (
    body_ref,
    count,
    flag,
    json,
    ms,
    one_of,
    ref,
    row_id,
    table,
    text,
)

body = table(
    "body",
    row_id(),
    Column("digest", LargeBinary, nullable=False, unique=True),  # BLAKE2b-128 of the content, before compression
    text("codec", None),  # raw, zstd
    Column("bytes", LargeBinary, nullable=False),
    count("redaction"),  # version of the redaction rules that the content went through; 0: not from outside
    ms("tombstone_ms"),  # forgotten then: `bytes` is empty, and the same content is never stored again
    one_of("codec", "raw", "zstd"),
)

source = table(
    "source",
    row_id(),
    text("agent", None),
    text("path", None),
    text("root"),
    count("device"),
    count("inode"),
    count("size"),
    count("mtime_ns"),
    text("head"),  # digest of the first bytes, hex
    count("offset"),  # end of the last whole record taken
    text("before"),  # digest of the bytes before the offset, as the reader made it
    count("parser"),
    Column("reader_state", LargeBinary, nullable=False, server_default=sql("x''")),
    count("understood"),
    count("unknown"),
    json("skipped"),  # records left out on purpose: reason to number
    text("state", "pending"),
    text("why"),  # of `unreadable`
    ms("seen_ms"),
    ms("gone_ms"),
    UniqueConstraint("agent", "path"),
    one_of("state", "pending", "read", "unreadable", "gone"),
)

project = table(
    "project",
    row_id(),
    text("root", None, unique=True),  # the git root where it is known, else the working folder: a name, never opened
    text("git_root"),
    text("cwd"),
    text("remote"),  # digest of the remote's address, hex
    text("worktree"),
    ms("first_seen_ms"),
)

project_alias = table(
    "project_alias",
    row_id(),
    ref("project_id", "project.id"),
    text("path", None, unique=True),
    text("kind", "cwd"),
    one_of("kind", "cwd", "worktree", "moved"),
)

session = table(
    "session",
    row_id(),
    text("name", None, unique=True),  # the id that people see: s-…, derived from agent and native id
    text("agent", None),
    text("native_id", None),
    text("origin", "interactive"),
    text("parent"),  # native id
    text("fork_of"),  # native id
    ref("project_id", "project.id", required=False, index=True),
    text("cwd"),
    json("cwds", "[]"),
    text("branch"),
    text("head_commit"),
    text("agent_version"),
    json("models", "[]"),
    text("title"),
    ms("started_ms"),
    ms("ended_ms"),
    count("events"),  # how many were numbered: the next event's sequence
    ms("first_seen_ms"),
    ms("changed_ms"),
    ms("forgotten_ms"),
    UniqueConstraint("agent", "native_id"),
    one_of("origin", "interactive", "headless", "subagent", "own"),
    Index("ix_session_started", "origin", "started_ms"),
)

session_source = table(
    "session_source",
    ref("session_id", "session.id"),
    ref("source_id", "source.id", index=True),
    text("relation", "own"),  # `copy`: a resume, fork, snapshot, twin or archive that repeats events of the session
    PrimaryKeyConstraint("session_id", "source_id"),
    one_of("relation", "own", "copy"),
    sqlite_with_rowid=False,
)

event = table(
    "event",
    row_id(),
    Column("key", LargeBinary, nullable=False, unique=True),  # BLAKE2b-128 of agent, NUL, record key
    ref("session_id", "session.id"),
    count("seq"),
    text("kind", None),
    text("author", None),
    ms("at_ms"),
    ref("source_id", "source.id"),
    count("offset"),
    count("length"),
    text("call_id"),
    text("tool"),
    text("outcome"),
    count("output_length"),
    text("output_digest"),
    text("message_id"),
    text("agent_id"),
    body_ref(),  # text, arguments and head, packed (store/bodies.py)
    one_of("author", "person", "agent", "tool", "harness"),
    Index("ix_event_session", "session_id", "seq"),
    Index("ix_event_body", "body"),
)

usage = table(
    "usage",
    text("agent", None),
    text("key", None),
    ref("session_id", "session.id", index=True),
    count("input"),
    count("output"),
    count("cache_read"),
    count("cache_write"),
    text("model"),
    ms("at_ms"),
    PrimaryKeyConstraint("agent", "key"),
    sqlite_with_rowid=False,
)

skill_use = table(
    "skill_use",
    row_id(),
    ref("session_id", "session.id", index=True),
    ref("event_id", "event.id", unique=True),
    text("skill", None),
    text("digest_seen"),
    flag("offered"),
    flag("opened"),
)

setting = table(
    "setting",
    Column("name", Text, primary_key=True),
    text("value", None),
)
