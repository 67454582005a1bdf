"""Time as an argument. Everything stored is UTC in milliseconds; only schedules know of zones."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


class Clock(Protocol):
    def now_ms(self) -> int:
        """Now, in ms since the epoch, UTC."""
        ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


@dataclass
class FixedClock:
    """A clock that stands where it is put. Ships with the product, for tests and backtests."""

    ms: int

    def now_ms(self) -> int:
        return self.ms


def iso(ms: int | None) -> str | None:
    """RFC 3339, UTC, ms: `2026-01-05T13:54:00.000Z`; None stays None."""
    if ms is None:
        return None
    return (_EPOCH + ms * _MS).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_iso(text: str) -> int | None:
    """ms UTC of an RFC 3339 time; a time without offset is UTC; None where it is no time."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return ((when if when.tzinfo else when.replace(tzinfo=UTC)) - _EPOCH) // _MS


def day_of(ms: int) -> int:
    """The UTC day that holds `ms`, counted from the epoch: the unit of cuts, the same on every machine."""
    return ms // DAY_MS


def end_of_day(ms: int) -> int:
    """The first ms of the day after: what began before it lies before the cut."""
    return (day_of(ms) + 1) * DAY_MS


def date_ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
