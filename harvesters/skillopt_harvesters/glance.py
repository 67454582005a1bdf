"""Successful outputs, seen without being decoded: they are most of all bytes, and of them only length, fingerprint and
head are kept."""

from __future__ import annotations

from json.decoder import scanstring  # type: ignore[attr-defined]

import msgspec
from xxhash import xxh3_64_hexdigest

from skillopt_harvesters.clip import CUT, before_cut
from skillopt_harvesters.jsonl import REFUSED, clean_text
from skillopt_harvesters.model import HEAD

GLANCE = HEAD + 64
"""Bytes of a written string that are decoded for its head."""
AHEAD = b"\\"
QUOTE = 0x22
LONGEST_ESCAPE = 12
"""Bytes of an escape, at most: a pair of surrogates."""

_text = msgspec.json.Decoder(str)

fingerprint = xxh3_64_hexdigest
"""Tells outputs apart at the speed of memory: 16 hex digits. No protection against those who want two to be alike."""


class Glance(msgspec.Struct, frozen=True, gc=False):
    """An output's length in bytes as it is written (inside the quotes), its fingerprint, and its first characters."""

    length: int
    fingerprint: str
    head: str


def glance(raw: msgspec.Raw) -> Glance | None:
    """What is kept of a string that stands raw in a record; None of what is no string."""
    written = bytes(raw)
    if written[0] != QUOTE:
        return None
    return Glance(len(written) - 2, fingerprint(written), beginning(written))


def beginning(written: bytes) -> str:
    """The head of an output as it is written. A blank is part of no character and of no escape, and no token goes
    through it."""
    blank = written.rfind(b" ", HEAD // 2, HEAD)
    if blank > 0 and len(written) > GLANCE:
        try:
            return _text.decode(written[:blank] + b'"') + CUT
        except REFUSED:
            pass
    return shown(opening(memoryview(written)), len(written))


def glance_of(text: str) -> Glance:
    """The same of a text that is decoded already."""
    written = text.encode("utf-8", "replace")
    return Glance(len(written), fingerprint(written), before_cut(text, HEAD))


def shown(head: str, length: int) -> str:
    """The head of an output of which `length` bytes are written: without the token that a cut went through."""
    if len(head) > HEAD or length <= GLANCE:
        return before_cut(head, HEAD)
    return before_cut(head, len(head) - 1) if len(head) > 1 else ""


def is_text(raw: msgspec.Raw) -> bool:
    return memoryview(raw)[0] == QUOTE


def opening(written: memoryview, start: int = 1, size: int = GLANCE) -> str:
    """The characters of a string as it is written, from its byte `start` on, from at most `size` of its bytes."""
    if len(written) - 1 - start <= size:
        return unescaped(bytes(written[start:-1]))
    head = bytes(written[start : start + size])
    if head.find(AHEAD, size - LONGEST_ESCAPE) < 0 and head[-1] < 0x80:
        return unescaped(head)
    head = unhalved(head)
    cut = head.rfind(b"\\u", size - 8)
    if cut > 0 and len(head) - cut < 6:
        head = unhalved(head[: cut + 1])
    if head[-1:] >= b"\x80":
        head = head.decode("utf-8", "ignore").encode()
    return unescaped(head).rstrip("\ufffd")


def unhalved(inside: bytes) -> bytes:
    """Without the backslash at the end that begins an escape, if one does."""
    backslashes = len(inside) - len(inside.rstrip(AHEAD))
    return inside[:-1] if backslashes % 2 else inside


def unescaped(inside: bytes) -> str:
    """The inside of a JSON string, decoded; as it is if it is damaged."""
    try:
        return _text.decode(b'"%b"' % inside)
    except REFUSED:
        text = inside.decode("utf-8", "replace")
    try:
        found: str = scanstring(text + '"', 0, False)[0]
    except ValueError:
        return text
    return clean_text(found)
