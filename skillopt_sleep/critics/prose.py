"""What of a skill's text instructs: its bullets and paragraphs, with their places.

Frontmatter, code fences, comments, quotations, tables and headings are no instructions; an agent is not bound by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from skillopt_core.document import Kind
from skillopt_core.document import parse as parse_document

BULLET: Final = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_FENCE: Final = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})")
_NO_PROSE: Final = re.compile(r"\s*(?:>|\||#{1,6}(?:\s|$)|(?:[=_*-]\s*){3,}$)")


def blocks(skill_text: str) -> Iterator[tuple[int, list[str]]]:
    """Bullets and paragraphs, each as its lines (without endings) with the number of the first, from 0."""
    block: list[str] = []
    begin = 0
    for number, line in _prose(skill_text):
        begins = not block or BULLET.match(line) or number != begin + len(block)
        if begins and block:
            yield begin, block
        if begins:
            block, begin = [], number
        block.append(line)
    if block:
        yield begin, block


def _prose(skill_text: str) -> Iterator[tuple[int, str]]:
    """The lines that instruct, with their numbers: no frontmatter, fence, comment, quotation, table or heading."""
    document = parse_document(skill_text)
    fence, hidden, listed, after_blank = "", False, False, True
    for number, line in enumerate(document.lines):
        line = line.rstrip("\r\n")
        if document.kinds[number] is Kind.FRONT:
            continue
        if not hidden:
            fence, fenced = _fence(fence, line)
            if fenced:
                after_blank = False
                continue
        line, hidden = _uncommented(line, hidden)
        listed = bool(BULLET.match(line)) or (listed and (not line.strip() or line[:1].isspace() or not after_blank))
        indented = line.startswith(("    ", "\t")) and after_blank and not listed
        after_blank = not line.strip()
        if not (after_blank or indented or _NO_PROSE.match(line)):
            yield number, line


def _uncommented(line: str, hidden: bool) -> tuple[str, bool]:
    """The line without what stands in comments, and whether one is still open at its end."""
    pieces: list[str] = []
    while line:
        before, mark, line = line.partition("-->" if hidden else "<!--")
        if not hidden:
            pieces.append(before)
        hidden = hidden != bool(mark)
    return "".join(pieces), hidden


def _fence(fence: str, line: str) -> tuple[str, bool]:
    found = _FENCE.match(line)
    if not fence:
        return (found.group(1), True) if found else ("", False)
    closes = found and found.group(1).startswith(fence) and not line[found.end() :].strip()
    return ("" if closes else fence), True
