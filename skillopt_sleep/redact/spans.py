"""Where in a scanned buffer something must go, and the marks left in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from skillopt_sleep.redact.vendors import VENDORS

KINDS = frozenset(
    {vendor.kind for vendor in VENDORS}
    | {"authorization", "cookie", "custom", "encoded", "jwt", "key", "password", "private-key", "signature"}
    | {"token", "url"}
)
"""All words that may stand in a placeholder. A closed set: `[redacted:` with anything else hides nothing from us."""

PLACEHOLDER = re.compile(rb"\[redacted:(?:" + b"|".join(sorted(kind.encode() for kind in KINDS)) + rb")\]")


SEPARATOR = b"\n\x1e\n"
"""Between texts that are scanned together: no rule's class admits it."""


class Span(NamedTuple):
    """A half-open range of bytes that holds a secret of the given kind."""

    start: int
    end: int
    kind: str
    ours: bool = True
    """Whether a rule of ours says so; the engine's word for a kind yields to ours."""

    @property
    def weight(self) -> tuple[bool, int]:
        return self.ours, self.end - self.start


def whole_character(scan: bytes, at: int) -> int:
    """`at`, or the start of the UTF-8 character that a cut there would go through."""
    while 0 < at < len(scan) and scan[at] & 0xC0 == 0x80:
        at -= 1
    return at


def placeholder(kind: str) -> bytes:
    return b"[redacted:" + kind.encode() + b"]"


def united(spans: Iterable[Span]) -> list[Span]:
    """Sorted and disjoint; where spans overlap, their union under the kind of the weightiest."""
    merged: list[Span] = []
    naming = Span(0, 0, "", ours=False)
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            naming = max(naming, span, key=lambda one: one.weight)
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end), naming.kind)
        elif span.end > span.start:
            merged.append(span)
            naming = span
    return merged


def outside(spans: Sequence[Span], kept: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """The parts of `spans` that lie in none of the sorted, disjoint ranges `kept`."""
    at = 0
    for span in spans:
        while at < len(kept) and kept[at][1] <= span.start:
            at += 1
        start, index = span.start, at
        while index < len(kept) and kept[index][0] < span.end:
            if kept[index][0] > start:
                yield Span(start, kept[index][0], span.kind)
            start = max(start, kept[index][1])
            index += 1
        if start < span.end:
            yield Span(start, span.end, span.kind)


def rewritten(raw: bytes, spans: Iterable[Span]) -> bytes:
    """`raw` with a placeholder for each of the sorted, disjoint spans."""
    pieces: list[bytes] = []
    at = 0
    for span in spans:
        pieces += [raw[at : span.start], placeholder(span.kind)]
        at = span.end
    pieces.append(raw[at:])
    return b"".join(pieces)
