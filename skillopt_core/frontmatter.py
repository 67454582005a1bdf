"""The one frontmatter field that training may change: `description`. Everything else there is opaque lines.

An agent shows a skill's description to the model and nothing of its body until the model opens it, so the description
is part of what is trained. YAML's scalar styles are read far enough for one string; it is written double-quoted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MOST_CHARACTERS: Final = 1024

_FIELD: Final = re.compile(
    r"^description[ \t]*:(?P<value>[^\r\n]*)(?P<more>(?:(?:\r\n|\r|\n)(?:[ \t]+[^\r\n]*|(?=[\r\n])))*)", re.MULTILINE
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}
_ESCAPED: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Span:
    """Where the scalar stands in the frontmatter (behind the colon), and its value."""

    start: int
    end: int
    value: str


def description_span(frontmatter: str) -> Span | None:
    """The description's place and value; None where there is none or it is no plain scalar."""
    found = _FIELD.search(frontmatter)
    if found is None:
        return None
    raw = found.group("value") + found.group("more").rstrip()
    value = _scalar(raw)
    return None if value is None else Span(found.start("value"), found.start("value") + len(raw), value)


def quoted(value: str) -> str:
    """The string as a YAML double-quoted scalar on one line."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _scalar(raw: str) -> str | None:
    head, _, rest = raw.strip().partition("\n")
    if head[:1] in {"|", ">"}:
        lines = [line.strip() for line in rest.splitlines()]
        return ("\n" if head[0] == "|" else " ").join(lines).strip()
    flat = " ".join(raw.split())
    if flat[:1] == '"':
        return _ESCAPED.sub(_unescape, flat[1:-1]) if flat[-1:] == '"' and len(flat) > 1 else None
    if flat[:1] == "'":
        return flat[1:-1].replace("''", "'") if flat[-1:] == "'" and len(flat) > 1 else None
    return re.split(r"\s#", flat, maxsplit=1)[0].strip()


def _unescape(found: re.Match[str]) -> str:
    code = found.group(1) or found.group(2) or found.group(3)
    if code:
        point = int(code, 16)
        return chr(point) if point < 0x110000 else "\ufffd"
    return _ESCAPES.get(found.group(4), found.group(4))
