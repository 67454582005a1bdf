"""Records out of lines: a whole window decoded at once into a typed struct, and what to do when that is refused.

On refusal the window is decoded line by line; a line that is still refused is taken apart object by object, because
two records can share a line and a cut-off one can precede a whole one (transcript-formats.md 1.9, 3.5). Invalid UTF-8
and lone surrogates become U+FFFD, NUL bytes around a record and a byte order mark are dropped, comment lines and
values that are no objects are counted. A record never costs more than itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar, get_args, get_origin

import msgspec

from skillopt_harvesters.bytestream import Window

T = TypeVar("T", bound=msgspec.Struct)


class Line(msgspec.Struct, gc=False):
    """A record of a line; what all formats have in common."""

    timestamp: str | int | float | None = None


REFUSED = (msgspec.MsgspecError, RecursionError, UnicodeError)
JOIN_LINES = 200
"""A record torn over physical lines by raw newlines is looked for over so many lines …"""
JOIN_BYTES = 1 << 20
"""… and so many bytes."""
RESYNC_WORK = 8 << 20
"""Characters that the search for a whole record behind a cut-off one may try."""
AROUND = b" \t\r\0"
OBJECT = {ord("{")}
NULL = msgspec.Raw(b"null")

_scan = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


@dataclass(slots=True)
class Stretch(Generic[T]):
    """What a window gave. `starts` and `ends` are the byte extents of each record; `line` of a trouble counts from 1
    within the window. `advance` is the offset up to which nothing more can change."""

    advance: int
    lines: int = 0
    records: list[T] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    troubles: list[tuple[int, str]] = field(default_factory=list)


class RecordReader(Generic[T]):
    """Windows to typed records of one shape."""

    def __init__(self, shape: type[T]) -> None:
        self._decoder = msgspec.json.Decoder(shape)
        self._shape = shape

    def decode(self, window: Window, last: bool) -> Stretch[T]:
        """Records of a window. `last` says that the file ends here for now, so that an unfinished record may wait."""
        if window.tail:
            return self._tail(window)
        try:
            records = self._decoder.decode_lines(memoryview(window.buffer)[: window.end])
        except REFUSED:
            return self._lines(window, last)
        starts = line_starts(window.buffer, window.end)
        if not records or len(starts) != len(records):
            return self._lines(window, last)
        base = window.offset
        if base:
            starts = [base + s for s in starts]
        ends = [s - 1 for s in starts[1:]]
        ends.append(base + window.end - 1)
        return Stretch(base + window.end, len(starts), records, starts, ends)

    def _tail(self, window: Window) -> Stretch[T]:
        """A last line without newline: taken if it is whole, else left for later."""
        stretch: Stretch[T] = Stretch(window.offset)
        start, line = stripped(window.buffer, 0, window.end)
        if line.startswith(b"{") and line.endswith(b"}"):
            found: Stretch[T] = Stretch(window.offset)
            self._one(line, window.offset + start, found)
            if found.records and not found.troubles:
                found.advance, found.lines = found.ends[-1], 1
                return found
        return stretch

    def _lines(self, window: Window, last: bool) -> Stretch[T]:
        stretch: Stretch[T] = Stretch(window.offset + window.end)
        buffer, end = window.buffer, window.end
        at = 0
        while at < end:
            stretch.lines += 1
            stop = buffer.find(b"\n", at, end)
            start, line = stripped(buffer, at, stop)
            if not line:
                if stop - at > 1:
                    stretch.skipped["blank or NUL line"] += 1
            elif line.startswith(b"//"):
                stretch.skipped["comment"] += 1
            elif self._one(line, window.offset + start, stretch):
                joined = self._joined(buffer, at, stop, end, window.offset, stretch)
                if joined:
                    stop = joined
                elif last and self._may_go_on(buffer, at, end):
                    stretch.advance = window.offset + at
                    stretch.lines -= 1
                    return stretch
                else:
                    stretch.troubles.append((stretch.lines, "not JSON"))
            at = stop + 1
        return stretch

    def _one(self, line: bytes, offset: int, stretch: Stretch[T]) -> bool:
        """Take one line's records. True if nothing on it could be read, though it might be the start of a record."""
        try:
            record = self._decoder.decode(line)
        except REFUSED:
            return self._apart(line, offset, stretch)
        stretch.records.append(record)
        stretch.starts.append(offset)
        stretch.ends.append(offset + len(line))
        return False

    def _apart(self, line: bytes, offset: int, stretch: Stretch[T]) -> bool:
        """Take a refused line apart, object by object."""
        text = line.decode("utf-8", "surrogateescape")
        at = taken = 0
        while at < len(text):
            value, stop = scan(text, at)
            if stop < 0:
                again = resync(text, at + 1)
                if again < 0 and not taken and text[0] == "{":
                    return True
                stretch.troubles.append((stretch.lines, "cut-off record" if text[at] == "{" else "not JSON"))
                if again < 0:
                    return False
                at = again
                continue
            taken += 1
            self._take(value, text, offset, at, stop, stretch)
            at = skip_around(text, stop)
        return False

    def _take(self, value: Any, text: str, offset: int, at: int, stop: int, stretch: Stretch[T]) -> None:
        if not isinstance(value, dict):
            stretch.skipped["not an object"] += 1
            return
        start = offset + byte_length(text[:at])
        stretch.records.append(self.lenient(value))
        stretch.starts.append(start)
        stretch.ends.append(start + byte_length(text[at:stop]))

    def lenient(self, value: dict[str, Any]) -> T:
        """A record in which a field of an unexpected type is as if it were absent."""
        return loose(self._shape, value)

    def _joined(self, buffer: bytes, at: int, stop: int, end: int, base: int, stretch: Stretch[T]) -> int:
        """The end of the line with which a torn record is whole, 0 if there is none. Takes the record."""
        start, _ = stripped(buffer, at, stop)
        for extra in range(1, JOIN_LINES):
            following = stop + 1
            if following >= end or stop - at > JOIN_BYTES or stripped(buffer, following, end)[1][:1] == b"{":
                return 0
            stop = buffer.find(b"\n", following, end)
            text = buffer[start:stop].rstrip(AROUND).decode("utf-8", "surrogateescape")
            if not text.endswith("}"):
                continue
            value, reached = scan(text, 0)
            if reached == len(text):
                self._take(value, text, base + start, 0, reached, stretch)
                stretch.lines += extra
                return stop
        return 0

    def _may_go_on(self, buffer: bytes, at: int, end: int) -> bool:
        """Whether what stands from `at` to the end may be the beginning of one record that is still being written."""
        return end - at <= JOIN_BYTES and b"\n{" not in buffer[at:end] and buffer.count(b"\n", at, end) < JOIN_LINES


def loose(shape: type[T], value: dict[str, Any]) -> T:
    """A struct of a decoded object; a field that is not of its type is left at its default, structs field by field."""
    known: dict[str, Any] = {}
    for spec in fields_of(shape):
        item = value.get(spec.encode_name)
        if item is None:
            continue
        try:
            known[spec.name] = msgspec.json.decode(clean_json(item), type=spec.type)
        except REFUSED:
            found = loose_field(get_args(spec.type), item)
            if found is not None:
                known[spec.name] = found
    return shape(**known)


@cache
def fields_of(shape: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(shape)


def loose_field(kinds: tuple[Any, ...], item: Any) -> Any:
    """A field that is a struct, or a list of structs, with what can be read of it; None where nothing can."""
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(item, dict):
            return loose(kind, item)
        inner = get_args(kind)
        if get_origin(kind) is list and isinstance(item, list) and isinstance(inner[0], type):
            return [loose(inner[0], one) for one in item if isinstance(one, dict)]
    return None


def line_starts(buffer: bytes, end: int) -> list[int]:
    """Offsets at which the lines of `buffer[:end]` begin, each of which ends; [] if one does not begin an object."""
    starts = [0]
    at, index, begins = 0, buffer.index, starts.append
    try:
        while True:
            at = index(b"\n", at, end) + 1
            begins(at)
    except ValueError:
        starts.pop()
    return starts if set(map(buffer.__getitem__, starts)) == OBJECT else []


def stripped(buffer: bytes, at: int, stop: int) -> tuple[int, bytes]:
    """A line without blanks, NULs and byte order mark around it, and where it begins then."""
    line = buffer[at:stop]
    left = line.lstrip(AROUND).removeprefix(b"\xef\xbb\xbf").lstrip(AROUND)
    return at + len(line) - len(left), left.rstrip(AROUND)


def scan(text: str, at: int) -> tuple[Any, int]:
    """The JSON value at `at` and where it ends; -1 if there is none."""
    try:
        return _scan.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, -1


def resync(text: str, at: int) -> int:
    """Where a whole record begins behind a cut-off one, so that nothing but further records follow it; else -1."""
    work = 0
    while (at := text.find('{"', at)) >= 0 and work < RESYNC_WORK:
        value, stop = scan(text, at)
        if stop > 0 and "type" in value and ("timestamp" in value or text[at - 1] not in ":,["):
            following = skip_around(text, stop)
            if following == len(text) or text[following] == "{":
                return at
        work += (stop - at) if stop > 0 else len(text) - at
        at += 1
    return -1


def skip_around(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\0":
        at += 1
    return at


def byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def clean_text(text: str) -> str:
    """The text with every lone surrogate as U+FFFD, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: Any) -> bytes:
    return clean_text(json.dumps(value, ensure_ascii=False)).encode()


def part(decoder: msgspec.json.Decoder[Any], raw: msgspec.Raw, otherwise: Any) -> Any:
    """A field that was kept raw, decoded; cleaned first where it must be; `otherwise` if it is of another shape."""
    if raw == NULL and not takes_null(decoder):
        return otherwise
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        return otherwise  # sound JSON of another shape
    except REFUSED:
        pass
    try:
        text = bytes(raw).decode("utf-8", "replace")
        return decoder.decode(clean_json(_scan.decode(text)))
    except (*REFUSED, ValueError):
        return otherwise


@cache
def takes_null(decoder: msgspec.json.Decoder[Any]) -> bool:
    try:
        decoder.decode(NULL)
    except msgspec.ValidationError:
        return False
    return True


def objects(text: str) -> Iterator[Any]:
    """The JSON values in a text, one after another, for whole files that are no lines."""
    at = skip_around(text, 0)
    while at < len(text):
        value, stop = scan(text, at)
        if stop < 0:
            return
        yield value
        at = skip_around(text, stop)
