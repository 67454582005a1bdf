"""What an attempt did, read from the transcript that the agent left in its HOME, by the harvesters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skillopt_core.types import Skill
from skillopt_harvesters import Event, Kind, Outcome, SessionFacts, Usage, discover, read
from skillopt_sleep.agents.native.rooms import body_of
from skillopt_sleep.agents.telling import both_ends, short
from skillopt_sleep.domain.answers import Answer

MOST: Final = 24_000
"""Characters of what a critic may read of an attempt: its beginning and its end."""
_TEXT_DIGEST: Final = 32
"""Hex digits where a transcript names the digest of a skill's text, and not of a command's output."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One attempt as its transcript has it. `session` is its native id, `input` counts cached tokens as well.

    `facts`, `events` and `usage` are its session as the harvesters read it, events in order of time.
    """

    session: str
    answer: str
    tools: tuple[str, ...]
    errors: int
    offered: bool
    opened: bool
    loaded: str | None
    transcript: str
    input: int
    output: int
    facts: SessionFacts | None = None
    events: tuple[Event, ...] = field(default=(), repr=False)
    usage: tuple[Usage, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Attempted(Answer):
    """An answer with all that there is of its attempt, as long as its rooms are there: its transcript, its folder.

    `seen` is raw: redact before anything of it is kept.
    """

    seen: Seen | None = None
    folder: Path = Path()


@dataclass
class _Found:
    facts: SessionFacts | None = None
    events: dict[str, Event] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)


def seen(agent: str, home: Path, skill: Skill, name: str, file: Path) -> Seen | None:
    """What the transcripts below a HOME say; None where there is no session. `file` is where the skill was laid."""
    found = _found(agent, home)
    if found.facts is None or not found.facts.native_id:
        return None
    events = sorted(found.events.values(), key=lambda event: (event.at_ms or 0, event.offset))
    calls = [event for event in events if event.kind is Kind.CALL]
    skills = [event for event in events if event.kind is Kind.SKILL and event.tool == name]
    opened = [event for event in skills if event.head == "opened"]
    answers = [event.text for event in events if event.kind is Kind.ANSWER and not event.agent_id]
    return Seen(
        session=found.facts.native_id,
        answer=answers[-1] if answers else "",
        tools=tuple(call.tool for call in calls),
        errors=sum(call.outcome is Outcome.ERROR for call in calls),
        offered=any(event.head == "offered" for event in skills),
        opened=bool(opened),
        loaded=_loaded(opened[-1], skill, file) if opened else None,
        transcript=_told(events),
        input=sum(usage.input + usage.cache_read + usage.cache_write for usage in found.usage.values()),
        output=sum(usage.output for usage in found.usage.values()),
        facts=found.facts,
        events=tuple(events),
        usage=tuple(found.usage.values()),
    )


def _found(agent: str, home: Path) -> _Found:
    """All events of the HOME; the session is the one that no other one started."""
    found = _Found()
    for source in discover(home, {}, {agent})[0]:
        for batch in read(source):
            if not batch.session.parent:
                found.facts = batch.session
            found.events.update({event.key: event for event in batch.events})
            found.usage.update({usage.key: usage for usage in batch.usage})
            for key in batch.withdrawn:
                found.events.pop(key, None)
    return found


def _loaded(opened: Event, skill: Skill, file: Path) -> str:
    """The digest of the text that the agent got: the skill's own where it was that one.

    Where the transcript names the digest of the body that is what counts, else the file as it stands afterwards.
    """
    if len(opened.output_digest) == _TEXT_DIGEST:
        body = hashlib.blake2b(body_of(skill).strip().encode("utf-8", "replace"), digest_size=16).hexdigest()
        return skill.digest if opened.output_digest == body else opened.output_digest
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def _told(events: Iterable[Event]) -> str:
    """One line a call, the answers whole; cut in the middle."""
    return both_ends("\n".join(line for event in events if (line := _line(event))), MOST)


def _line(event: Event) -> str:
    if event.kind is Kind.ANSWER:
        return event.text
    if event.kind is Kind.SKILL and event.head == "opened":
        return f"[opened the skill {event.tool}]"
    if event.kind is Kind.ERROR:
        return f"[error] {short(event.text)}"
    if event.kind is not Kind.CALL:
        return ""
    came = event.outcome.value if event.outcome else "open"
    said = short(event.text or event.head)
    return f"[called {event.tool}] {short(event.arguments)}\n[{came}] {said}".rstrip()
