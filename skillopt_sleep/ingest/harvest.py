"""One harvest: list, read what has changed, redact, store. Killed anywhere, it goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing

from skillopt_harvesters.model import Source, Trouble
from skillopt_sleep.clock import Clock
from skillopt_sleep.domain.reports import HarvestCounts
from skillopt_sleep.ingest.cleaning import Cleaner, TakesSecretsOut
from skillopt_sleep.ingest.excluding import Excluded
from skillopt_sleep.ingest.listing import Listing, take_stock
from skillopt_sleep.ingest.reading import Read, chunks, trouble_of
from skillopt_sleep.ingest.tally import EXCLUDED, OLD, Tally
from skillopt_sleep.store import intake
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.intake import CleanSource
from skillopt_sleep.store.projects import settle_projects
from skillopt_sleep.store.sources import (
    mark_excluded,
    mark_gone,
    mark_waiting,
    note_listing,
    sessions_of,
    sessions_there,
)

Harvested = HarvestCounts
Progress = Callable[[int, int], None]
"""Called with sources done and sources to do."""


def harvest(
    store: Store,
    sources: Iterable[Source],
    read: Read,
    redactor: TakesSecretsOut,
    clock: Clock,
    *,
    max_sessions: int | None = None,
    lookback_ms: int | None = None,
    exclude: Sequence[str] = (),
    own_sessions: Collection[str] = (),
    trouble: Sequence[Trouble] = (),
    progress: Progress | None = None,
) -> Harvested:
    """Bring the store up to date with the sources and say what was done (cli.md, `harvest`).

    `max_sessions` caps how many changed sources are read, newest first; the rest is pending. `lookback_ms` leaves out
    what did not change within so many ms before now. `exclude` holds folders and patterns (`Excluded`), `own_sessions`
    native ids of our own replays, `trouble` what the discovery could not look at.

    A source's cursor moves only in the transaction that stores its events, after redaction has returned. Raises
    `StoreError`; unreadable sources are reported, never raised.
    """
    began = clock.now_ms()
    excluded, tally = Excluded(exclude), Tally()
    since = None if lookback_ms is None else began - lookback_ms
    sources = list(sources)
    listing = take_stock(store, sources, excluded, since_ms=since, most=max_sessions)
    trouble_of(tally, trouble)
    if listing.changed:
        _take_in(store, listing, read, Cleaner(redactor, own_sessions), excluded, tally, progress)
        settle_projects(store)
    if listing.twins:
        intake.link_twins(store, listing.twins)
    if listing.waiting:
        mark_waiting(store, listing.waiting)
    if listing.shut:
        mark_excluded(store, listing.shut, excluded.digest)
    if listing.gone:
        mark_gone(store, listing.gone)
    _note(store, listing, sources, excluded)
    tally.files, tally.pending = listing.files, len(listing.waiting)
    tally.unchanged = _unchanged(store, listing)
    tally.leave_out(EXCLUDED, listing.excluded)
    tally.leave_out(OLD, listing.old)
    return tally.counts((clock.now_ms() - began) / 1000)


def _note(store: Store, listing: Listing, sources: Sequence[Source], excluded: Excluded) -> None:
    """Remember a listing of which nothing is left to do, so that the next one is known at a glance."""
    if listing.again:
        return
    work = (listing.changed, listing.twins, listing.gone, listing.shut)
    now = take_stock(store, sources, excluded) if any(work) and not listing.waiting else listing
    if now.seen is not None:
        note_listing(store, now.seen)


def _unchanged(store: Store, listing: Listing) -> int:
    """How many sessions lie in sources that are as they were."""
    if listing.seen is not None and listing.seen.besides:
        return sessions_there(store)
    return sessions_of(store, None if listing.quiet or listing.again else listing.unchanged)


def _take_in(
    store: Store,
    listing: Listing,
    read: Read,
    cleaner: Cleaner,
    excluded: Excluded,
    tally: Tally,
    progress: Progress | None,
) -> None:
    """Read a chunk while the one before it is redacted; store each as soon as it is clean."""
    done = 0

    def keep(future: Future[list[CleanSource]]) -> None:
        nonlocal done
        clean = future.result()
        tally.add(intake.save(store, clean))
        done += sum(source.state != "pending" for source in clean)
        if progress is not None:
            progress(done, len(listing.changed))

    before: Future[list[CleanSource]] | None = None
    reading = chunks(store, listing.changed, read, excluded, tally)
    with ThreadPoolExecutor(1, thread_name_prefix="redact") as thread, closing(reading):
        for chunk in reading:
            if before is not None:
                keep(before)
            before = thread.submit(cleaner.clean, chunk)
        if before is not None:
            keep(before)
