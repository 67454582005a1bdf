"""Of a long stream the two ends are kept, in bounded memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.sandbox.output import Kept


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(2, 60))
def test_the_ends_are_kept_and_the_cut_is_counted(chunks: list[bytes], most: int) -> None:
    kept, whole, half = Kept(most), b"".join(chunks), most // 2
    for chunk in chunks:
        kept.add(chunk)
    if len(whole) <= 2 * half:
        assert (kept.bytes(), kept.cut) == (whole, 0)
    else:
        assert kept.cut == len(whole) - 2 * half
        assert kept.bytes() == whole[:half] + b"\n[... %d bytes left out ...]\n" % kept.cut + whole[-half:]


def test_memory_does_not_grow_with_the_stream() -> None:
    kept, chunk = Kept(1000), bytes(10_000)
    tracemalloc.start()
    try:
        for _ in range(1000):
            kept.add(chunk)
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()
    assert kept.seen == 10_000_000
