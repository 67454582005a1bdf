"""The part of reading that all line formats share: opening, going on where one stopped, gathering a batch."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from skillopt_harvesters.bytestream import (
    BEFORE,
    PlainStream,
    Stream,
    TooLong,
    Window,
    digest,
    digest_before,
    open_regular,
    windows,
)
from skillopt_harvesters.jsonl import Line, RecordReader, Stretch
from skillopt_harvesters.model import Batch, Cursor, Event, SessionFacts, Source, Trouble, Usage

T = TypeVar("T", bound=Line)

BY_OFFSET = attrgetter("offset")
UNKNOWN_SHARE = 0.05
"""From here on a source's unknown records are reported."""
CWD_KEEP = 64
USAGE_KEEP = 4
"""Messages whose tokens may still be corrected by a later line."""
TOKENS_MOST = (1 << 40) - 1
"""No message takes more, a limit of whole bits; numbers without end are no numbers of tokens."""
WRITTEN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9]\.[0-9]{3}Z", re.ASCII)
MINUTES = 4096
"""Minutes whose beginning is remembered."""
CLOCK_SKEW_MS = 2 * 86_400_000
"""A record may be so much younger than its file; a later time is no time."""


_minutes: dict[str, int] = {}
_SECONDS = {f"{second:02d}.": second * 1000 for second in range(60)}
_REST = {f"{ms:03d}Z": ms for ms in range(1000)}


class Common(msgspec.Struct, kw_only=True):
    """What every reader carries from batch to batch beside its own state."""

    facts: SessionFacts
    lines: int = 0
    understood: int = 0
    unknown: int = 0
    usage: dict[str, Usage] = {}


class Fold(Generic[T]):
    """Gathers one session's records into batches. A format gives `take`, `settle` and its state."""

    def __init__(self, source: Source, common: Common) -> None:
        self.source = source
        self.common = common
        self.facts = common.facts
        self.events: dict[str, Event] = {}
        self.withdrawn: list[str] = []
        self.usage: dict[str, Usage] = {}
        self.skipped: Counter[str] = Counter()
        self.warnings: list[Trouble] = []
        self.understood = 0
        self.unknown = 0
        self.start = self.end = 0
        self.window: Window | None = None
        self.stamp: str | int | float | None = None
        self._stamped: str | int | float | None = None
        self._ms: int | None = None
        self.latest_ms = source.mtime_ns // 1_000_000 + CLOCK_SKEW_MS if source.mtime_ns else 1 << 62

    def take(self, record: T) -> bool:
        """Take the record at hand: `start`, `end` and `stamp` are its place and time. False if its kind is unknown."""
        raise NotImplementedError

    def settle(self, last: bool) -> None:
        """Emit what is only provisional; `last` says that the file ends here for now."""
        raise NotImplementedError

    def state(self) -> bytes:
        raise NotImplementedError

    def written(self) -> bytes:
        """The record at hand as it stands in its file."""
        window = self.window
        return window.buffer[self.start - window.offset : self.end - window.offset] if window else b""

    def emit(self, event: Event) -> None:
        """An event, in place of an earlier one of its key."""
        self.events[event.key] = event

    def withdraw(self, key: str) -> None:
        """An event that was given provisionally is none."""
        if self.events.pop(key, None) is None:
            self.withdrawn.append(key)

    def spend(self, usage: Usage) -> None:
        """Tokens of a message: the most that any of its lines says."""
        if not 0 <= (usage.input | usage.output | usage.cache_read | usage.cache_write) <= TOKENS_MOST:
            self.skipped["impossible tokens"] += 1
            return
        key = usage.key
        known = self.usage.get(key) or self.common.usage.get(key)
        if known is not None:
            usage = msgspec.structs.replace(
                known,
                input=max(known.input, usage.input),
                output=max(known.output, usage.output),
                cache_read=max(known.cache_read, usage.cache_read),
                cache_write=max(known.cache_write, usage.cache_write),
                model=usage.model or known.model,
            )
        self.usage[key] = usage

    def now(self) -> int | None:
        """The time of the record at hand."""
        stamp: Any = self.stamp
        if stamp is self._stamped:
            return self._ms
        self._stamped = stamp
        try:  # as nearly all write it, minute by minute
            ms: int | None = _minutes[stamp[:17]] + _SECONDS[stamp[17:20]] + _REST[stamp[20:]]
        except (KeyError, TypeError):
            ms = to_ms(stamp)
        self._ms = ms = ms if ms is None or ms <= self.latest_ms else None
        return ms

    def at(self, stamp: str | float | None) -> int | None:
        """A time as UTC milliseconds, None where it is none that can be true."""
        ms = to_ms(stamp)
        return ms if ms is None or ms <= self.latest_ms else None

    def span(self, ms: int | None) -> None:
        """Widen the session's span; times run backwards in many files."""
        if ms is None:
            return
        facts = self.facts
        if facts.started_ms is None or ms < facts.started_ms:
            facts.started_ms = ms
        if facts.ended_ms is None or ms > facts.ended_ms:
            facts.ended_ms = ms

    def been_in(self, cwd: str | None) -> None:
        if cwd and cwd not in self.facts.cwds and len(self.facts.cwds) < CWD_KEEP:
            self.facts.cwds.append(cwd)

    def used(self, model: str | None) -> None:
        if model and model not in self.facts.models and len(self.facts.models) < CWD_KEEP:
            self.facts.models.append(model)

    def warn(self, line: int, reason: str) -> None:
        self.warnings.append(Trouble(self.source.path, line, reason))

    def add(self, stretch: Stretch[T]) -> None:
        for line, reason in stretch.troubles:
            self.warn(self.common.lines + line, reason)
        self.skipped.update(stretch.skipped)
        self.common.lines += stretch.lines
        unknown = self.take_all(stretch)
        self.unknown += unknown
        self.understood += len(stretch.records) - unknown
        self.span_of(stretch.records)

    def take_all(self, stretch: Stretch[T]) -> int:
        """Take the records one after another. Returns how many are of an unknown kind."""
        take, unknown = self.take, 0
        for record, self.start, self.end in zip(stretch.records, stretch.starts, stretch.ends, strict=True):
            self.stamp = record.timestamp
            if not take(record):
                unknown += 1
        return unknown

    def span_of(self, records: list[T]) -> None:
        """Widen the session's span by the records' times, of which only the extremes are looked at where they can be
        compared as they are written."""
        stamps: list[Any] = [stamp for record in records if (stamp := record.timestamp) is not None]
        if stamps and alike(stamps):
            latest = self.at(max(stamps))
            if latest is not None:
                self.span(latest)
                self.span(self.at(min(stamps)))
                return
        for stamp in stamps:
            self.span(self.at(stamp))

    def batch(self, cursor: Cursor, more: bool) -> Batch:
        """All that was gathered since the last batch."""
        self.settle(not more)
        common = self.common
        common.understood += self.understood
        common.unknown += self.unknown
        if not more:
            self._judge()
        usage = self.usage
        for key in list(usage)[-USAGE_KEEP:]:
            common.usage.pop(key, None)
            common.usage[key] = usage[key]
        common.usage = dict(list(common.usage.items())[-USAGE_KEEP:])
        cursor.state = self.state()
        batch = Batch(
            session=msgspec.structs.replace(self.facts, cwds=list(self.facts.cwds), models=list(self.facts.models)),
            events=sorted(self.events.values(), key=BY_OFFSET),
            usage=list(usage.values()),
            cursor=cursor,
            understood=self.understood,
            unknown=self.unknown,
            skipped=dict(self.skipped),
            warnings=self.warnings,
            withdrawn=self.withdrawn,
            more=more,
        )
        self.events, self.usage, self.skipped = {}, {}, Counter()
        self.warnings, self.withdrawn, self.understood, self.unknown = [], [], 0, 0
        return batch

    def _judge(self) -> None:
        """Say so if the file gave nothing, or too little was understood."""
        common = self.common
        total = common.understood + common.unknown
        version = f"{self.facts.agent} {self.facts.agent_version}".strip()
        if total and common.unknown > total * UNKNOWN_SHARE:
            self.warn(0, f"{common.unknown} of {total} records are of unknown kinds ({version})")
        elif not total and common.lines:
            self.warn(0, f"not empty, but no record was understood ({version})")


def follow(
    source: Source, cursor: Cursor | None, reader: RecordReader[T], begin: Callable[[bytes], Fold[T]], parser: int
) -> Iterator[Batch]:
    """Batches of a growing file of lines from the cursor on, one a window. Raises `Unreadable`.

    Reads nothing but what was appended and `bytestream.BEFORE` bytes before it; a file that was cut or replaced is
    read from its beginning.
    """
    fd, found = open_regular(source.path)
    try:
        start = going_on(fd, found.st_size, cursor, parser)
        if start is None:
            start, state = 0, b""
        else:
            state = cursor.state if cursor else b""
        fold = begin(state)
        stream = PlainStream(fd, start, found.st_size)
        yield from batches(stream, start, reader, fold, parser, lambda offset: before_in(fold.window, fd, offset))
    finally:
        os.close(fd)


def before_in(window: Window | None, fd: int, offset: int) -> str:
    """`digest_before`, out of the window at hand where it reaches so far: a read would wait for other threads."""
    at = offset - window.offset if window is not None else 0
    if window is not None and BEFORE <= at <= len(window.buffer):
        return digest(window.buffer[at - BEFORE : at])
    return digest_before(fd, offset)


def going_on(fd: int, size: int, cursor: Cursor | None, parser: int) -> int | None:
    """Where to go on, None to begin anew."""
    if cursor is None or cursor.parser != parser or cursor.offset > size:
        return None
    return cursor.offset if digest_before(fd, cursor.offset) == cursor.before else None


def batches(
    stream: Stream,
    start: int,
    reader: RecordReader[T],
    fold: Fold[T],
    parser: int,
    before: Callable[[int], str],
) -> Iterator[Batch]:
    """A batch for each window of a stream that begins at byte `start`; `before` digests what precedes an offset."""
    coming = windows(stream, start)
    window = next(coming, None)
    if window is None and stream.trouble:
        fold.warn(0, stream.trouble)
        yield fold.batch(Cursor(offset=start, before=before(start), parser=parser), False)
    while window is not None:
        following = next(coming, None)
        if isinstance(window, TooLong):
            advance = window.offset + window.length if window.whole else window.offset
            fold.common.lines += window.whole
            fold.warn(fold.common.lines, f"a line of {window.length} bytes is too long to be read")
        else:
            stretch = reader.decode(window, following is None)
            advance = stretch.advance
            fold.window = window
            fold.add(stretch)
        if following is None and stream.trouble:
            fold.warn(0, stream.trouble)
        yield fold.batch(Cursor(offset=advance, before=before(advance), parser=parser), following is not None)
        window = following


def believed(tokens: int) -> int:
    """A number of tokens as it may be remembered: no state holds what no message can take."""
    return min(max(tokens, 0), TOKENS_MOST)


def alike(stamps: list[Any]) -> bool:
    """Whether the times are all texts of one length in UTC, which sort as they follow one another."""
    try:
        together = "".join(stamps)
    except TypeError:
        return False
    return len(together) == 24 * len(stamps) and together[23::24] == "Z" * len(stamps)


def to_ms(stamp: Any) -> int | None:
    """UTC milliseconds of a time as agents write it: ISO 8601, epoch seconds or epoch milliseconds.
    The minute of a time as nearly all write it is remembered."""
    ms = slow_ms(stamp)
    if ms is None or type(stamp) is not str or not WRITTEN.fullmatch(stamp):
        return ms
    if len(_minutes) >= MINUTES:
        _minutes.clear()
    _minutes[stamp[:17]] = ms - _SECONDS[stamp[17:20]] - _REST[stamp[20:]]
    return ms


def slow_ms(stamp: Any) -> int | None:
    """`to_ms` of a time in any of its forms."""
    if isinstance(stamp, str):
        try:
            moment = datetime.fromisoformat(stamp)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            return round(moment.timestamp() * 1000)
        except (OverflowError, OSError):
            return None
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool) and 1e8 < stamp < 1e14:
        return int(stamp) if stamp > 1e11 else round(stamp * 1000)
    return None
