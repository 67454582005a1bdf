"""The border: what was read becomes what may be stored. No text passes here but through the redactor.

Runs in a thread of its own beside the reading, a chunk at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from skillopt_harvesters.model import HEAD, KEEP, Batch, Cursor, Event, Kind, SessionFacts
from skillopt_sleep.ingest.projects import is_home, project_root, remote_digest, tidy
from skillopt_sleep.ingest.reading import Taken, to_go_on
from skillopt_sleep.ingest.remembered import clean_states
from skillopt_sleep.redact import RULES_VERSION, Redacted
from skillopt_sleep.store import bodies
from skillopt_sleep.store.intake import (
    CleanBatch,
    CleanFacts,
    CleanSource,
    EventRow,
    SkillRow,
    event_rows,
    identifier,
    identifiers,
    record_keys,
    usage_rows,
)

CALL, SKILL = Kind.CALL, Kind.SKILL
NAMES: Final = 1 << 16
"""Names (folders, branches, tools) whose redacted form is remembered."""


class TakesSecretsOut(Protocol):
    """What is asked of `skillopt_sleep.redact.Redactor`."""

    def redact_many(self, texts: Sequence[str]) -> list[Redacted]: ...

    def clip_many(self, texts: Sequence[str], limit: int) -> list[Redacted]: ...


@dataclass(slots=True)
class Cleaner:
    """Cleans chunk after chunk. `own` are the native ids of our own replays; `names` what was seen before."""

    redactor: TakesSecretsOut
    own: Collection[str] = ()
    names: dict[str, Redacted] = field(default_factory=dict)

    def clean(self, chunk: Sequence[Taken]) -> list[CleanSource]:
        """The chunk ready to be stored, in its order."""
        said = _Said.of(self.redactor, chunk)
        self._learn(chunk)
        cursors = self._cursors(chunk, said)
        return [self._source(taken, cursor, said) for taken, cursor in zip(chunk, cursors, strict=True)]

    def _source(self, taken: Taken, cursor: Cursor | None, said: _Said) -> CleanSource:
        return CleanSource(
            taken.source,
            taken.state,
            cursor,
            taken.why,
            [self._batch(batch, said) for batch in taken.batches],
            sum(batch.understood for batch in taken.batches),
            sum(batch.unknown for batch in taken.batches),
            _together(batch.skipped for batch in taken.batches),
        )

    def _batch(self, batch: Batch, said: _Said) -> CleanBatch:
        agent, events = batch.session.agent, batch.events
        rows = event_rows(agent, events, self.names)
        return CleanBatch(
            self._facts(batch.session),
            rows,
            bodies.of_stretch(said.of_events(events), RULES_VERSION) if events else None,
            record_keys(agent, [one.key for one in batch.usage]),
            usage_rows(batch.usage),
            [_skill_row(row, event) for row, event in zip(rows, events, strict=True) if event.kind is SKILL],
            list(record_keys(agent, batch.withdrawn)),
        )

    def _cursors(self, chunk: Sequence[Taken], said: _Said) -> list[Cursor | None]:
        """Where each source is to be gone on with; no cursor where nothing of it was read."""
        last = [taken.cursor.state if taken.cursor else b"" for taken in chunk]
        states = clean_states(last, self.redactor.redact_many, said.all | _kept_names(chunk))
        return [_cursor(to_go_on(taken), state) for taken, state in zip(chunk, states, strict=True)]

    def _facts(self, facts: SessionFacts) -> CleanFacts:
        cwds = tuple(self.names[tidy(cwd)] for cwd in facts.cwds)
        own = facts.native_id in self.own
        return CleanFacts(
            agent=facts.agent,
            native_id=identifier(facts.native_id),
            origin="own" if own else str(facts.origin),
            parent=identifier(facts.parent),
            fork_of=identifier(facts.fork_of),
            root=self.names[project_root(facts)],
            git_root=self.names["" if is_home(facts.git_root) else tidy(facts.git_root)],
            remote=remote_digest(facts.remote),
            cwd=cwds[0] if cwds else self.names[""],
            cwds=cwds,
            branch=self.names[facts.branch],
            head_commit=identifier(facts.head_commit),
            agent_version=identifier(facts.agent_version),
            models=tuple(identifier(model) for model in facts.models),
            title=self.names[facts.title],
            started_ms=facts.started_ms,
            ended_ms=facts.ended_ms,
        )

    def _learn(self, chunk: Sequence[Taken]) -> None:
        """Redact the names that this chunk uses and that are new."""
        if len(self.names) > NAMES:
            self.names.clear()
        wanted = {""}
        for taken in chunk:
            for batch in taken.batches:
                wanted.update(event.tool for event in batch.events)
                wanted.update(_names_of(batch.session))
        fresh = [name for name in wanted if name not in self.names]
        self.names.update(zip(fresh, self.redactor.redact_many([whole(name) for name in fresh]), strict=True))


def _cursor(at: Cursor | None, state: bytes | None) -> Cursor | None:
    if at is None or state is None:
        return at and Cursor()
    return Cursor(offset=at.offset, before=at.before, parser=at.parser, state=bodies.squeezed(state))


def _names_of(facts: SessionFacts) -> Iterable[str]:
    yield from map(tidy, facts.cwds)
    yield from (project_root(facts), tidy(facts.git_root), facts.branch, facts.title)


def _skill_row(row: EventRow, event: Event) -> SkillRow:
    seen = "" if event.output_digest is None else event.output_digest
    opened = event.head == "opened"
    return (row[0], row[6], seen, None if opened else 1, 1 if opened else None)


def _kept_names(chunk: Sequence[Taken]) -> dict[str, str]:
    """The names of messages that are stored as they are, under themselves."""
    names = [one.key for taken in chunk for batch in taken.batches for one in batch.usage]
    return {raw: kept for raw, kept in zip(names, identifiers(names), strict=True) if raw == kept}


def _together(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for reason, n in one.items():
            total[reason] = total.get(reason, 0) + n
    return total


def whole(text: str) -> str:
    """Text without lone surrogates, which nothing outside Python can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def all_whole(texts: Iterable[str]) -> list[str]:
    return [text if text.isascii() else whole(text) for text in texts]


@dataclass(frozen=True, slots=True)
class _Said:
    """What the events of a chunk say, redacted: each distinct text once, by its raw form."""

    words: Mapping[str, Redacted]  # kept whole
    calls: Mapping[str, Redacted]  # up to KEEP
    heads: Mapping[str, Redacted]  # up to HEAD

    @classmethod
    def of(cls, redactor: TakesSecretsOut, chunk: Sequence[Taken]) -> _Said:
        words: dict[str, None] = {"": None}
        calls: dict[str, None] = {"": None}
        heads: dict[str, None] = {"": None}
        for taken in chunk:
            for batch in taken.batches:
                events = batch.events
                words.update(dict.fromkeys([event.text for event in events if event.kind is not CALL]))
                calls.update(dict.fromkeys([event.text for event in events if event.kind is CALL]))
                calls.update(dict.fromkeys([event.arguments for event in events]))
                heads.update(dict.fromkeys([event.head for event in events]))
        return cls(
            dict(zip(words, redactor.redact_many(all_whole(words)), strict=True)),
            dict(zip(calls, redactor.clip_many(all_whole(calls), KEEP), strict=True)),
            dict(zip(heads, redactor.clip_many(all_whole(heads), HEAD), strict=True)),
        )

    @property
    def all(self) -> dict[str, Redacted]:
        """What was redacted, by its raw form."""
        return {**self.heads, **self.calls, **self.words}

    def of_events(self, events: Sequence[Event]) -> Sequence[bodies.WordsRow]:
        """What the events say, in their order."""
        words, calls, heads = self.words, self.calls, self.heads
        return [
            (
                (calls if event.kind is CALL else words)[event.text],
                calls[event.arguments],
                heads[event.head],
                call,
                message,
                agent,
                event.output_length,
                event.output_digest,
            )
            for event, call, message, agent in zip(
                events,
                identifiers([event.call_id for event in events]),
                identifiers([event.message_id for event in events]),
                identifiers([event.agent_id for event in events]),
                strict=True,
            )
        ]
