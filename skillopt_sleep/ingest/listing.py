"""What is to be read: one listing of the sources and one select decide what is unchanged.

A listing that is the last one to the letter, when all of it was unchanged, needs no select.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec

from skillopt_harvesters.model import Source
from skillopt_sleep.ingest.excluding import Excluded
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.sources import Key, KnownSource, Seen, known_sources, path_text, seen_listing, signed


@dataclass(slots=True)
class Listing:
    """Sources by what is to be done with them. `twins` are further names of a file that is in `changed` or known;
    `waiting` are those beyond the cap, `shut` those that waited and are excluded by now.

    `seen` is set where every source was read to its end and is as it was, and the others that are known are gone;
    `again` where that was so of the same listing before: then no source is named here.
    """

    files: int = 0
    changed: list[Source] = field(default_factory=list)
    twins: list[tuple[Source, Source]] = field(default_factory=list)
    unchanged: set[int] = field(default_factory=set)
    gone: list[int] = field(default_factory=list)
    excluded: int = 0
    old: int = 0
    waiting: list[Source] = field(default_factory=list)
    shut: list[Source] = field(default_factory=list)
    known: int = 0
    seen: Seen | None = None
    again: bool = False

    @property
    def quiet(self) -> bool:
        """Whether all that the store knows is there and as it was, and nothing is new."""
        return len(self.unchanged) == self.known and not (self.changed or self.twins)


def take_stock(
    store: Store,
    sources: Sequence[Source],
    excluded: Excluded,
    *,
    since_ms: int | None = None,
    most: int | None = None,
) -> Listing:
    """Compare the sources with the store.

    A source is unchanged where size, time and inode are those of the last complete reading. Left out are those whose
    last change is before `since_ms`; of the rest the `most` newest are taken and the others are pending.
    """
    digest, before = _digest(sources), seen_listing(store)
    if before is not None and digest == before.digest:
        return Listing(files=len(sources), seen=before, again=True)
    listing = Listing(files=len(sources))
    known = known_sources(store)
    listing.known = len(known)
    read = 0
    for source in sources:
        row = known.pop((source.agent, path_text(source.path)), None)
        if row is not None and _unchanged(source, row, excluded):
            listing.unchanged.add(row.id)
            read += row.state == "read"
        elif excluded.names_path(source.path):
            listing.excluded += 1
            if row is not None and row.state == "pending":
                listing.shut.append(source)
        elif since_ms is not None and source.mtime_ns < since_ms * 1_000_000:
            listing.old += 1
        else:
            listing.changed.append(source)
    there = [row for row in known.values() if row.state != "gone"]
    listing.gone = [row.id for row in there if not os.path.lexists(row.path)]
    if digest and read == len(sources) and not there:
        listing.seen = Seen(digest, len(known))
    _set_twins_aside(listing)
    _cap(listing, most)
    return listing


def _digest(sources: Sequence[Source]) -> str:
    """Of all that decides whether a source is as it was; "" where a name is no text."""
    try:
        return blake2b(msgspec.msgpack.encode(sources), digest_size=16).hexdigest()
    except UnicodeEncodeError:
        return ""


def _unchanged(source: Source, row: KnownSource, excluded: Excluded) -> bool:
    if source.size != row.size or source.mtime_ns != row.mtime_ns:
        return False
    known = row.state == "read" or (row.state == "excluded" and row.why == excluded.digest)
    return known and (source.inode == row.inode or signed(source.inode) == row.inode)


def _set_twins_aside(listing: Listing) -> None:
    """Two names of one file (a hard link) are one source to read."""
    first: dict[tuple[str, int, int], Source] = {}
    single: list[Source] = []
    for source in sorted(listing.changed, key=_age):
        if not source.inode:
            single.append(source)
            continue
        found = first.setdefault((source.agent, source.device, source.inode), source)
        if found is source:
            single.append(source)
        else:
            listing.twins.append((source, found))
    listing.changed = single


def _cap(listing: Listing, most: int | None) -> None:
    """The newest are read first where not all can be; what is left stays pending, and its twins with it."""
    if most is None or len(listing.changed) <= most:
        return
    kept = listing.changed[len(listing.changed) - most :]
    listing.waiting = listing.changed[: len(listing.changed) - most]
    names: set[Key] = {(source.agent, source.path) for source in kept}
    listing.twins = [pair for pair in listing.twins if (pair[1].agent, pair[1].path) in names]
    listing.changed = kept


def _age(source: Source) -> tuple[int, str]:
    """Older files first: what a resumed or forked session repeats is then stored under the session that said it."""
    return source.mtime_ns, source.path


def in_reading_order(sources: Sequence[Source]) -> list[Source]:
    return sorted(sources, key=_age)
