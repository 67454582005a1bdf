"""OpenClaw: Pi's format, with notes around what a person says, and files that stay when a session is gone."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillopt_harvesters import Kind, Origin, Trouble
from skillopt_harvesters.openclaw import OpenClaw
from skillopt_harvesters.openclaw_words import said

NOTE = 'Conversation info (untrusted metadata):\n```json\n{"sender": "x"}\n```\n\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix it", "fix it"),
        (f"{NOTE}fix it", "fix it"),
        (f"{NOTE}{NOTE}[Fri 2026-11-20 10:00 UTC] fix it", "fix it"),
        ("[Telegram x id:1 2026-11-20 10:00 UTC] fix it\n[message_id: 12]", "fix it"),
        ("System: [10:00] Node connected.\nSystem: again\n\nfix it", "fix it"),
        ("[media attached: /x/a.png (image/png)]\nlook at it", "look at it"),
        ("[see] the docs", "[see] the docs"),
        (NOTE, ""),
    ],
)
def test_the_notes_around_what_was_said_are_no_words(text: str, words: str) -> None:
    assert said(text).words == words


@pytest.mark.parametrize(
    ("text", "why", "machine"),
    [
        ("[cron:1 daily] tidy up", "timer", "timer"),
        ("[Subagent Context] You are a subagent", "sub-agent's task", "sub-agent"),
        ("Read HEARTBEAT.md if it exists. Reply HEARTBEAT_OK.", "heartbeat", ""),
        ("A new session was started via /new or /reset. Greet the user.", "housekeeping", ""),
        ("Pre-compaction memory flush. Store memories now.", "housekeeping", ""),
        ("[System Message] done", "housekeeping", ""),
        ("  ", "no words", ""),
    ],
)
def test_what_the_program_says_is_no_word_of_the_persons(text: str, why: str, machine: str) -> None:
    assert said(text) == ("", why, machine)


@pytest.fixture
def told(write: Any, as_agent: Any, samples: ModuleType, made: ModuleType) -> Any:
    """Read a session in which these texts are said, one after the other."""

    def read(*texts: str, name: str = "s1.jsonl") -> Any:
        entries = [samples.pi_user(n, n - 1 if n > 1 else None, text) for n, text in enumerate(texts, 1)]
        content = samples.dumped(samples.pi_head(made), *entries)
        return as_agent(write(f"agents/main/sessions/{name}", content), "openclaw")

    return read


@pytest.mark.parametrize(
    ("first", "origin"),
    [
        ("fix it", Origin.INTERACTIVE),
        ("[cron:1 daily] tidy up", Origin.HEADLESS),
        ("[Subagent Task] look", Origin.SUBAGENT),
    ],
)
def test_whose_a_session_is_its_first_words_say(first: str, origin: Origin, told: Any) -> None:
    assert told(first).facts.origin is origin


def test_a_timer_later_in_a_session_of_the_persons_changes_nothing(told: Any) -> None:
    found = told("fix it", "[cron:1 daily] tidy up", "thanks")
    assert found.facts.origin is Origin.INTERACTIVE
    assert found.texts(Kind.PROMPT) == ["fix it", "thanks"]


def test_what_stays_of_a_deleted_session_counts_once(told: Any) -> None:
    names = ("s1.jsonl", "s1.jsonl.deleted.2026-11-21T10-00-00.000Z", "s1.jsonl.reset.2026-11-21T10-00-00.000Z")
    first, *others = (told("fix it", name=name) for name in names)
    assert first.events.keys()
    assert all(other.events.keys() == first.events.keys() for other in others)
    assert {found.facts.native_id for found in (first, *others)} == {first.facts.native_id}


def test_sessions_are_found_also_when_they_are_gone_and_traces_are_none(write: Any, tmp_path: Path) -> None:
    names = [
        "a.jsonl",
        "b.jsonl.deleted.2026-11-21T10-00-00.000Z",
        "c.jsonl.reset.2026-11-21T10-00-00.000Z",
        "d.jsonl.full.bak",
    ]
    others = ["a.trajectory.jsonl", "sessions.json", "a.jsonl.lock", "below/e.jsonl"]
    for name in (*names, *others):
        write(f"agents/main/sessions/{name}", b"{}\n")
    write("agents/main/other/f.jsonl", b"{}\n")
    trouble: list[Trouble] = []
    assert sorted(Path(s.path).name for s in OpenClaw().find(tmp_path / "agents", trouble)) == names
    assert trouble == []
