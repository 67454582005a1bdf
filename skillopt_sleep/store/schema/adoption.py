"""What was staged, decided and written to disk."""

from __future__ import annotations

from sqlalchemy import Index, UniqueConstraint

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

proposal = table(
    "proposal",
    shown_id(),
    ref("night_id", "night.id"),
    ref("skill_id", "skill.id"),
    text("base_digest", None),  # SHA-256 of the live document
    body_ref("base"),
    body_ref("candidate"),
    ref("comparison_id", "comparison.id", required=False),
    text("state", "staged"),
    text("why"),
    flag("quotes_forgotten"),
    ms("created_ms", required=True),
    ms("changed_ms"),
    one_of("state", "staged", "on_trial", "superseded", "stale", "adopted", "rejected"),
    Index("ix_proposal_state", "state"),
)

proposal_edit = table(
    "proposal_edit",
    row_id(),
    ref("proposal_id", "proposal.id"),
    count("place"),  # in the order in which they are applied
    count("n"),  # as it is shown, from 1
    ref("edit_id", "edit.id"),
    text("rule"),
    text("status", None),
    ref("comparison_id", "comparison.id", required=False),
    text("title"),
    text("predicate"),
    whole("stake_actions"),
    real("stake_output_share"),
    real("stake_per_week"),
    text("why"),
    UniqueConstraint("proposal_id", "n"),
)

proposal_target = table(
    "proposal_target",
    row_id(),
    ref("proposal_id", "proposal.id"),
    count("n"),
    text("agent", None),
    json("also", "[]"),  # further agents that read the very same file
    text("root", None),
    text("path", None),  # relative to the root
    text("block"),
    maybe_text("digest"),  # of what stood there when it was staged; null: nothing
    UniqueConstraint("proposal_id", "n"),
)

decision = table(
    "decision",
    row_id(),
    ref("proposal_id", "proposal.id", index=True),
    json("edits", "[]"),  # numbers of the edits that it speaks of
    text("choice", None),
    text("by_whom", None),
    text("why"),
    flag("unproven"),
    ms("at_ms", required=True),
    one_of("choice", "adopt", "reject", "defer"),
    one_of("by_whom", "person", "auto"),
)

root = table(
    "root",
    row_id(),
    text("path", None, unique=True),
    text("agent"),
    text("project"),
    ms("recorded_ms", required=True),
    ms("removed_ms"),
)

adoption = table(
    "adoption",
    shown_id(),
    ref("proposal_id", "proposal.id", index=True),
    text("by_whom", None),
    json("edits", "[]"),  # numbers of the adopted edits
    text("state", "intent"),
    text("why"),
    ms("at_ms", required=True),
    ms("written_ms"),
    ms("rolled_back_ms"),
    one_of("by_whom", "person", "auto"),
    one_of("state", "intent", "written", "rolled_back"),
)

adoption_target = table(
    "adoption_target",
    row_id(),
    ref("adoption_id", "adoption.id"),
    count("n"),
    text("agent", None),
    json("also", "[]"),
    text("root", None),
    text("path", None),  # relative to the root
    json("made", "[]"),  # folders that were made for it, relative to the root, outermost first
    body_ref("before"),  # null: there was no such file
    body_ref("after"),  # null: the file is removed
    whole("mode"),
    text("newline"),
    text("block"),
    text("state", "intent"),
    text("why"),
    UniqueConstraint("adoption_id", "n"),
    UniqueConstraint("adoption_id", "root", "path", "block"),
    one_of("state", "intent", "written", "refused", "rolled_back"),
)
