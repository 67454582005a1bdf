"""What was mined: episodes, frictions and their signatures, patterns, tasks, checks."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy import text as sql

from skillopt_sleep.store.schema.base import (
    body_ref,
    count,
    flag,
    json,
    ms,
    one_of,
    real,
    ref,
    row_id,
    shown_id,
    table,
    text,
)

episode = table(
    "episode",
    shown_id(),
    ref("session_id", "session.id", index=True),
    ref("first_event", "event.id"),
    ref("last_event", "event.id", required=False),
    text("miner"),  # version of the miner that cut it
    text("start_commit"),
    text("end_commit"),
    text("outcome"),
    text("person"),
    text("twin"),
    ms("began_ms", required=True),
    count("tokens"),
)

signature = table(
    "signature",
    row_id(),
    text("kind", None),
    text("normaliser"),  # its version
    text("text", None),
    UniqueConstraint("kind", "normaliser", "text"),
)

friction = table(
    "friction",
    row_id(),
    text("key", None, unique=True),  # digest of its signature, session, time and failing event
    ref("signature_id", "signature.id"),
    text("kind", None),
    ref("episode_id", "episode.id", required=False),
    ref("session_id", "session.id", index=True),
    ms("at_ms", required=True),
    ref("failing_event", "event.id", required=False),
    ref("resolving_event", "event.id", required=False),
    ref("reason_event", "event.id", required=False),
    count("wasted"),
    count("tokens"),
    flag("self_healing"),
)

pattern = table(
    "pattern",
    shown_id(),
    text("key", None, unique=True),  # stable over nights: project, kind, signature
    text("project"),  # its root
    text("kind", None),
    text("friction"),
    text("title"),
    text("signature"),
    text("document", "skill"),
    text("person"),
    json("sentence", "null"),  # {"form": …, slots} or null
    body_ref(),  # the reasons and quotes, as JSON
    count("stake_actions"),
    real("stake_output_share"),
    real("stake_per_week"),
    ms("first_ms", required=True),
    ms("last_ms", required=True),
    text("first_night"),
    text("last_night"),
    ms("retired_ms"),
    one_of("kind", "request", "friction", "correction"),
    one_of("document", "skill", "memory"),
    Index("ix_pattern_project", "project"),
)

pattern_member = table(
    "pattern_member",
    row_id(),
    ref("pattern_id", "pattern.id", index=True),
    ref("episode_id", "episode.id", required=False, index=True),
    ref("friction_id", "friction.id", required=False, index=True),
    ref("session_id", "session.id", index=True),
    UniqueConstraint("pattern_id", "friction_id"),
    Index(
        "uq_pattern_member_request", "pattern_id", "episode_id", unique=True, sqlite_where=sql("friction_id IS NULL")
    ),
)

task = table(
    "task",
    shown_id(),
    ref("pattern_id", "pattern.id", required=False, index=True),
    ref("episode_id", "episode.id", required=False, index=True),
    ref("session_id", "session.id", required=False, index=True),
    body_ref("prompt"),
    text("commit"),  # starting state
    json("files", "{}"),  # starting state: path to digest
    text("origin", "real"),
    text("twin", None),  # twin group: the unit
    text("split", None),
    text("salt"),
    ms("began_ms", required=True),  # episode time
    text("first_night"),
    text("reviewed_by"),
    ms("reviewed_ms"),
    ms("retired_ms"),
    one_of("origin", "real", "dream", "imported"),
    one_of("split", "train", "gate", "audit"),
    Index("ix_task_began", "began_ms"),
)

check = table(
    "check",
    row_id(),
    ref("task_id", "task.id", index=True),
    count("n"),
    text("kind", None),
    body_ref("argument"),
    ref("source_event", "event.id", required=False),
    text("derived_from"),  # what it was derived from, in one word
    text("vetting"),
    UniqueConstraint("task_id", "n"),
)

derived = table(  # what was derived from a session's words: forgetting the session retires these
    "derived",
    ref("session_id", "session.id"),
    text("kind", None),
    text("of", None),
    PrimaryKeyConstraint("session_id", "kind", "of"),
    sqlite_with_rowid=False,
)
