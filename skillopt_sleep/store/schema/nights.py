"""The journal: nights, their steps, and why a night did not run."""

from __future__ import annotations

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy import text as sql

from skillopt_sleep.store.schema.base import count, json, ms, one_of, ref, row_id, shown_id, table, text

night = table(
    "night",
    shown_id(),
    text("date", None),  # local date
    text("zone", None),
    text("trigger", None),
    text("state", "running"),
    count("pid"),
    text("boot"),  # boot id of the machine
    ms("heartbeat_ms"),
    count("fence"),  # grows with each resume: who holds an older one has lost the night
    text("config"),  # digest
    text("resumed_from"),
    text("error"),
    json("report", "null"),
    ms("begun_ms", required=True),
    ms("ended_ms"),
    one_of("trigger", "manual", "scheduled", "caught_up"),
    one_of("state", "running", "done", "failed", "interrupted"),
    # At most one night a local date that the schedule started, however often the clock shows the hour.
    Index("uq_night_scheduled", "date", unique=True, sqlite_where=sql("trigger <> 'manual'")),
    Index("ix_night_state", "state"),
)

step = table(
    "step",
    row_id(),
    ref("night_id", "night.id"),
    text("name", None),
    text("key", None),
    count("tries"),
    text("state", "running"),
    text("error"),
    json("result", "null"),
    ms("begun_ms", required=True),
    ms("ended_ms"),
    UniqueConstraint("night_id", "key"),
    one_of("state", "running", "done", "failed"),
)

skip = table(
    "skip",
    row_id(),
    text("date", None),
    text("zone"),
    text("trigger"),
    text("why", None),
    ms("at_ms", required=True),
)
