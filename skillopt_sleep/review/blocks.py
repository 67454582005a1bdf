"""A managed block in a memory file: the lines between two markers are ours, every other byte is the person's.

    <!-- skillopt-sleep:NAME start -->
    …
    <!-- skillopt-sleep:NAME end -->

Works on bytes, so that a byte-order mark, CRLF, a missing final newline and bytes that are no UTF-8 survive. The body
is UTF-8 and takes the newline of the file. Markers that are damaged, doubled or out of order are refused, not guessed.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.errors import AdoptionError

_ANY_MARKER: Final = re.compile(r"<!--\s*skillopt-sleep:", re.IGNORECASE)
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_WIDE: Final = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_REMEDY: Final = "Mend or remove the marker lines by hand"


class DamagedBlock(AdoptionError):
    """The markers, or the file around them, leave open which bytes are ours."""


@dataclass(frozen=True, slots=True)
class _Span:
    """A block in a file: `start` of its first marker, `end` after its last, `body` between the two marker lines."""

    start: int
    end: int
    body: bytes
    newline: bytes


def body(raw: bytes, name: str) -> str | None:
    """The text of the block, lines ended by `\\n`; None where the file has no such block. DamagedBlock if in doubt."""
    span = _find(raw, name)
    if span is None:
        return None
    try:
        text = span.body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedBlock(f"block {name} is not UTF-8 (byte {error.start} of it)", remedy=_REMEDY) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def put(raw: bytes, name: str, text: str) -> bytes:
    """The file with the block holding `text`: replaced where it stands, else added at the end after a blank line.

    `remove` undoes an addition byte for byte.
    """
    if _ANY_MARKER.search(text):
        raise DamagedBlock(f"the text for block {name} holds a marker itself", remedy="Leave the edit with it out")
    span = _find(raw, name)
    newline = span.newline if span else _newline(raw)
    block = _block(name, text, newline)
    if span is not None:
        return raw[: span.start] + block + raw[span.end :]
    if raw in {b"", codecs.BOM_UTF8}:
        return raw + block + newline
    ended = raw.endswith((b"\r", b"\n") if newline == b"\r" else b"\n")
    # A file without a final newline stays one: the two cases are told apart again when the block is removed.
    return raw + newline + block + newline if ended else raw + newline * 2 + block


def remove(raw: bytes, name: str) -> bytes:
    """The file without the block and the blank line that came with it; unchanged where there is none."""
    span = _find(raw, name)
    if span is None:
        return raw
    before, after = raw[: span.start], raw[span.end :]
    if after.startswith(span.newline):
        return before.removesuffix(span.newline) + after.removeprefix(span.newline)
    return before.removesuffix(span.newline).removesuffix(span.newline) + after


def _block(name: str, text: str, newline: bytes) -> bytes:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    inner = [lines] if lines else []
    joined = "\n".join([_marker(name, "start"), *inner, _marker(name, "end")])
    return joined.encode("utf-8").replace(b"\n", newline)


def _marker(name: str, which: str) -> str:
    return f"<!-- skillopt-sleep:{name} {which} -->"


def _find(raw: bytes, name: str) -> _Span | None:
    """The one block of this name; None where there is no trace of it; DamagedBlock for anything in between."""
    if not _NAME.match(name):
        raise DamagedBlock(f"{name!r} is no name of a block", remedy="Use a-z, 0-9 and single hyphens")
    if raw.startswith(_WIDE) or b"\0" in raw:
        raise DamagedBlock("the file is not UTF-8 text (UTF-16 or binary)", remedy="Save it as UTF-8")
    traces = list(_traces(raw, name))
    if not traces:
        return None
    start, end = _marker(name, "start").encode(), _marker(name, "end").encode()
    if [found.group() for found in traces] != [start, end]:
        raise DamagedBlock(f"the markers of block {name} are damaged or doubled", remedy=_REMEDY)
    return _span(raw, name, traces[0], traces[1])


def _traces(raw: bytes, name: str) -> list[re.Match[bytes]]:
    """Everything that looks like a marker of this block, also where a formatter or a person changed it."""
    loose = rb"(?:<!--+\s*)?skillopt-sleep\s*:\s*" + re.escape(name).encode() + rb"(?![a-z0-9-])[^\r\n]*?(?:-->|$)"
    return list(re.finditer(loose, raw, re.IGNORECASE | re.MULTILINE))


def _span(raw: bytes, name: str, start: re.Match[bytes], end: re.Match[bytes]) -> _Span:
    between = raw[start.end() : end.start()]
    newline = next((n for n in (b"\r\n", b"\n", b"\r") if between.startswith(n)), None)
    if newline is None or not between.endswith(newline):
        raise DamagedBlock(f"the markers of block {name} do not stand on lines of their own", remedy=_REMEDY)
    return _Span(start.start(), end.end(), between[len(newline) :], newline)


def _newline(raw: bytes) -> bytes:
    """The commonest newline of the file; LF where it has none."""
    crlf = raw.count(b"\r\n")
    counts = {b"\n": raw.count(b"\n") - crlf, b"\r\n": crlf, b"\r": raw.count(b"\r") - crlf}
    return max(counts, key=lambda newline: counts[newline])
