"""Private keys in blocks of base64 lines: whole, cut off at either end or both, quoted, indented, numbered, in one."""

from __future__ import annotations

import re

from skillopt_sleep.redact.likeness import is_wordlike

_BREAK = rb"(?:\r?\n|\\{1,2}r\\{1,2}n|\\{1,2}n|[ ]|)"
_MARGIN = rb"(?:[ \t>|#*\"'+]|-(?!-)|[0-9]{1,6}(?:\t|\xe2\x86\x92|[:|])){0,24}+"
_BEGIN = re.compile(
    rb"-----BEGIN[ A-Z0-9_-]{0,40}?PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[0-9]:", re.IGNORECASE
)
_TRAIL = rb"[ \t\"',+]{0,4}"
_END = re.compile(_TRAIL + _BREAK + _MARGIN + rb"-{5,6}END[ A-Z0-9_-]{0,40}?PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_FULL = re.compile(_TRAIL + _BREAK + _MARGIN + rb"[A-Za-z0-9+/]{30,}+={0,2}")
_LAST = re.compile(_TRAIL + _BREAK + _MARGIN + rb"(?P<run>=?[A-Za-z0-9+/]{1,}+={0,2})(?=[\s\"'`\\,;)-]|\Z)")
_HEADING = re.compile(rb"(?:\r?\n|\\n)" + _MARGIN + rb"(?:[A-Za-z][A-Za-z-]{1,24}: [^\r\n\\]{0,200}|(?=[\r\n\\]))")
_DIGIT = re.compile(rb"[0-9]")
_KEY_LINE = re.compile(_MARGIN + rb"(?P<run>[A-Za-z0-9+/]{1,200}+={0,2})[ \t\"',+\\\r]{0,8}")
_ROW_ABOVE = re.compile(rb"(?:(?<![A-Za-z0-9+/])|(?<=\\n))(?:[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70})(?:\r?\n|\\n)\Z")
_HALF_ROW_ABOVE = re.compile(rb"(?:(?<![A-Za-z0-9+/])|(?<=\\n))[A-Za-z0-9+/]{20,69}(?:\r?\n|\\n)\Z")
_MIXED = re.compile(rb"(?=[^\r\n\\]*[0-9])(?=[^\r\n\\]*[A-Z])[^\r\n\\]*[a-z]")
_CERTIFICATE = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}-----\r?(?:\n|\\n)\Z")
_BARE_MARGIN = re.compile(_MARGIN)
_RUN_TO_END = re.compile(rb"[A-Za-z0-9+/]{8,}+={0,2}\Z")
_WIDEST = 200
_BACKSLASH = 92


def key_from_begin(scan: bytes, at: int) -> tuple[int, int] | None:
    """The block that begins at `at`, to its end line, or as far as lines of base64 go. A mere mention is none."""
    begin = _BEGIN.match(scan, at)
    if begin is None:
        return None
    stop, full = begin.end(), False
    while line := _FULL.match(scan, stop) or _HEADING.match(scan, stop):
        stop = line.end()
        full = full or line.re is _FULL
    last = _LAST.match(scan, stop)
    end = _END.match(scan, last.end()) if last else _END.match(scan, stop)
    if last and (end or (len(last["run"]) >= 6 and not is_wordlike(last["run"]))):
        stop, full = last.end(), True
    if not full or not _DIGIT.search(scan, begin.end(), stop):
        return None
    return at, end.end() if end else stop


def key_before_end(scan: bytes, at: int) -> tuple[int, int] | None:
    """The lines of base64 right above an end line whose beginning was cut off."""
    end = _END.match(scan, at)
    if end is None:
        return None
    start = stop = at
    while True:
        floor = max(0, stop - _WIDEST)
        newline, escaped = scan.rfind(b"\n", floor, stop), scan.rfind(b"\\n", floor, stop)
        begin = max(newline + 1, escaped + 2 if escaped >= 0 else 0, floor)
        line = _KEY_LINE.fullmatch(scan, begin, stop)
        if line and (len(line["run"]) >= 30 or start == at):
            start = begin
        elif not _BARE_MARGIN.fullmatch(scan, begin, stop):
            break
        if begin <= floor:
            break
        stop = newline if newline + 1 == begin else escaped
        while stop > 0 and scan[stop - 1] == _BACKSLASH:
            stop -= 1
    rest = _RUN_TO_END.search(scan, max(0, stop - _WIDEST), stop) if start < at else None
    start = rest.start() if rest else start
    return (start, end.end()) if _DIGIT.search(scan, start, at) else None


def key_before_cut(scan: bytes, at: int) -> tuple[int, int] | None:
    """Whole lines of base64 right above the mark of a cut, as wide as those of keys (RFC 7468: 64; OpenSSH: 70).

    Where both the beginning and the end line are lost nothing else tells a key. What stands under the beginning of
    something else, a certificate say, is none.
    """
    if not scan.endswith((b"\n", b"\\n"), max(0, at - 2), at):  # most such marks stand within a line
        return None
    start = at
    while row := _ROW_ABOVE.search(scan, max(0, start - _WIDEST), start):
        if not _MIXED.match(scan, row.start(), row.end()):
            break
        start = row.start()
    if start == at or _CERTIFICATE.search(scan, max(0, start - _WIDEST), start):
        return None
    half = _HALF_ROW_ABOVE.search(scan, max(0, start - _WIDEST), start)
    return (half.start() if half and _MIXED.match(scan, half.start(), half.end()) else start), at
