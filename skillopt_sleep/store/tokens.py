"""Tokens of the messages that one reading of a source gave of one session, packed into one row.

That a message is counted once, whatever repeats it, is the business of the table `message` (store/intake.py); within
its own session it may be spoken of again, and then the most that any line says counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from skillopt_sleep.store.bodies import released, squeezed


class Tokens(NamedTuple):
    """What one message took. `message` is its id: an event's `message_id`."""

    message: str
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    model: str = ""
    at_ms: int | None = None

    @property
    def counts(self) -> tuple[int, int, int, int]:
        return self.input, self.output, self.cache_read, self.cache_write

    def goes_beyond(self, known: Tokens) -> bool:
        """Whether any of its counts is larger."""
        return any(now > was for now, was in zip(self.counts, known.counts, strict=True))

    def and_more(self, other: Tokens) -> Tokens:
        """The larger of each count."""
        a, b, c, d = map(max, self.counts, other.counts)
        return Tokens(self.message, a, b, c, d, self.model, self.at_ms)


Row = tuple[str, int, int, int, int, str, int | None]
"""`Tokens`, as a plain tuple."""

_PACK: Final = msgspec.msgpack.Encoder().encode
_UNPACK: Final = msgspec.msgpack.Decoder(list[Tokens]).decode


def packed(rows: Sequence[Row]) -> bytes:
    """The rows as one value of the column `usage.tokens`."""
    return squeezed(_PACK(rows))


def unpacked(packs: Iterable[bytes]) -> dict[str, Tokens]:
    """The messages of one session by their ids, in the order in which they came."""
    found: dict[str, Tokens] = {}
    for pack in packs:
        for row in _UNPACK(released(pack)):
            known = found.get(row.message)
            found[row.message] = row if known is None else known.and_more(row)
    return found
