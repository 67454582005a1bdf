"""Sessions cut into episodes: one genuine request and all that followed until the next (architecture.md)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final

from skillopt_sleep.domain.episodes import Action, Episode
from skillopt_sleep.domain.sessions import StoredEvent, StoredSession
from skillopt_sleep.mine.actions import Said, actions_of
from skillopt_sleep.mine.places import Places, owner

_FOREIGN: Final = frozenset({"subagent", "own"})
_TYPED: Final = frozenset({"prompt", "queued"})
_REASON: Final = 1000
"""Characters of a person's words that are kept as the reason of a refusal; what is typed next and longer is none."""
_SHORTEST_TWIN: Final = 24
"""Normalised characters below which equal prompts ("yes", "continue") are no twins."""


@dataclass(slots=True)
class _Stretch:
    """The events of one request, opened by the event `head` (None before the first prompt)."""

    head: StoredEvent | None
    events: list[StoredEvent] = field(default_factory=list)


def episodes_of(session: StoredSession, root: str = "") -> tuple[Episode, ...]:
    """The session's episodes in order. `root` is the project's folder on that machine, by default its project's name
    where that is a folder, and where it ran.

    Sub-agents' and our own sessions give none, nor do requests without any prompt and action. A refused call without a
    reason gets the next words that the person typed before anything else was done (transcript-formats.md 1.5).
    """
    if session.origin in _FOREIGN:
        return ()
    events = sorted((e for e in session.events if not e.agent_id), key=lambda e: e.seq)
    project = session.project if owner(session.project) or session.project.startswith("/") else ""
    reader = _Reader(session, events, Places(root or project, session.cwd))
    drafts = [reader.episode(s) for s in _stretches(events) if s.head is not None or _has_call(s)]
    return tuple(_corrected(draft, after) for draft, after in zip_longest(drafts, drafts[1:]))


def _stretches(events: Sequence[StoredEvent]) -> list[_Stretch]:
    """Cut at each prompt; a slash command opens a stretch only where calls follow it."""
    stretches = [_Stretch(None)]
    for event in events:
        if event.kind in {"prompt", "command"} and event.author == "person":
            stretches.append(_Stretch(event))
        else:
            stretches[-1].events.append(event)
    kept: list[_Stretch] = []
    for stretch in stretches:
        if stretch.head is not None and stretch.head.kind == "command" and not _has_call(stretch) and kept:
            kept[-1].events.extend(stretch.events)
        else:
            kept.append(stretch)
    return kept


def _has_call(stretch: _Stretch) -> bool:
    return any(e.kind == "call" for e in stretch.events)


def _corrected(episode: Episode, following: Episode | None) -> Episode:
    if following is None:
        return episode
    return replace(episode, correction=following.prompt, correction_event=following.prompt_event)


class _Reader:
    """What the episodes of one session share: usage by message, reasons by call."""

    def __init__(self, session: StoredSession, events: Sequence[StoredEvent], places: Places) -> None:
        self.session = session
        self.places = places
        self.person = owner(session.cwd)
        self.calls = Counter(e.message_id for e in events if e.kind == "call")
        self.reasons = _reasons(events)

    def episode(self, stretch: _Stretch) -> Episode:
        head, events = stretch.head, stretch.events
        first = head or events[0]
        queued = [e for e in events if e.kind == "queued"]
        interrupts = [e for e in events if e.kind == "interrupt"]
        answers = [e.text for e in events if e.kind == "answer"]
        actions = tuple(a for e in events if e.kind == "call" for a in self.actions(e))
        return Episode(
            id=f"{self.session.id}:{first.seq}",
            session=self.session.id,
            agent=self.session.agent,
            project=self.session.project,
            person=self.person,
            began_ms=next((e.at_ms for e in (first, *events) if e.at_ms is not None), self.session.started_ms),
            prompt=head.text if head else "",
            prompt_event=first.id,
            actions=actions,
            queued=tuple(e.text for e in queued),
            queued_events=tuple(e.id for e in queued),
            answer=answers[-1] if answers else "",
            interrupted=bool(interrupts) or any(e.outcome == "interrupted" for e in events),
            interrupt_event=interrupts[0].id if interrupts else None,
            compacted=tuple(e.seq for e in events if e.kind == "compaction"),
            tokens=self.written(events, actions),
            start_commit=self.session.head_commit,
            twin=twin_of(head.text) if head else "",
            family=self.session.family or self.session.id,
        )

    def actions(self, event: StoredEvent) -> tuple[Action, ...]:
        shared = self.session.output_by_message.get(event.message_id, 0) if event.message_id else 0
        tokens = shared // max(1, self.calls[event.message_id])
        return actions_of(event, self.places, tokens, self.reasons.get(event.id))

    def written(self, events: Sequence[StoredEvent], actions: Sequence[Action]) -> int:
        """Output tokens: by message where the recorded count is the larger, else by the length of what was written."""
        by_message = Counter[str]()
        for event in events:
            if event.kind == "answer" and event.author == "agent":
                by_message[event.message_id] += len(event.text) // 4
        messages = {e.id: e.message_id for e in events}
        for action in actions:
            by_message[messages[action.id]] += action.tokens
        usage: Mapping[str, int] = self.session.output_by_message
        return sum(max(usage.get(message, 0), own) for message, own in by_message.items())


def _reasons(events: Sequence[StoredEvent]) -> dict[int, Said]:
    """The person's words by the row of the refused call: those handed over with the refusal, else those typed next."""
    by_call = {e.call_id: Said(e.text[:_REASON], e.id) for e in events if e.kind == "rejection" and e.call_id}
    found: dict[int, Said] = {}
    waiting: list[int] = []
    for event in events:
        if event.kind == "call":
            if event.outcome != "refused":
                waiting = []
            elif event.call_id in by_call:
                found[event.id] = by_call[event.call_id]
            else:
                waiting.append(event.id)
        elif event.kind in _TYPED and event.author == "person":
            if len(event.text) <= _REASON:
                found.update(dict.fromkeys(waiting, Said(event.text, event.id)))
            waiting = []
    return found


def twin_of(prompt: str) -> str:
    """The digest of a prompt without case and spacing; "" for one too short to tell twins by."""
    normal = " ".join(prompt.casefold().split())
    if len(normal) < _SHORTEST_TWIN:
        return ""
    return hashlib.blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
