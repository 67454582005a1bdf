"""Files read by byte windows: opened without hanging, never held whole, cut at line ends.

A line ends at ``\\n`` and nowhere else: agents write U+2028 and U+0085 raw inside strings, so ``str.splitlines`` would
tear records apart. Offsets count bytes of the (uncompressed) content from 0.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from skillopt_harvesters.model import Unreadable

WINDOW = 2 << 20
"""Bytes asked of the file at a time."""
LINE_CAP = 24 << 20
"""Bytes of one line that are held at most; a longer line is passed over and reported."""
BEFORE = 4096
"""Bytes before a cursor whose digest shows that the file is still the one that was read."""


class Stream(Protocol):
    """Bytes in order from some offset on. `trouble` says why they ended early, if they did."""

    trouble: str

    def read(self, size: int) -> bytes:
        """At most `size` bytes, b"" at the end."""
        ...


class Window(NamedTuple):
    """Whole lines: `buffer[:end]` begins at byte `offset` of the content. `tail`: the last line lacks its newline."""

    offset: int
    buffer: bytes
    end: int
    tail: bool


class TooLong(NamedTuple):
    """A line of `length` bytes at `offset`, longer than the cap. `whole` is False while its newline was not seen."""

    offset: int
    length: int
    whole: bool


def open_regular(path: str) -> tuple[int, os.stat_result]:
    """A descriptor of a regular file. Raises `Unreadable`; never waits for a FIFO's writer, never opens a device."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116  # for each file
            raise Unreadable(path, "not a regular file")
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as problem:
        raise Unreadable(path, why(problem)) from problem
    found = os.fstat(fd)
    if stat.S_ISREG(found.st_mode):
        return fd, found
    os.close(fd)
    raise Unreadable(path, "not a regular file")


def why(problem: Exception) -> str:
    """The reason of a failed file operation in a few words, without the path."""
    if isinstance(problem, OSError):
        if problem.errno == errno.ELOOP:
            return "symbolic links in a circle"
        return (problem.strerror or type(problem).__name__).lower()
    return str(problem)


class PlainStream:
    """A descriptor from `offset` to `end`, read with pread, so that nothing depends on its position."""

    def __init__(self, fd: int, offset: int, end: int) -> None:
        self._fd = fd
        self._offset = offset
        self._end = end
        self.trouble = ""

    def read(self, size: int) -> bytes:
        if self._offset >= self._end:
            return b""
        try:
            chunk = os.pread(self._fd, min(size, self._end - self._offset), self._offset)
        except OSError as problem:
            self.trouble = why(problem)
            return b""
        self._offset += len(chunk)
        return chunk


def digest_before(fd: int, offset: int) -> str:
    """Digest of the (at most BEFORE) bytes in front of `offset`; "" where there are none."""
    size = min(offset, BEFORE)
    return digest(os.pread(fd, size, offset - size)) if size else ""


def digest(content: bytes) -> str:
    """blake2b-128, hex."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def windows(stream: Stream, offset: int, *, size: int = WINDOW, cap: int = LINE_CAP) -> Iterator[Window | TooLong]:
    """Cut a stream that begins at `offset` into windows of whole lines; a last line without newline comes by itself."""
    held: list[bytes] = []
    length = 0
    overlong = False
    while chunk := stream.read(size):
        if overlong:
            end = chunk.find(b"\n") + 1
            length += end or len(chunk)
            if not end:
                continue
            yield TooLong(offset, length, True)
            offset, length, overlong, chunk = offset + length, 0, False, chunk[end:]
        cut = chunk.rfind(b"\n") + 1
        if cut:
            first = chunk.find(b"\n") + 1 if length + cut > cap else 0
            if length + first > cap:
                yield TooLong(offset, length + first, True)
                offset, held, length, chunk, cut = offset + length + first, [], 0, chunk[first:], cut - first
            if cut:
                buffer = b"".join([*held, chunk]) if held else chunk
                yield Window(offset, buffer, length + cut, False)
            offset += length + cut
            length = len(chunk) - cut
            held = [chunk[cut:]] if length else []
            continue
        held.append(chunk)
        length += len(chunk)
        overlong = length > cap
        if overlong:
            held = []
    if overlong:
        yield TooLong(offset, length, False)
    elif length:
        yield Window(offset, b"".join(held), length, True)
