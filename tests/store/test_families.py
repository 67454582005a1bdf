"""Resumes and forks of one session are one family: what they share is never on two sides of a split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillopt_harvesters import discover, read
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.sessions import session_name
from skillopt_sleep.ingest import harvest
from skillopt_sleep.mine import episodes_of
from skillopt_sleep.mine.tasks import twin_groups
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store


def name(n: int) -> str:
    return f"00000000-0000-4000-8000-{n:012d}"


def said(session: str, n: int, text: str) -> dict[str, Any]:
    at = f"2026-11-01T10:00:{n:02}.000Z"
    return {"type": "user", "uuid": name(1000 + n), "sessionId": session, "cwd": "/shop", "timestamp": at,
            "message": {"role": "user", "content": text}}  # fmt: skip


def write(home: Path, session: str, *records: dict[str, Any]) -> None:
    path = home / ".claude/projects/-shop" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_resumes_of_resumes_belong_to_the_session_that_began(store: Store, tmp_path: Path, clock: FixedClock) -> None:
    one, two, three, other, orphan, lost = map(name, range(1, 7))
    first, more = said(one, 1, "mend the cart"), said(two, 2, "and the label")
    write(tmp_path, one, first)
    write(tmp_path, two, first, more)
    write(tmp_path, three, more, said(three, 3, "and the page"))
    write(tmp_path, other, said(other, 4, "something else"))
    write(tmp_path, orphan, said(lost, 5, "was said elsewhere"), said(orphan, 6, "and goes on here"))
    harvest(store, discover(tmp_path, {})[0], read, Redactor(engine=False), clock)
    found = {one.native_id: one for one in store.stored_sessions()}
    family = session_name("claude-code", one)
    assert {native: each.family for native, each in found.items()} == {
        one: "", two: family, three: family, other: "", orphan: session_name("claude-code", lost),
    }  # fmt: skip
    assert found[one].id == family
    episodes = [episode for each in found.values() for episode in episodes_of(each)]
    groups = twin_groups(episodes)
    by_session = {episode.session: groups[episode.id] for episode in episodes}
    assert len({by_session[found[native].id] for native in (one, two, three)}) == 1
    assert by_session[found[other].id] != by_session[found[one].id]
