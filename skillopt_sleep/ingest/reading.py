"""Reading what has changed, in chunks that are stored together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from skillopt_harvesters.model import Batch, Cursor, Source, Trouble, Unreadable
from skillopt_sleep.ingest.excluding import Excluded
from skillopt_sleep.ingest.tally import Tally
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.sources import cursor_of

FILES: Final = 64
"""Files of a chunk, at most: a killed harvest reads at most so many again."""
EVENTS: Final = 4096
BYTES: Final = 16 << 20
"""Bytes read for a chunk, about: it bounds the memory that text takes."""

Read = Callable[[Source, Cursor | None], Iterator[Batch]]
"""`skillopt_harvesters.read`: batches of a source from the cursor on."""


@dataclass(slots=True)
class Taken:
    """What was read of one source, still raw. `pending`: there is more of it."""

    source: Source
    batches: list[Batch] = field(default_factory=list)
    state: Literal["pending", "read", "unreadable", "excluded"] = "pending"
    why: str = ""


@dataclass(slots=True)
class _Chunk:
    taken: list[Taken] = field(default_factory=list)
    events: int = 0
    bytes: int = 0

    @property
    def full(self) -> bool:
        return len(self.taken) >= FILES or self.events >= EVENTS or self.bytes >= BYTES


def chunks(
    store: Store, sources: Sequence[Source], read: Read, excluded: Excluded, tally: Tally
) -> Generator[list[Taken], None, None]:
    """Read the sources one after the other. A long one may go over several chunks; its last `Taken` is not pending."""
    chunk = _Chunk()
    for source in sources:
        cursor = cursor_of(store, source)
        for taken in _pieces(source, cursor, read, excluded, tally, chunk):
            chunk.taken.append(taken)
            if chunk.full:
                yield chunk.taken
                chunk.taken, chunk.events, chunk.bytes = [], 0, 0
    if chunk.taken:
        yield chunk.taken


def _pieces(
    source: Source, cursor: Cursor | None, read: Read, excluded: Excluded, tally: Tally, chunk: _Chunk
) -> Iterator[Taken]:
    """A source's batches, cut where the chunk is full."""
    taken, at = Taken(source), cursor.offset if cursor else 0
    try:
        for batch in read(source, cursor):
            if excluded.names_any(batch.session.cwds):
                taken.state, taken.why, taken.batches = "excluded", excluded.digest, []
                break
            taken.batches.append(batch)
            chunk.events += len(batch.events)
            chunk.bytes += (new := _advance(at, batch.cursor.offset))
            tally.read(batch, new)
            at = batch.cursor.offset
            if batch.more and chunk.full:
                yield taken
                taken = Taken(source)
        else:
            taken.state = "read"
    except Unreadable as problem:
        taken.state, taken.why = "unreadable", problem.reason
    except OSError as problem:
        taken.state, taken.why = "unreadable", problem.strerror or str(problem)
    if taken.state == "unreadable":
        tally.unreadable(source.path, taken.why)
    yield taken


def _advance(before: int, after: int) -> int:
    """Bytes between two cursors; a file that was begun anew counts from its beginning."""
    return after - before if after >= before else after


def trouble_of(tally: Tally, trouble: Sequence[Trouble]) -> None:
    """What could not even be listed."""
    for one in trouble:
        tally.unreadable(one.path, one.reason)
