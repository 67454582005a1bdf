"""Text in, redacted text out: many texts to a scan, again until nothing is found, seen texts from memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from threading import Lock
from typing import NamedTuple, NewType

from skillopt_sleep.redact.custom import custom_spans, linear_patterns
from skillopt_sleep.redact.decoded import undressed
from skillopt_sleep.redact.engine import engine_spans
from skillopt_sleep.redact.spans import KINDS, PLACEHOLDER, SEPARATOR, Span, outside, placeholder, rewritten, united

Redacted = NewType("Redacted", str)
"""Text that has passed a Redactor: the only kind that may be stored, logged, shown or sent."""

RULES_VERSION = 2
"""Raised with every change that finds more: stored text of an older version is redacted again."""

_BATCH = 65_536
_ROUNDS = 4
_SLACK = 512
_MEMORY_CHARS = 4_000_000

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_SWITCH_OFF = re.compile(rb"(?:better|git)?leaks:allow", re.IGNORECASE)
_TOKEN_END = re.compile(r"[\s\"'`\\,;<>()\[\]{}|]")
_PLACEHOLDER_TEXT = re.compile(PLACEHOLDER.pattern.decode())
_LONGEST_PLACEHOLDER = max(len(placeholder(kind)) for kind in KINDS)


class Batch(NamedTuple):
    """Texts joined for one scan. `scan` has the offsets of `raw`, without what blinds the rules; `low` is the same in
    lower case."""

    raw: bytes
    scan: bytes
    low: bytes
    bounds: list[tuple[int, int]]
    """Of each text, in bytes."""
    placeholders: list[tuple[int, int]]


class Redactor:
    """Takes secrets out of text. Not to be shared between a process and its forks; safe to share between threads.

    `extra`: the user's own patterns (regular expressions that run in linear time, else ConfigError).
    `engine=False` leaves betterleaks out, as where there is no wheel of it.
    """

    def __init__(self, extra: Sequence[str] = (), *, engine: bool = True) -> None:
        self._patterns = linear_patterns(extra)
        self._engine = engine
        self._seen = _Memory(_MEMORY_CHARS)

    def redact(self, text: str) -> Redacted:
        """`text` with `[redacted:KIND]` for each secret. Redacting the result again changes nothing."""
        return self.redact_many((text,))[0]

    def redact_many(self, texts: Sequence[str]) -> list[Redacted]:
        """As `redact`, in the order of `texts`; distinct texts share scans of about 64 KB."""
        answers = self._seen.among(texts)
        fresh = [text for text in dict.fromkeys(texts) if text not in answers]
        found = dict(zip(fresh, self._settled(fresh), strict=True))
        self._seen.put(found)
        answers.update(found)
        return [Redacted(answers[text]) for text in texts]

    def clip(self, text: str, limit: int) -> Redacted:
        """The redacted beginning of `text`, at most `limit` characters: no cut ever halves or hides a secret."""
        return self.clip_many((text,), limit)[0]

    def clip_many(self, texts: Sequence[str], limit: int) -> list[Redacted]:
        """As `clip`, many at once. Characters beyond `limit` + 512 are not looked at, so a reader may cut there."""
        least = limit + _SLACK
        heads = [text if len(text) < least else _head(text, limit) for text in texts]
        return [
            clean if len(clean) <= limit else Redacted(_tail_trimmed(clean, limit)) for clean in self.redact_many(heads)
        ]

    def _settled(self, texts: list[str]) -> list[str]:
        """Redacted until a round finds nothing: what a round leaves may read differently beside its placeholders."""
        settled = list(texts)
        pending = list(range(len(texts)))
        for _ in range(_ROUNDS):
            changed = []
            for index, clean in zip(pending, self._pass([settled[index] for index in pending]), strict=True):
                if clean is not None:
                    settled[index] = clean
                    changed.append(index)
            if not changed:
                break
            pending = changed
        return settled

    def _pass(self, texts: list[str]) -> Iterator[str | None]:
        """One scan of each text: the text with placeholders, or None where nothing was found."""
        for batch in _batches(texts):
            spans = list(outside(united(self._spans(batch.scan, batch.low)), batch.placeholders))
            yield from _rewritten_texts(batch, spans)

    def _spans(self, scan: bytes, low: bytes) -> Iterator[Span]:
        yield from self._look(scan, low)
        beneath = undressed(scan)
        if beneath.pieces:
            yield from beneath.raw(self._look(*_scannable(beneath.scan)))

    def _look(self, scan: bytes, low: bytes) -> list[Span]:
        from skillopt_sleep.redact.rules import own_spans  # most commands redact nothing and need no rules

        spans = own_spans(scan, low)
        if self._engine:
            spans += engine_spans(scan, low)
        if self._patterns:
            spans += custom_spans(scan, self._patterns)
        return spans


class _Memory:
    """The texts seen last, with their answers, bounded by characters.

    They are kept in two halves: what is asked for moves to the younger one, and when that is full the older one goes.
    """

    def __init__(self, most_chars: int) -> None:
        self._half = most_chars // 2
        self._chars = 0  # of the younger half
        self._young: dict[str, str] = {}
        self._old: dict[str, str] = {}
        self._lock = Lock()

    def among(self, texts: Iterable[str]) -> dict[str, str]:
        """The answers to those of the texts that are known."""
        with self._lock:
            young, old = self._young, self._old
            known = {text: young[text] for text in texts if text in young}
            again = {text: old[text] for text in texts if text in old} if old else {}
            self._keep({text: answer for text, answer in again.items() if text not in known})
        return again | known

    def put(self, answers: Mapping[str, str]) -> None:
        """Remember answers that were not known."""
        with self._lock:
            self._keep(answers)

    def _keep(self, answers: Mapping[str, str]) -> None:
        self._young.update(answers)
        self._chars += sum(map(len, answers))
        if self._chars > self._half:
            self._old = self._young if self._chars <= 2 * self._half else {}
            self._young, self._chars = {}, 0


def _batches(texts: Iterable[str]) -> Iterator[Batch]:
    """Texts in their order, in batches of at most 64 KB; a longer text has its own."""
    parts: list[bytes] = []
    bounds: list[tuple[int, int]] = []
    size = 0
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        if bounds and size + len(raw) > _BATCH:
            yield _batch(b"".join(parts), bounds)
            parts, bounds, size = [], [], 0
        bounds.append((size, size + len(raw)))
        parts += (raw, SEPARATOR)
        size += len(raw) + len(SEPARATOR)
    if bounds:
        yield _batch(b"".join(parts), bounds)


def _batch(raw: bytes, bounds: list[tuple[int, int]]) -> Batch:
    (scan, low), placeholders = _scannable(raw), []
    if b"[redacted:" in scan:
        placeholders = [match.span() for match in PLACEHOLDER.finditer(scan)]
        scan = PLACEHOLDER.sub(lambda match: b"\x1e" * len(match[0]), scan)
        low = scan.lower()
    return Batch(raw, scan, low, bounds, placeholders)


def _scannable(raw: bytes) -> tuple[bytes, bytes]:
    """`raw` with the same offsets, as valid UTF-8 without NUL and without the markers that switch the engine off; and
    the same in lower case."""
    scan = raw.replace(b"\x00", b" ")
    if b"\xed" in scan:
        scan = _SURROGATE.sub(b"\xef\xbf\xbd", scan)
    low = scan.lower()
    if b"leaks:allow" in low:
        scan = _SWITCH_OFF.sub(lambda marker: b" " * len(marker[0]), scan)
        low = scan.lower()
    return scan, low


def _rewritten_texts(batch: Batch, spans: list[Span]) -> Iterator[str | None]:
    """Each text of the batch with its spans replaced, or None. A span that reaches over a bound is cut there."""
    if not spans:
        yield from repeat(None, len(batch.bounds))
        return
    at = 0
    for start, end in batch.bounds:
        while at < len(spans) and spans[at].end <= start:
            at += 1
        inside: list[Span] = []
        for span in islice(spans, at, None):
            if span.start >= end:
                break
            inside.append(Span(max(span.start, start) - start, min(span.end, end) - start, span.kind))
        raw = batch.raw[start:end]
        yield rewritten(raw, inside).decode("utf-8", "surrogatepass") if inside else None


def _head(text: str, limit: int) -> str:
    """The first `limit` + 512 characters, less a token that this cut goes through."""
    stop = limit + _SLACK
    if len(text) < stop:
        return text
    head = text[:stop]
    if _TOKEN_END.match(text, stop):  # a text of just this length was cut by whoever read it
        return head
    end = _TOKEN_END.search(head[::-1])
    return head[: stop - end.start()] if end else ""


def _tail_trimmed(clean: str, limit: int) -> str:
    """At most `limit` characters, and no half of a placeholder."""
    if len(clean) <= limit:
        return clean
    for mark in _PLACEHOLDER_TEXT.finditer(clean, max(0, limit - _LONGEST_PLACEHOLDER), limit + _LONGEST_PLACEHOLDER):
        if mark.start() < limit < mark.end():
            return clean[: mark.start()]
    return clean[:limit]
