"""A skill as a Markdown file: frontmatter, sections, code fences and protected blocks, with every byte kept.

`"".join(parse(text).lines) == text` for any text at all: line endings of every kind, a byte order mark, no final
newline. Lines are classified so that an edit can tell where it may go; nothing is ever reformatted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from skillopt_core.frontmatter import description_span

SLOW_UPDATE: Final = "SLOW_UPDATE"
APPENDIX: Final = "APPENDIX"
BLOCKS: Final = (SLOW_UPDATE, APPENDIX)

_LINES: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_MARKER: Final = re.compile(r"<!--\s*(SLOW_UPDATE|APPENDIX)_(START|END)\s*-->")
_FENCE: Final = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})(.*)$", re.DOTALL)
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$", re.DOTALL)
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_HEADING_LIKE: Final = re.compile(r"(?:^|[\r\n]) {0,3}(?:#|=+[ \t]*(?:[\r\n]|$)|-+[ \t]*(?:[\r\n]|$))")
_PARAGRAPH: Final = re.compile(r" {0,3}(?![-*+>#|]|\d{1,9}[.)] )\S")
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")


class Kind(IntEnum):
    """What a line belongs to. Only TEXT and HEADING may be edited."""

    TEXT = 0
    HEADING = 1
    FENCE = 2
    GUARD = 3  # inside or on the markers of a protected block
    FRONT = 4


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading on line `line` (from 0); `level` 1 to 6; for setext headings `line` is the underlined text."""

    line: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Block:
    """A protected block: lines `first` to `last`, markers included. An unclosed block reaches to the end."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed skill. `lines` keep their endings; `starts` are their offsets in `text`; `kinds` go with them.

    `newline` is the ending that most lines have. `open_fence` says that the text ends inside a code fence, so that
    nothing can be added at its end.
    """

    text: str
    newline: str
    lines: tuple[str, ...]
    starts: tuple[int, ...]
    kinds: tuple[Kind, ...]
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    open_fence: bool

    @property
    def frontmatter(self) -> str:
        """The frontmatter with its fences, or nothing."""
        return "".join(line for line, kind in zip(self.lines, self.kinds, strict=True) if kind is Kind.FRONT)

    @property
    def description(self) -> str | None:
        """The frontmatter's `description` as a string, None where there is none."""
        span = description_span(self.frontmatter)
        return span.value if span else None

    def line_at(self, offset: int) -> int:
        """The number of the line that the character at `offset` stands on."""
        return max(bisect_right(self.starts, offset) - 1, 0)

    def end_of(self, line: int) -> int:
        """The offset behind line `line`, its ending included."""
        return self.starts[line] + len(self.lines[line])

    def block(self, name: str) -> Block | None:
        """The first protected block of this name."""
        return next((block for block in self.blocks if block.name == name), None)

    def block_text(self, block: Block) -> str:
        """A protected block with its markers."""
        return "".join(self.lines[block.first : block.last + 1])


def parse(text: str) -> Document:
    """Classify every line of any text. Linear in its length."""
    lines = _LINES.findall(text)
    starts: list[int] = []
    offset = 0
    for line in lines:
        starts.append(offset)
        offset += len(line)
    scan = _Scan(lines)
    scan.run()
    return Document(
        text=text,
        newline=_newline(text),
        lines=tuple(lines),
        starts=tuple(starts),
        kinds=tuple(scan.kinds),
        headings=tuple(scan.headings),
        blocks=tuple(scan.blocks),
        open_fence=bool(scan.fence),
    )


def top_headings(text: str, deepest: int) -> list[int]:
    """The levels of the headings of a piece of Markdown, in order, down to level `deepest`."""
    if not _HEADING_LIKE.search(text):
        return []
    return [heading.level for heading in parse(text).headings if heading.level <= deepest]


def leaves_fence_open(text: str) -> bool:
    """True if the piece of Markdown ends inside a code fence of its own."""
    return ("```" in text or "~~~" in text) and parse(text).open_fence


def _newline(text: str) -> str:
    if "\r" not in text:
        return "\n"
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=counts.__getitem__)


def starts_list(line: str) -> bool:
    """True if the line is a bullet or a numbered item."""
    return _LIST_ITEM.match(line) is not None


def has_marker(text: str) -> bool:
    """True if the text holds a marker of a protected block."""
    return _MARKER.search(text) is not None


class _Scan:
    """One pass over the lines: which kind each is, and the structure that they form."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else lines
        self.kinds: list[Kind] = []
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.fence = ""
        self.guard = ""
        self.guard_first = 0

    def run(self) -> None:
        front = _frontmatter_end(self.lines)
        self.kinds += [Kind.FRONT] * front
        for number in range(front, len(self.lines)):
            self.kinds.append(self._kind(number, self.lines[number]))
        if self.guard:
            self.blocks.append(Block(self.guard, self.guard_first, len(self.lines) - 1))

    def _kind(self, number: int, line: str) -> Kind:
        if self.guard or (not self.fence and "<!--" in line and _MARKER.search(line)):
            return self._guarded(number, line)
        if self.fence or "```" in line or "~~~" in line:
            return self._fenced(number, line)
        return self._plain(number, line)

    def _guarded(self, number: int, line: str) -> Kind:
        for name, edge in _MARKER.findall(line):
            if edge == "START" and not self.guard:
                self.guard, self.guard_first = name, number
            elif edge == "END" and name == self.guard:
                self.blocks.append(Block(name, self.guard_first, number))
                self.guard = ""
        return Kind.GUARD

    def _fenced(self, number: int, line: str) -> Kind:
        bare = line.rstrip("\r\n")
        found = _FENCE.match(bare)
        if not self.fence:
            if found is None:
                return self._plain(number, line)
            self.fence = found.group(1)
        elif found and found.group(1).startswith(self.fence) and not found.group(2).strip():
            self.fence = ""
        return Kind.FENCE

    def _plain(self, number: int, line: str) -> Kind:
        stripped = line.lstrip(" ")
        if stripped.startswith("#"):
            found = _ATX.match(line.rstrip("\r\n"))
            if found:
                self.headings.append(Heading(number, len(found.group(1)), (found.group(2) or "").strip()))
                return Kind.HEADING
        elif stripped.startswith(("=", "-")) and _SETEXT.match(line.rstrip("\r\n")):
            return self._underline(number, stripped)
        return Kind.TEXT

    def _underline(self, number: int, stripped: str) -> Kind:
        above = self.lines[number - 1] if number else ""
        if not self.kinds or self.kinds[-1] is not Kind.TEXT or not _PARAGRAPH.match(above):
            return Kind.TEXT
        self.kinds[-1] = Kind.HEADING
        self.headings.append(Heading(number - 1, 1 if stripped[0] == "=" else 2, above.strip()))
        return Kind.HEADING


def _frontmatter_end(lines: Sequence[str]) -> int:
    """How many lines the frontmatter takes: 0 unless the first line is `---` and a later one closes it."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    closing = (n for n, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."})
    return next(closing, -1) + 1
