"""Whether a Zstandard file is all there (RFC 8878, section 3.1).

The decompressor ends without a word where its input does. A frame's blocks say which of them is the last one, so that a
file that was cut off is known also where no checksum was written; nothing is unpacked for it.
"""

from __future__ import annotations

import os
from typing import IO

MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x2a\x4d\x18"
"""The upper bytes of the magic numbers of frames that hold no content; of the lowest the upper half is 5."""
HEADER = 18
"""Bytes of a frame's header, at most."""
RLE = 1


def is_whole(file: IO[bytes]) -> bool:
    """Whether the file is a row of whole frames. Moves its position. Raises OSError."""
    size = file.seek(0, os.SEEK_END)
    at = 0
    while 0 <= at < size:
        at = frame_end(file, at)
    return at == size


def frame_end(file: IO[bytes], at: int) -> int:
    """Where the frame that begins at byte `at` ends; -1 where it does not end, or is no frame."""
    head = read_at(file, at, HEADER)
    if head[1:4] == SKIPPABLE and head[0] >> 4 == 5:
        return at + 8 + int.from_bytes(head[4:8], "little") if len(head) >= 8 else -1
    if head[:4] != MAGIC or len(head) < 5:
        return -1
    last, at = False, at + header_length(head[4])
    while not last:
        block = read_at(file, at, 3)
        if len(block) < 3:
            return -1
        number = int.from_bytes(block, "little")
        last, kind, length = bool(number & 1), number >> 1 & 3, number >> 3
        at += 3 + (1 if kind == RLE else length)
    return at + (4 if head[4] & 4 else 0)


def header_length(descriptor: int) -> int:
    """Bytes from the magic number to the first block: window, dictionary and content size are there or not."""
    single = descriptor >> 5 & 1
    content = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    return 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + content


def read_at(file: IO[bytes], at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)
