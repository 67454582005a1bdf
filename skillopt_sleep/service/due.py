"""When a night is due: a night belongs to a local date, and each date has at most one that the schedule started."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Due:
    """A night that should begin now, for `date`; `late` where its hour passed while nobody was there to start it."""

    date: date
    trigger: Literal["scheduled", "caught_up"]


ON_TIME = timedelta(minutes=10)
"""Begun within this of its hour, a night is on time; later it is caught up."""


def due(now_ms: int, zone: ZoneInfo, at: time, ran: Container[str], catch_up: timedelta) -> Due | None:
    """The night that is due at `now_ms` (ms UTC), None where there is none.

    `at` is wall time in `zone`; `ran` holds the ISO dates that already have a scheduled night. Clocks are compared on
    the wall, so that an hour which a DST day skips is passed by the next one, and one which comes twice counts once.
    A night missed by less than `catch_up` is caught up once, for the latest date alone.
    """
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    today = now.date()
    wall = now.replace(tzinfo=None)
    for day in (today, today - timedelta(days=1)):
        late = wall - datetime.combine(day, at)
        if timedelta(0) <= late <= catch_up:
            if day.isoformat() in ran:
                return None
            return Due(day, "scheduled" if late <= ON_TIME else "caught_up")
    return None


def next_at(now_ms: int, zone: ZoneInfo, at: time, ran: Container[str]) -> int:
    """ms UTC of the next planned beginning: today's hour where it is still to come, else tomorrow's."""
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    day = now.date()
    if now.replace(tzinfo=None) >= datetime.combine(day, at) or day.isoformat() in ran:
        day += timedelta(days=1)
    return int(datetime.combine(day, at, tzinfo=zone).timestamp() * 1000)


def wall_time(text: str) -> time:
    """`HH:MM` as a time. Raises ValueError with what would be right."""
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007  (a wall time has no zone)
    except ValueError as error:
        raise ValueError(f"{text!r} is no time of day; write HH:MM, such as 03:00") from error
