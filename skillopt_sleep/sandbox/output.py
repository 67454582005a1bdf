"""The two streams of a command: all is read, so that it never waits for us; little is kept."""

from __future__ import annotations


class Kept:
    """The first and the last half of `most` bytes, with a mark between them that says how many are missing."""

    def __init__(self, most: int) -> None:
        self._half = max(most // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.seen = 0

    def add(self, some: bytes) -> None:
        self.seen += len(some)
        room = self._half - len(self._head)
        self._head += some[:room] if room > 0 else b""
        self._tail += some[max(room, 0) :]
        if len(self._tail) > 4 * self._half:
            del self._tail[: -self._half]

    @property
    def cut(self) -> int:
        return max(self.seen - len(self._head) - self._half, 0)

    def bytes(self) -> bytes:
        tail = bytes(self._tail[-self._half :])
        mark = f"\n[... {self.cut} bytes left out ...]\n".encode() if self.cut else b""
        return bytes(self._head) + mark + tail
