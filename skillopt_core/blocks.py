"""The two protected blocks of a skill: the slow update's guidance and the appendix of reminders (method.md).

Step edits never touch what stands between their markers. Both are kept at the end of the document.
"""

from __future__ import annotations

from typing import Final

from skillopt_core.document import APPENDIX, SLOW_UPDATE, Document, has_marker, leaves_fence_open, parse
from skillopt_core.memory import normalised

MOST_REMINDERS: Final = 10
MOST_CHARACTERS: Final = 1500


def remind(text: str, reminder: str) -> str:
    """The document with one more line in its appendix.

    A reminder that the appendix already has, by meaning, changes nothing. The appendix holds at most ten reminders and
    1,500 characters: the oldest make room.
    """
    page = parse(text)
    old = reminders(page)
    new = " ".join(reminder.split()).removeprefix("- ")
    if len(new) > MOST_CHARACTERS or normalised(new) in {normalised(line) for line in old}:
        return text
    lines = [*old, new][-MOST_REMINDERS:]
    while sum(map(len, lines)) > MOST_CHARACTERS:
        lines.pop(0)
    return with_block(page, APPENDIX, "\n".join(f"- {line}" for line in lines))


def reminders(page: Document) -> list[str]:
    """The lines of the appendix, oldest first, without their bullets."""
    block = page.block(APPENDIX)
    if block is None:
        return []
    inner = (line.strip() for line in page.lines[block.first + 1 : block.last])
    return [line.removeprefix("- ") for line in inner if line]


def with_guidance(text: str, guidance: str) -> str:
    """The document with the slow update's block replaced by `guidance`; unchanged if that holds a marker or nothing."""
    if not guidance.strip() or has_marker(guidance) or leaves_fence_open(guidance):
        return text
    return with_block(parse(text), SLOW_UPDATE, guidance.strip("\r\n").rstrip())


def with_block(page: Document, name: str, inner: str) -> str:
    """The document with block `name` holding `inner`: replaced where it is, else made at the end."""
    nl = page.newline
    lines = [f"<!-- {name}_START -->", *inner.replace("\r\n", "\n").split("\n"), f"<!-- {name}_END -->"]
    body = nl.join(lines)
    block = page.block(name)
    text = page.text
    if block is None:
        if page.open_fence:
            return text
        gap = "" if not text else nl if text.endswith(("\n", "\r")) else nl * 2
        return text + gap + body + nl
    start, end = page.starts[block.first], page.end_of(block.last)
    ending = page.lines[block.last][len(page.lines[block.last].rstrip("\r\n")) :]
    return text[:start] + body + ending + text[end:]
