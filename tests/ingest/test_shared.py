"""Other people's real transcripts: each is read or said to be unreadable, and a second pass finds nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from skillopt_harvesters import discover_loose, read
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.ingest import harvest
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store

HISTORY = "claude/entireio__cli_history"


@pytest.mark.shared
def test_a_teams_history_is_stored_once_and_read_back_whole(
    shared: Path, store: Store, clock: FixedClock, redactor: Redactor
) -> None:
    sources, trouble, _ = discover_loose([shared / "transcripts" / HISTORY])
    done = harvest(store, sources, read, redactor, clock, trouble=trouble)
    assert done.files == len(sources) > 100
    assert not done.unreadable
    assert done.new > 90
    documents = list(store.sessions())
    assert len(documents) == done.new
    assert sum(len(document["prompts"]) for document in documents) > 500
    wanted = {event.key for source in sources for batch in read(source) for event in batch.events}
    assert store.driver.execute("SELECT count(*) FROM event WHERE kind <> 'withdrawn'").fetchone() == (len(wanted),)
    calls = [e for s in store.stored_sessions() for e in s.events if e.kind == "call"]
    assert sum(event.outcome == "refused" for event in calls) >= 40
    assert len({event.id for event in calls}) == len(calls)
    again = harvest(store, discover_loose([shared / "transcripts" / HISTORY])[0], read, redactor, clock)
    assert (again.bytes, again.new, again.updated, again.unchanged) == (0, 0, 0, done.new)


@pytest.mark.shared
def test_every_source_of_all_agents_is_read_or_said_to_be_unreadable(
    shared: Path, store: Store, clock: FixedClock, redactor: Redactor
) -> None:
    sources, trouble, others = discover_loose([shared / "transcripts"])
    done = harvest(store, sources, read, redactor, clock, trouble=trouble)
    states = dict(store.driver.execute("SELECT state, count(*) FROM source GROUP BY state").fetchall())
    assert sum(states.values()) == len(sources)
    assert states.get("pending", 0) == 0
    assert len(done.unreadable) == states.get("unreadable", 0) + len(trouble)
    assert len(sources) + len(trouble) + len(others) >= 522
    assert not duplicated_prompts([row for row in store.sessions("all") if row["agent"] == "claude-code"])


def duplicated_prompts(documents: list[dict[str, Any]]) -> list[str]:
    """Long prompts with one time that stand in two sessions: the same record, stored twice."""
    seen: dict[tuple[str, str], str] = {}
    twice = []
    for document in documents:
        for prompt in document["prompts"]:
            key = (prompt["text"], prompt["at"])
            if len(prompt["text"]) > 40 and prompt["at"] and seen.setdefault(key, document["id"]) != document["id"]:
                twice.append(json.dumps([seen[key], document["id"], re.sub(r"\s+", " ", prompt["text"])[:60]]))
    return twice
