from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.clock import DAY_MS, FixedClock, SystemClock, date_ms, day_of, end_of_day, iso, parse_iso

TIMES = st.integers(0, 253_402_300_799_999)


@given(TIMES)
def test_a_time_reads_back_as_it_was_written(ms):
    written = iso(ms)
    assert written is not None
    assert written.endswith("Z")
    assert parse_iso(written) == ms


def test_no_time_stays_none():
    assert iso(None) is None
    assert [parse_iso(text) for text in ("", "yesterday", "2026-13-01T00:00:00Z")] == [None, None, None]


def test_offsets_are_honoured_and_a_time_without_one_is_utc():
    assert (
        parse_iso("2026-01-05T15:00:00+01:00") == parse_iso("2026-01-05T14:00:00Z") == parse_iso("2026-01-05T14:00:00")
    )


@given(TIMES)
def test_a_day_ends_where_the_next_begins(ms):
    end = end_of_day(ms)
    assert ms < end <= ms + DAY_MS
    assert day_of(end) == day_of(ms) + 1
    assert end_of_day(end - 1) == end


def test_a_date_begins_at_midnight_utc():
    assert iso(date_ms(date(2026, 1, 5))) == "2026-01-05T00:00:00.000Z"


def test_clocks_tell_milliseconds():
    assert FixedClock(7).now_ms() == 7
    assert day_of(SystemClock().now_ms()) > day_of(date_ms(date(2025, 1, 1)))
