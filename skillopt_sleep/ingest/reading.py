"""Reading what has changed, in chunks that are stored together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from skillopt_harvesters.model import Batch, Cursor, Source, Trouble, Unreadable
from skillopt_sleep.ingest.excluding import Excluded
from skillopt_sleep.ingest.tally import EXCLUDED, Tally
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.sources import cursor_of

FILES: Final = 64
"""Files of a chunk, at most: a killed harvest reads at most so many again."""
EVENTS: Final = 4096
BYTES: Final = 16 << 20
"""Bytes read for a chunk, about: it bounds the memory that text takes."""

LEFT_OUT: Final = " without "
"""Stands in a kept cursor between the digest of what precedes it and that of the patterns by which sessions of a
database were left out: when they are wanted the database is read anew."""

Read = Callable[[Source, Cursor | None], Iterator[Batch]]
"""`skillopt_harvesters.read`: batches of a source from the cursor on."""


@dataclass(slots=True)
class Taken:
    """What was read of one source, still raw, and where to go on. `pending`: there is more of it. `left_out`: before
    that place lie sessions that were excluded by the patterns of this digest."""

    source: Source
    batches: list[Batch] = field(default_factory=list)
    state: Literal["pending", "read", "unreadable", "excluded"] = "pending"
    why: str = ""
    cursor: Cursor | None = None
    left_out: str = ""


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
        cursor, left_out = going_on(cursor_of(store, source), excluded)
        for taken in _pieces(Taken(source, left_out=left_out), cursor, read, excluded, tally, chunk):
            chunk.taken.append(taken)
            if chunk.full:
                yield chunk.taken
                chunk.taken, chunk.events, chunk.bytes = [], 0, 0
    if chunk.taken:
        yield chunk.taken


def going_on(cursor: Cursor | None, excluded: Excluded) -> tuple[Cursor | None, str]:
    """Where to go on, and by which patterns sessions before it were left out; anew where they are others now."""
    if cursor is None:
        return None, ""
    before, _, left_out = cursor.before.partition(LEFT_OUT)
    if left_out not in ("", excluded.digest):
        return None, ""
    return Cursor(offset=cursor.offset, before=before, parser=cursor.parser, state=cursor.state), left_out


def to_go_on(taken: Taken) -> Cursor | None:
    """The same to be kept, without what its reader remembers."""
    if taken.cursor is None:
        return None
    before = f"{taken.cursor.before}{LEFT_OUT}{taken.left_out}" if taken.left_out else taken.cursor.before
    return Cursor(offset=taken.cursor.offset, before=before, parser=taken.cursor.parser)


def _pieces(
    taken: Taken, cursor: Cursor | None, read: Read, excluded: Excluded, tally: Tally, chunk: _Chunk
) -> Iterator[Taken]:
    """A source's batches, cut where the chunk is full."""
    source, at = taken.source, cursor.offset if cursor else 0
    try:
        for batch in read(source, cursor):
            if excluded.names_any(batch.session.cwds):
                taken.left_out = excluded.digest
                tally.leave_out(EXCLUDED, 1)
                if not batch.one_of_many:
                    taken.batches, taken.cursor = [], None
                    break
                taken.cursor = batch.cursor
                continue
            taken.batches.append(batch)
            taken.cursor = batch.cursor
            chunk.events += len(batch.events)
            chunk.bytes += (new := _advance(at, batch.cursor.offset))
            tally.read(batch, new)
            at = batch.cursor.offset
            if batch.more and chunk.full:
                yield taken
                taken = Taken(source, left_out=taken.left_out)
        taken.state, taken.why = ("excluded" if taken.left_out else "read"), taken.left_out
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
