"""What was tried: skills and edits, attempts and completions (paid work), comparisons, trials, rejections, spending."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, PrimaryKeyConstraint, Text, UniqueConstraint

from skillopt_sleep.store.schema.base import (
    body_ref,
    count,
    flag,
    json,
    maybe_text,
    ms,
    one_of,
    real,
    ref,
    row_id,
    shown_id,
    table,
    text,
    whole,
)

skill = table(
    "skill",
    row_id(),
    text("name", None),
    text("scope"),  # a project's root, or "user"
    text("kind", None),
    text("route"),  # how tasks come to it
    UniqueConstraint("scope", "kind", "name"),
    one_of("kind", "learned", "hand-written", "memory"),
)

skill_version = table(
    "skill_version",
    row_id(),
    ref("skill_id", "skill.id"),
    text("digest", None),  # SHA-256 of the text, hex: the core's identity of an exact version
    text("parent"),
    body_ref(),
    text("auxiliary"),  # digest of the files beside the document
    text("night"),
    ms("at_ms"),
    UniqueConstraint("skill_id", "digest"),
    Index("ix_skill_version_digest", "digest"),
)

rule = table(
    "rule",
    shown_id(),  # identity over rewordings
    ref("skill_id", "skill.id", required=False),
    text("title"),
    text("predicate"),
    text("state", "tried"),
    ms("first_ms"),
    one_of("state", "tried", "live", "retired"),
)

rule_version = table(
    "rule_version",
    row_id(),
    ref("rule_id", "rule.id", index=True),
    text("digest", None),  # of the wording
    body_ref(),
    ms("at_ms"),
    UniqueConstraint("rule_id", "digest"),
)

edit = table(
    "edit",
    row_id(),
    ref("rule_id", "rule.id", required=False, index=True),
    ref("skill_id", "skill.id"),
    text("base"),  # digest of the text that it was made for
    text("op", None),
    body_ref("anchor"),
    body_ref("text"),
    text("meaning", None),  # key of what it means: normalised text and anchor
    text("label"),
    json("support", "[]"),  # task ids
    text("status", None),
    text("why"),
    text("origin"),  # the pattern or preference that it came from
    text("night"),
    ms("at_ms"),
    UniqueConstraint("night", "skill_id", "base", "meaning", "op"),
    one_of("op", "add", "insert_after", "replace", "delete"),
    one_of("status", "proposed", "accepted", "dropped", "missed", "refused"),
)

edit_source = table(
    "edit_source",
    row_id(),
    ref("edit_id", "edit.id", index=True),
    count("n"),
    ref("event_id", "event.id", required=False, index=True),  # null where the store has no such event
    text("session", index=True),  # our id
    text("author", None),
    body_ref("quote"),
    ms("at_ms"),
    text("role", "evidence"),
    UniqueConstraint("edit_id", "n"),
    one_of("role", "origin", "evidence"),
    one_of("author", "person", "agent", "tool", "harness"),
)

comparison = table(
    "comparison",
    shown_id(),
    text("night"),
    text("a", None),  # digest of the live text
    text("b", None),  # digest of the candidate
    text("mode", None),
    text("family"),
    whole("nth"),  # which candidate of its family (t)
    real("alpha"),
    text("tasks"),  # digest of the task set
    text("agent"),
    json("models", "[]"),
    json("boundaries", "[]"),
    text("evidence", "recorded"),
    text("verdict", ""),  # empty while it runs
    text("why"),
    text("metric", "hard"),
    real("before"),
    real("after"),
    real("effect"),
    real("low"),  # of the interval
    real("high"),
    real("p"),
    real("e"),
    real("e_reverse"),
    count("pairs"),
    real("coverage"),
    real("opened"),  # exposure
    flag("deterministic"),
    json("counts"),
    text("needs"),
    count("repeats"),
    json("bets", "[]"),
    ms("begun_ms"),
    ms("ended_ms"),
    Index("ix_comparison_night", "night"),
)

comparison_unit = table(
    "comparison_unit",
    ref("comparison_id", "comparison.id"),
    count("n"),
    text("unit", None),
    real("before"),
    real("after"),
    real("d"),
    count("pairs"),
    count("began_ms"),
    json("tasks", "[]"),
    text("note"),
    PrimaryKeyConstraint("comparison_id", "n"),
    sqlite_with_rowid=False,
)

attempt = table(
    "attempt",
    row_id(),
    text("key", None, unique=True),  # hash of all that it depends on, its draw number and its comparison
    text("task", None),
    text("skill", None),  # digest of the exact text
    text("agent", None),
    text("agent_version"),
    text("model"),  # as reported
    json("settings"),
    count("draw"),
    text("comparison"),
    text("status", None),
    text("why"),  # of `missing`
    flag("offered"),
    flag("opened"),
    maybe_text("loaded"),  # digest
    real("hard"),
    real("soft"),
    json("failed", "[]"),
    json("objectives"),
    body_ref("prompt"),
    body_ref("trajectory"),
    text("native_session"),
    text("night"),
    ms("at_ms"),
    one_of("status", "done", "missing"),
    Index("ix_attempt_task", "task"),
    Index("ix_attempt_comparison", "comparison"),
)

completion = table(
    "completion",
    row_id(),
    text("key", None, unique=True),
    text("role", None),
    text("model", None),
    text("prompt", None),  # digest
    text("settings"),
    count("draw"),
    body_ref("asked"),
    body_ref("reply"),  # null for a failed one
    text("status", None),
    text("night"),
    ms("at_ms"),
)

pair = table(
    "pair",
    row_id(),
    ref("comparison_id", "comparison.id"),
    text("task", None),
    count("draw"),
    ref("live_attempt", "attempt.id", required=False),
    ref("candidate_attempt", "attempt.id", required=False),
    real("d"),
    UniqueConstraint("comparison_id", "task", "draw"),
)

trial = table(
    "trial",
    shown_id(),
    ref("skill_id", "skill.id", required=False),
    text("rule"),
    text("candidate", None),  # digest
    text("live", None),  # digest
    text("predicate"),
    ms("cut_ms", required=True),
    real("alpha"),
    real("e"),
    real("e_reverse"),
    text("state", "running"),
    text("why"),
    text("rebased_from"),
    text("first_night"),
    count("nights"),
    ms("begun_ms"),
    ms("ended_ms"),
    one_of("state", "running", "accepted", "dropped", "restarted", "adopted"),
    Index("ix_trial_state", "state"),
)

trial_step = table(
    "trial_step",
    row_id(),
    ref("trial_id", "trial.id"),
    text("night", None),
    text("task", None),  # the unit; scored once
    real("d"),
    real("e_after"),
    real("e_reverse_after"),
    ms("at_ms"),
    UniqueConstraint("trial_id", "task"),
)

clearance = table(
    "clearance",  # a halted gate that a person lets go on
    row_id(),
    text("mode", None),
    real("alpha"),
    count("comparisons"),  # of a text with itself, until then
    count("accepted"),
    text("by_whom", None),
    text("why", None),
    ms("at_ms", required=True),
)

alpha_spend = table(
    "alpha_spend",
    row_id(),
    text("family", None),
    count("nth"),
    real("amount"),
    real("earned_back"),
    text("candidate", None),
    ms("at_ms"),
    UniqueConstraint("family", "nth"),
)

rejected = table(
    "rejected",
    row_id(),
    text("meaning", None),
    text("skill", None),  # digest
    text("reason"),
    text("verdict"),
    text("op"),
    body_ref("anchor"),
    body_ref("text"),
    text("night"),
    ms("at_ms"),
    UniqueConstraint("meaning", "skill"),
)

spend = table(
    "spend",
    row_id(),
    text("night", None, index=True),
    text("role", None),
    count("reserved_tokens"),
    real("reserved_usd"),
    whole("settled_tokens"),  # null while the call runs; a call that was killed stays at what was reserved
    real("settled_usd"),
    flag("exact"),
    text("currency", "USD"),
    text("prices"),  # version of the price table
    text("model"),
    ms("at_ms", required=True),
    ms("settled_ms"),
)

preference = table(
    "preference",
    row_id(),
    body_ref("text"),
    text("origin", None),
    ms("since_ms", required=True),
    ms("until_ms"),
    UniqueConstraint("text", "origin", "since_ms"),
)

exposure = table(
    "exposure",
    row_id(),
    ref("rule_id", "rule.id"),
    ref("session_id", "session.id", index=True),
    count("applicable"),
    flag("offered"),
    flag("opened"),
    whole("followed"),
    whole("friction"),
    UniqueConstraint("rule_id", "session_id"),
)

evidence_log = table(
    "evidence_log",
    row_id(),  # the sequence
    Column("previous", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    json("speaks_of", "[]"),  # digests, never bodies
    ms("at_ms", required=True),
    Index("ix_evidence_log_fact", "kind", "speaks_of"),
)
