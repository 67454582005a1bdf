"""Code spans of Markdown (CommonMark 0.31, section 6.1), written so that any identifier survives, and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 300
"""Characters of one slot."""

_TICKS: Final = re.compile(r"`+")
_COMMENT: Final = re.compile(r"<!--|-->")


class Unphrasable(ValueError):
    """Words or an identifier that may not stand in a skill: empty, too long, several lines, unprintable characters."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A line with each code span replaced by `\\x00n\\x00`: `codes[n]` is its content, `spans[n]` its place."""

    text: str
    codes: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def raw(self, start: int, end: int) -> tuple[int, int]:
        """The place in the unmasked line of a stretch of `text` that begins and ends outside of masks."""
        return self._unmask(start), self._unmask(end)

    def _unmask(self, at: int) -> int:
        shift = 0
        for number, found in enumerate(MASK.finditer(self.text)):
            if found.end() > at:
                break
            start, end = self.spans[number]
            shift += (end - start) - (found.end() - found.start())
        return at + shift


MASK: Final = re.compile("\x00(\\d+)\x00")


def check_printable(text: str, most: int = LONGEST) -> str:
    """The text itself. Raises `Unphrasable` for what would not survive a line of Markdown or hide in it."""
    if not text.strip():
        raise Unphrasable("nothing stands here")
    if len(text) > most:
        raise Unphrasable(f"longer than {most} characters")
    if not text.isprintable():
        raise Unphrasable("more than one line, or characters that cannot be seen")
    if _COMMENT.search(text):
        raise Unphrasable("a comment mark of Markdown")
    return text


def code(identifier: str) -> str:
    """An identifier as a code span, with as many backticks as it takes. Raises `Unphrasable`."""
    check_printable(identifier)
    ticks = "`" * (max((len(run) for run in _TICKS.findall(identifier)), default=0) + 1)
    edges = identifier[0] + identifier[-1]
    pad = " " if "`" in edges or edges == "  " else ""
    return f"{ticks}{pad}{identifier}{pad}{ticks}"


def mask(line: str) -> Masked:
    """Replace the code spans of a line. Linear: a run of backticks that nothing closes is looked for once a length."""
    line = line.replace("\x00", "\ufffd")
    pieces: list[str] = []
    codes: list[str] = []
    spans: list[tuple[int, int]] = []
    last = 0
    for start, end, content in _code_spans(line):
        pieces += [line[last:start], f"\x00{len(codes)}\x00"]
        codes.append(content)
        spans.append((start, end))
        last = end
    return Masked("".join([*pieces, line[last:]]), tuple(codes), tuple(spans))


def _code_spans(line: str) -> Iterator[tuple[int, int, str]]:
    runs = list(_TICKS.finditer(line))
    later: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[index].group()), []).append(index)
    at = 0
    while at < len(runs):
        same = later[len(runs[at].group())]
        while same and same[-1] <= at:
            same.pop()
        if not same:
            at += 1
            continue
        closing = same[-1]
        yield runs[at].start(), runs[closing].end(), _content(line[runs[at].end() : runs[closing].start()])
        at = closing + 1


def _content(between: str) -> str:
    padded = between.startswith(" ") and between.endswith(" ") and between.strip(" ")
    return between[1:-1] if padded else between
