"""The two protected blocks of a skill: the slow update's guidance and the appendix of reminders (method.md).

Step edits never touch what stands between their markers. Both are kept at the end of the document.
"""

from __future__ import annotations

from typing import Final

from skillopt_core.document import APPENDIX, SLOW_UPDATE, Document, has_marker, leaves_fence_open, parse
from skillopt_core.memory import normalised

MOST_REMINDERS: Final = 10
MOST_CHARACTERS: Final = 1500
_FULL: Final = "the appendix is full: newer reminders of the same patch took its place"


def remind(text: str, *new: str) -> tuple[str, list[str]]:
    """The document with more lines in its appendix, and for each of `new` why it is not among them ("" where it is).

    A reminder that the appendix already has, by meaning, changes nothing. The appendix holds at most ten reminders and
    1,500 characters: the oldest make room.
    """
    page = parse(text)
    if page.open_fence and page.block(APPENDIX) is None:
        return text, ["the document ends inside an open code fence"] * len(new)
    lines = dict.fromkeys(reminders(page))
    known = {normalised(line) for line in lines}
    whys: list[str] = []
    for line in map(_flat, new):
        meaning = normalised(line)
        whys.append("the appendix already says it" if meaning in known else _too_long(line))
        if not whys[-1]:
            known.add(meaning)
            lines[line] = None
    kept = _newest(list(lines))
    whys = [why or ("" if _flat(line) in kept else _FULL) for line, why in zip(new, whys, strict=True)]
    if all(whys):
        return text, whys
    return with_block(page, APPENDIX, "\n".join(f"- {line}" for line in kept)), whys


def reminders(page: Document) -> list[str]:
    """The lines of the appendix, oldest first, without their bullets."""
    block = page.block(APPENDIX)
    if block is None:
        return []
    inner = (line.strip() for line in page.lines[block.first + 1 : block.last])
    return [line.removeprefix("- ") for line in inner if line]


def _flat(reminder: str) -> str:
    return " ".join(reminder.split()).removeprefix("- ")


def _too_long(line: str) -> str:
    return f"a reminder has at most {MOST_CHARACTERS} characters" if len(line) > MOST_CHARACTERS else ""


def _newest(lines: list[str]) -> list[str]:
    """As many of the last lines as the appendix holds."""
    lines = lines[-MOST_REMINDERS:]
    while sum(map(len, lines)) > MOST_CHARACTERS:
        lines.pop(0)
    return lines


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
