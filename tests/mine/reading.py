"""Transcripts read by the harvesters and given to the miner as the store would give them back, without a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from skillopt_harvesters import Batch, Event, discover_loose, read
from skillopt_sleep.domain.sessions import StoredEvent, StoredSession

ROW = 1_000_000
"""Rows of one session: the n-th session's events are numbered from n million."""


def stored_sessions(paths: Iterable[Path], project: str = "") -> Iterator[StoredSession]:
    """All sessions below the paths, in order of their file names; a record that came before is not taken again.

    `project` joins them to one project; by default each belongs to its own working folder.
    """
    sources, _, _ = discover_loose(paths)
    taken: set[tuple[str, str]] = set()
    for number, source in enumerate(sorted(sources, key=lambda s: s.path), 1):
        batches = list(read(source))
        if batches:
            yield _session(batches, number, source.agent, source.path, project, taken)


def _session(
    batches: list[Batch], number: int, agent: str, path: str, project: str, taken: set[tuple[str, str]]
) -> StoredSession:
    facts = batches[-1].session
    folded: dict[str, Event] = {}
    for event in (e for batch in batches for e in batch.events):
        if (agent, event.key) not in taken:
            folded[event.key] = event
    taken.update((agent, key) for key in folded)
    name = f"{agent}/{Path(path).parent.name if Path(path).stem == 'events' else Path(path).stem}"
    events = tuple(_event(name, number * ROW + n, n, event) for n, event in enumerate(folded.values()))
    times = [e.at_ms for e in events if e.at_ms is not None]
    cwd = facts.cwds[0] if facts.cwds else ""
    return StoredSession(
        id=name,
        agent=agent,
        native_id=facts.native_id,
        origin=facts.origin,
        project=project or cwd,
        cwd=cwd,
        branch=facts.branch,
        head_commit=facts.head_commit,
        agent_version=facts.agent_version,
        started_ms=min(times, default=0),
        ended_ms=max(times, default=0),
        events=events,
        output_by_message={u.key: u.output for batch in batches for u in batch.usage},
    )


def _event(session: str, row: int, seq: int, event: Event) -> StoredEvent:
    return StoredEvent(
        id=row,
        session=session,
        seq=seq,
        kind=event.kind,
        author=event.author,
        at_ms=event.at_ms,
        text=event.text[:4096] if event.kind == "call" else event.text,
        call_id=event.call_id,
        tool=event.tool,
        arguments=event.arguments[:4096],
        outcome=event.outcome or "",
        output_length=event.output_length,
        output_digest=event.output_digest,
        head=event.head[:256],
        message_id=event.message_id,
        agent_id=event.agent_id,
    )
