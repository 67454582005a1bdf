"""From a rewritten skill back to edits: what differs, as exact anchors that a patch can carry (method.md, update).

A rewrite is believed only as the edits that lead to it. So it goes through the same anchors, protected intervals,
screen, memory and credit as any patch, and what it did to frontmatter, code fences or protected blocks is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from typing import Final

from skillopt_core.anchors import LONGEST, Missed, find
from skillopt_core.document import Document, Kind, parse
from skillopt_core.prompting import printable
from skillopt_core.types import Edit, Refused

MOST_LINES: Final = 2000
MOST_CHANGES: Final = 100
"""Of a document before and after, and between the two: beyond them nothing is left that could be called an edit."""
WIDEST: Final = 40
"""Lines around a change that its anchor may take."""
TOO_MUCH: Final = "the rewrite changes too much to be taken apart"
CLOSED: Final = "a rewrite may not touch frontmatter, code fences and protected blocks"


@dataclass(frozen=True, slots=True)
class _Cell:
    """Lines of the old text and what became of them: one unchanged line, or one change as a whole."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    changed: bool
    closed: bool


@dataclass(frozen=True, slots=True)
class _Rewrite:
    """Both texts side by side. A stretch of cells is a `range`."""

    page: Document
    cells: tuple[_Cell, ...]

    def old(self, stretch: range) -> str:
        """The old text of a stretch, without a byte order mark."""
        return "".join(line for n in stretch for line in self.cells[n].old).removeprefix("\ufeff")

    def new(self, stretch: range) -> str:
        """What it became."""
        return "".join(f"{line}\n" for n in stretch for line in self.cells[n].new)

    def stands(self, stretch: range) -> bool:
        """True if the old text of the stretch is an anchor, and both texts have the same empty lines around them."""
        old, new = self.old(stretch), self.new(stretch)
        if not old.strip() or _around(old) != (_around(new) if new.strip() else (0, 0)):
            return False
        return not isinstance(find(self.page, self.page.text, old.strip("\r\n")), Missed)

    def edit(self, stretch: range) -> Edit:
        """The stretch as one edit."""
        old, new = self.old(stretch).strip("\r\n"), self.new(stretch).strip("\n")
        if not new.strip():
            return Edit("delete", old, "")
        first, _, more = new.partition("\n")
        alone = len(old.splitlines()) == 1 and first == old
        if alone and more.strip() and not more.startswith("\n") and not old.lstrip().startswith("#"):
            return Edit("insert_after", old, more)
        return Edit("replace", old, new)


def _around(text: str) -> tuple[int, int]:
    """How many empty lines stand before and behind the text."""
    lines = [line.strip() for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n")]
    filled = [n for n, line in enumerate(lines) if line]
    return filled[0], len(lines) - 1 - filled[-1]


def edits_between(old: str, new: str, most: int) -> tuple[tuple[Edit, ...], tuple[Refused, ...]]:
    """At most `most` edits that lead from `old` to `new`, as far as they may, and those that may not.

    Neighbouring changes are joined until they are few enough; of what is left the longest stay. Lines are compared as
    an optimizer sees them (`prompting.printable`), without white space at their ends. A text that has next to nothing
    in common with the old one is refused as a whole.
    """
    page, written = parse(old), parse(new)
    if max(len(page.lines), len(written.lines)) > MOST_LINES:
        return (), (Refused(Edit("replace", "", ""), TOO_MUCH),)
    both = _Rewrite(page, tuple(_cells(page, _shown(written.lines))))
    changed = [range(n, n + 1) for n, cell in enumerate(both.cells) if cell.changed]
    if len(changed) > MOST_CHANGES:
        return (), (Refused(Edit("replace", "", ""), TOO_MUCH),)
    closed = [stretch for stretch in changed if both.cells[stretch[0]].closed]
    stretches = _united([_anchored(both, stretch) for stretch in changed if stretch not in closed])
    stretches = _joined(both, stretches, most)
    longest = sorted(stretches, key=lambda stretch: -len(both.old(stretch)) - len(both.new(stretch)))[: max(most, 0)]
    refused = [Refused(both.edit(stretch), CLOSED) for stretch in closed]
    beyond = [both.edit(stretch) for stretch in stretches if stretch not in longest]
    refused += [Refused(edit, f"beyond the edit budget of {most}", "dropped") for edit in beyond]
    return tuple(both.edit(stretch) for stretch in stretches if stretch in longest), tuple(refused)


def _cells(page: Document, new: Sequence[str]) -> Iterator[_Cell]:
    for tag, first, last, start, end in _opcodes(_shown(page.lines), new):
        if tag == "equal":
            for n in range(first, last):
                same = page.lines[n].removeprefix("\ufeff").rstrip("\r\n")
                yield _Cell((page.lines[n],), (same,), changed=False, closed=_is_closed(page.kinds[n]))
        else:
            closed = any(map(_is_closed, page.kinds[first:last]))
            yield _Cell(page.lines[first:last], tuple(new[start:end]), changed=True, closed=closed)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """What `difflib` says of the lines between the common head and the common tail."""
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    tail = next((n for n in range(least - head) if old[-1 - n] != new[-1 - n]), least - head)
    inner = old[head : len(old) - tail], new[head : len(new) - tail]
    yield "equal", 0, head, 0, head
    for tag, *places in SequenceMatcher(None, *inner).get_opcodes():  # leaves out what a long text repeats: else cubic
        first, last, start, end = (place + head for place in places)
        yield tag, first, last, start, end
    yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


def _shown(lines: Sequence[str]) -> list[str]:
    return [printable(line.removeprefix("\ufeff")).rstrip() for line in lines]


def _is_closed(kind: Kind) -> bool:
    return kind not in {Kind.TEXT, Kind.HEADING}


def _anchored(both: _Rewrite, stretch: range) -> range:
    """The stretch with as many open lines around it as its anchor needs, above first; as it was where none helps."""
    wide = stretch
    while not both.stands(wide):
        if len(wide) > WIDEST:
            return stretch
        above, below = range(wide.start - 1, wide.stop), range(wide.start, wide.stop + 1)
        if wide.start > 0 and not both.cells[above[0]].closed:
            wide = above
        elif wide.stop < len(both.cells) and not both.cells[below[-1]].closed:
            wide = below
        else:
            return stretch
    return wide


def _united(stretches: Sequence[range]) -> list[range]:
    """Stretches that overlap are one."""
    found: list[range] = []
    for stretch in sorted(stretches, key=lambda stretch: stretch.start):
        if found and stretch.start < found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, stretch.stop))
        else:
            found.append(stretch)
    return found


def _joined(both: _Rewrite, stretches: list[range], most: int) -> list[range]:
    """Neighbours joined over unchanged lines, the nearest first, until there are `most` or no two can be."""
    while len(stretches) > max(most, 1):
        pairs = [range(a.start, b.stop) for a, b in pairwise(stretches)]
        gaps = [b.start - a.stop for a, b in pairwise(stretches)]
        possible = [n for n, pair in enumerate(pairs) if _may_be_one(both, pair)]
        if not possible:
            break
        at = min(possible, key=partial(list.__getitem__, gaps))
        stretches = [*stretches[:at], pairs[at], *stretches[at + 2 :]]
    return stretches


def _may_be_one(both: _Rewrite, stretch: range) -> bool:
    return not any(both.cells[n].closed for n in stretch) and len(both.old(stretch)) <= LONGEST
