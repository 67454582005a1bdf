"""What was harvested: sources and their cursors, sessions, events, bodies, usage, projects."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Computed, Index, Integer, LargeBinary, PrimaryKeyConstraint, Text, UniqueConstraint
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

SEQUENCE_BITS: Final = 26
SEQUENCE_MASK: Final = (1 << SEQUENCE_BITS) - 1

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
    text("why"),  # of `unreadable`; of `excluded` the digest of the patterns
    ms("seen_ms"),
    ms("gone_ms"),
    UniqueConstraint("agent", "path"),
    one_of("state", "pending", "read", "unreadable", "excluded", "gone"),
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
    ref("twin_of", "session.id", required=False),  # all that it holds stands in that session already
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

stretch = table(  # what one reading of a source gave of one session: the words of its events lie together in one body
    "stretch",
    row_id(),
    ref("session_id", "session.id", index=True),
    ref("source_id", "source.id"),
    body_ref(),
)

event = table(
    "event",
    row_id(),  # session and sequence in one number (store/intake.py): a session's events lie together
    # BLAKE2b-64 of agent, NUL, record key. 64 bits, as this index is half the price of a harvest; among ten million
    # events the chance that any two are taken for one is three in a million.
    Column("key", Integer, nullable=False, unique=True),
    Column("session_id", Integer, Computed(f"id >> {SEQUENCE_BITS}", persisted=False)),
    Column("seq", Integer, Computed(f"id & {SEQUENCE_MASK}", persisted=False)),
    text("kind", None),  # as the harvesters name it; `withdrawn`: turned out to be none, and is not shown
    text("author", None),  # person, agent, tool, harness
    ms("at_ms"),
    count("offset"),
    count("length"),
    text("tool"),
    text("outcome"),
    ref("stretch_id", "stretch.id"),  # its source, and the body that holds its words
    count("place"),  # in that body
    count("forgotten"),  # 1: its words were, and no later reading brings them back
)

message = table(  # each message's tokens count once, in the session that spoke of it first
    "message",
    Column("key", Integer, primary_key=True),  # made like an event's
    ref("session_id", "session.id"),
)

usage = table(  # of what one reading of a source gave of one session
    "usage",
    row_id(),
    ref("session_id", "session.id", index=True),
    Column(
        "tokens", LargeBinary, nullable=False
    ),  # packed (store/tokens.py): a row a message costs a tenth of a harvest
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
