"""A compressed file that was cut off is known as such, also where it has no checksum."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from skillopt_harvesters.zstd_frames import is_whole

SKIPPED = b"\x5c\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"7 bytes"
NOISE = random.Random(3).randbytes(300_000)
"""More than one block of it, stored as they are; of a single letter the blocks are run lengths."""


def packed(content: bytes, *, checksum: bool = False, size: bool = False) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_checksum=checksum, write_content_size=size).compress(content)


def streamed(content: bytes) -> bytes:
    """As Codex writes it: its length is not known beforehand."""
    writer = zstandard.ZstdCompressor(level=3).compressobj()
    return writer.compress(content) + writer.flush()


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("size", [False, True])
@pytest.mark.parametrize("content", [b"", b"{}\n", b"a" * 300_000, NOISE, NOISE[:70_000] * 2])
def test_a_frame_is_whole_with_its_last_byte_and_not_before(content: bytes, checksum: bool, size: bool) -> None:
    whole = packed(content, checksum=checksum, size=size)
    assert is_whole(io.BytesIO(whole))
    draws = random.Random(len(whole))
    for end in {1, 4, 5, len(whole) - 1, *(draws.randrange(1, len(whole)) for _ in range(200))}:
        assert not is_whole(io.BytesIO(whole[:end])), end
    assert not is_whole(io.BytesIO(whole + b"more"))


def test_frames_may_follow_one_another_and_hold_nothing() -> None:
    first, second = streamed(b"one\n"), packed(b"two\n", checksum=True)
    row = first + SKIPPED + second
    ends = {0, len(first), len(first) + len(SKIPPED), len(row)}
    assert {end for end in range(len(row) + 1) if is_whole(io.BytesIO(row[:end]))} == ends


@given(st.binary(max_size=60))
def test_no_bytes_break_it(content: bytes) -> None:
    is_whole(io.BytesIO(content))
    is_whole(io.BytesIO(streamed(b"x") + content))
    is_whole(io.BytesIO(streamed(b"x")[:4] + content))


@pytest.mark.parametrize("pack", [streamed, packed])
def test_a_compressed_rollout_that_was_cut_off_is_said_and_read_as_far_as_it_goes(
    pack: Callable[[bytes], bytes],
    write: Callable[[str, bytes], Path],
    as_agent: Any,
    to_lines: Callable[..., bytes],
    made: ModuleType,
) -> None:
    draws = random.Random(9)
    words = [draws.randbytes(400).hex() for _ in range(400)]
    content = to_lines(made.meta(), *(made.typed(word, n) for n, word in enumerate(words)))
    whole = pack(content)
    name = "rollout-2026-11-20T10-00-00-01999999-0000-7000-8000-000000000001.jsonl.zst"
    assert as_agent(write(name, whole), "codex").warnings == []
    cut = as_agent(write(f"cut/{name}", whole[: len(whole) * 2 // 3]), "codex")
    assert [trouble.reason for trouble in cut.warnings] == ["compressed content is cut off"]
    assert 0 < len(cut.events) < len(words)
