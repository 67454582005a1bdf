"""Secrets in another coat: base64, hex, `%3D`, `\\u003d`, `\\/`. What lies underneath is scanned once more.

`undressed` collects the decoded pieces of a buffer into one short buffer, with a way back: a secret found in a
percent- or Unicode-escaped piece maps to its own bytes, one found in base64 or hex to the whole run.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import merge

from skillopt_sleep.redact.spans import SEPARATOR, Span, whole_character

_LEAST = 24
_RUN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_RUN_MAP = bytes(65 if byte in _RUN_BYTES else 32 for byte in range(256))
_URLSAFE = bytes.maketrans(b"-_", b"+/")
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"
_TO_PRINTABLE = bytes(byte if byte in _PRINTABLE else 32 for byte in range(256))
_HEX = re.compile(rb"(?:[0-9a-f]{2}){16,}+|(?:[0-9A-F]{2}){16,}+")
_ESCAPE = re.compile(rb"%([2-7][0-9A-Fa-f])|\\{1,2}u00([2-7][0-9A-Fa-f])|\\(/)")
_LEADS = tuple(re.compile(lead) for lead in (rb"%[2-7][0-9A-Fa-f]", rb"\\u00[2-7][0-9A-Fa-f]", rb"\\/"))
_AROUND = 512
_SHORT, _REMEMBERED = 256, 4_096


@dataclass(frozen=True, slots=True)
class Piece:
    """Decoded bytes at `at` in the decoded buffer. `marks` pairs decoded with raw offsets, one after each escape."""

    at: int
    start: int
    end: int
    marks: tuple[tuple[int, int], ...] = ()

    def raw(self, span: Span) -> Span:
        if not self.marks:
            return Span(self.start, self.end, span.kind)
        return Span(self._raw(span.start - self.at), self._raw(span.end - self.at), span.kind)

    def _raw(self, offset: int) -> int:
        decoded, raw = self.marks[bisect_right(self.marks, (offset, self.end)) - 1]
        return min(raw + offset - decoded, self.end)


@dataclass(slots=True)
class Undressed:
    """The decoded pieces of a buffer, joined."""

    pieces: list[Piece] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, text: bytes, start: int, end: int, marks: Iterable[tuple[int, int]] = ()) -> None:
        self.pieces.append(Piece(self.size, start, end, tuple(marks)))
        self.texts += (text, SEPARATOR)
        self.size += len(text) + len(SEPARATOR)

    @property
    def scan(self) -> bytes:
        return b"".join(self.texts)

    def raw(self, spans: Iterable[Span]) -> Iterator[Span]:
        """The spans of the buffer that `spans` of the decoded one stand for."""
        starts = [piece.at for piece in self.pieces]
        for span in spans:
            yield self.pieces[bisect_right(starts, span.start) - 1].raw(span)


def undressed(scan: bytes) -> Undressed:
    found = Undressed()
    for start, end in _runs(scan):
        text = _seen(scan[start:end]) if end - start <= _SHORT else _plain(scan[start:end])
        if text:
            found.add(text.translate(_TO_PRINTABLE), start, end)
    for start, end in _neighbourhoods(scan):
        found.add(*_unescaped(scan, start, end))
    return found


def _runs(scan: bytes) -> Iterator[tuple[int, int]]:
    """Runs of at least 24 characters of base64, found by two passes at the speed of memory."""
    flat = scan.translate(_RUN_MAP)
    needle, at = b"A" * _LEAST, 0
    while (start := flat.find(needle, at)) >= 0:
        end = at = flat.find(b" ", start)
        end = at = len(flat) if end < 0 else end
        if start and scan[start - 1] == 92:  # the letter of an escape, as in \n, belongs to no run
            start += 1
        yield start, end


def _plain(run: bytes) -> bytes:
    """The text under a run of base64 or hex; empty where it is no text."""
    if _HEX.fullmatch(run):
        plain = binascii.unhexlify(run)
        if _is_text(plain):
            return plain
    standard = run.translate(_URLSAFE)
    if not _is_text(binascii.a2b_base64(standard[:16])):
        return b""
    tail = len(standard) % 4
    plain = binascii.a2b_base64(standard[:-1] if tail == 1 else standard + b"=" * (-tail % 4))
    return plain if _is_text(plain) else b""


_seen = lru_cache(_REMEMBERED)(_plain)
"""Most runs are paths, which come again and again."""


def _is_text(plain: bytes) -> bool:
    return len(plain.translate(None, _PRINTABLE)) * 16 <= len(plain)


def _neighbourhoods(scan: bytes) -> Iterator[tuple[int, int]]:
    """The lines around escapes, 512 bytes to each side at most, disjoint."""
    start = end = -1
    for at in merge(*([escape.start() for escape in lead.finditer(scan)] for lead in _LEADS)):
        if start >= 0 and at + _AROUND // 8 < end:
            continue
        floor, roof = whole_character(scan, max(0, at - _AROUND)), whole_character(scan, min(len(scan), at + _AROUND))
        low = max(floor, scan.rfind(b"\n", floor, at) + 1)
        stop = scan.find(b"\n", at, roof)
        high = stop if stop >= 0 else roof
        if start >= 0 and low <= end:
            end = max(end, high)
            continue
        if start >= 0:
            yield start, end
        start, end = low, high
    if start >= 0:
        yield start, end


def _unescaped(scan: bytes, start: int, end: int) -> tuple[bytes, int, int, list[tuple[int, int]]]:
    """(text, start, end, marks) of one neighbourhood."""
    parts: list[bytes] = []
    marks = [(0, start)]
    at, size = start, 0
    for escape in _ESCAPE.finditer(scan, start, end):
        code = escape[1] or escape[2]
        parts += (scan[at : escape.start()], bytes.fromhex(code.decode()) if code else b"/")
        size += escape.start() - at + 1
        at = escape.end()
        marks.append((size, at))
    parts.append(scan[at:end])
    return b"".join(parts), start, end, marks
