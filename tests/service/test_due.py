"""One night a local date, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.service.due import due, next_at, wall_time

BERLIN = ZoneInfo("Europe/Berlin")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")  # moves its clocks by half an hour
DAY = timedelta(days=1)


def ms(zone: ZoneInfo, *when: int) -> int:
    return int(datetime(*when, tzinfo=zone).timestamp() * 1000)  # type: ignore[misc, arg-type]


def nights(zone: ZoneInfo, start: datetime, hours: int, at: time, minutes: int = 5) -> list[date]:
    """What a daemon that looks every few minutes would begin, on a fake clock."""
    ran: list[str] = []
    for step in range(hours * 60 // minutes):
        now = start + timedelta(minutes=step * minutes)
        found = due(int(now.timestamp() * 1000), zone, at, ran, timedelta(hours=12))
        if found:
            ran.append(found.date.isoformat())
    return [date.fromisoformat(day) for day in ran]


@pytest.mark.parametrize(
    ("zone", "around"),
    [
        (BERLIN, date(2026, 3, 29)),  # 23 hours, 02:30 does not exist
        (BERLIN, date(2026, 10, 25)),  # 25 hours, 02:30 comes twice
        (LORD_HOWE, date(2026, 4, 5)),
        (LORD_HOWE, date(2026, 10, 4)),
    ],
)
@pytest.mark.parametrize("at", [time(2, 30), time(2, 0), time(2, 15), time(3, 0), time(0, 0)])
def test_a_dst_day_has_exactly_one_night(zone: ZoneInfo, around: date, at: time) -> None:
    start = datetime(around.year, around.month, around.day, tzinfo=UTC) - 2 * DAY
    found = nights(zone, start, 24 * 5, at)
    assert len(found) == len(set(found))
    assert {around - DAY, around, around + DAY} <= set(found)


def test_a_machine_that_slept_over_the_hour_catches_up_once() -> None:
    at, window = time(3, 0), timedelta(hours=12)
    now = ms(BERLIN, 2026, 11, 20, 10, 0)
    found = due(now, BERLIN, at, {"2026-11-18"}, window)
    assert found is not None
    assert (found.date, found.trigger) == (date(2026, 11, 20), "caught_up")
    assert due(now, BERLIN, at, {"2026-11-18", "2026-11-20"}, window) is None


def test_a_night_missed_by_more_than_the_window_is_left() -> None:
    assert due(ms(BERLIN, 2026, 11, 20, 16, 0), BERLIN, time(3, 0), (), timedelta(hours=12)) is None


def test_a_night_missed_before_midnight_is_caught_up_after_it_for_its_own_date() -> None:
    found = due(ms(BERLIN, 2026, 11, 20, 1, 0), BERLIN, time(23, 0), (), timedelta(hours=12))
    assert found is not None
    assert found.date == date(2026, 11, 19)


def test_on_the_hour_it_is_scheduled() -> None:
    found = due(ms(BERLIN, 2026, 11, 20, 3, 1), BERLIN, time(3, 0), (), timedelta(hours=12))
    assert found is not None
    assert found.trigger == "scheduled"


def test_before_the_hour_nothing_is_due() -> None:
    assert due(ms(BERLIN, 2026, 11, 20, 2, 59), BERLIN, time(3, 0), {"2026-11-19"}, timedelta(hours=12)) is None


@given(st.integers(0, 730 * 24 * 60), st.times(), st.sampled_from([BERLIN, LORD_HOWE]))
def test_the_next_beginning_lies_ahead_by_at_most_a_day_and_its_shift(minute: int, at: time, zone: ZoneInfo) -> None:
    at = at.replace(second=0, microsecond=0)
    now_ms = ms(BERLIN, 2026, 1, 1) + minute * 60_000
    ahead = next_at(now_ms, zone, at, ()) - now_ms
    assert -3_600_000 <= ahead <= 49 * 3_600_000


@pytest.mark.parametrize("wrong", ["3", "25:00", "03:00:00", "", "noon"])
def test_a_time_that_is_none_is_refused_with_what_would_be_right(wrong: str) -> None:
    with pytest.raises(ValueError, match="HH:MM"):
        wall_time(wrong)
