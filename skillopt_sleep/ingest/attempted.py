"""An attempt's session, as raw as its transcript has it, to what the miner reads: redacted like all that is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skillopt_harvesters.model import HEAD, KEEP, Event, Kind, SessionFacts, Usage
from skillopt_sleep.domain.sessions import StoredEvent, StoredSession, session_name
from skillopt_sleep.ingest.cleaning import TakesSecretsOut, all_whole


class Seen(Protocol):
    """What was read of an attempt, events in order of time."""

    @property
    def facts(self) -> SessionFacts | None: ...

    @property
    def events(self) -> tuple[Event, ...]: ...

    @property
    def usage(self) -> tuple[Usage, ...]: ...


def as_stored(seen: Seen, project: str, folder: str, redactor: TakesSecretsOut) -> StoredSession:
    """The session as it would come out of the store, had it been a person's in this project. It is kept nowhere."""
    facts = seen.facts or SessionFacts(agent="", native_id="")
    name, events = session_name(facts.agent, facts.native_id), seen.events
    calls = [event.kind is Kind.CALL for event in events]
    texts = [event.text for event in events]
    words = redactor.redact_many(all_whole(texts))
    short = redactor.clip_many(all_whole(texts), KEEP)
    given = redactor.clip_many(all_whole([event.arguments for event in events]), KEEP)
    heads = redactor.clip_many(all_whole([event.head for event in events]), HEAD)
    tools = redactor.redact_many(all_whole([event.tool for event in events]))
    said: Sequence[str] = [c if call else w for call, w, c in zip(calls, words, short, strict=True)]
    return StoredSession(
        id=name,
        agent=facts.agent,
        native_id=facts.native_id,
        origin="headless",
        project=project,
        cwd=folder,
        branch="",
        head_commit="",
        agent_version=facts.agent_version,
        started_ms=facts.started_ms or 0,
        ended_ms=facts.ended_ms or 0,
        events=tuple(
            _event(name, n, event, *row)
            for n, (event, *row) in enumerate(zip(events, said, tools, given, heads, strict=True))
        ),
        output_by_message={one.key: one.output for one in seen.usage},
    )


def _event(session: str, n: int, event: Event, text: str, tool: str, arguments: str, head: str) -> StoredEvent:
    return StoredEvent(
        id=n,
        session=session,
        seq=n,
        kind=str(event.kind),
        author=str(event.author),
        at_ms=event.at_ms,
        text=text,
        call_id=event.call_id,
        tool=tool,
        arguments=arguments,
        outcome="" if event.outcome is None else str(event.outcome),
        output_length=event.output_length,
        output_digest=event.output_digest,
        head=head,
        message_id=event.message_id,
        agent_id=event.agent_id,
    )
