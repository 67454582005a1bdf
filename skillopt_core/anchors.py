"""Where an edit goes: the one place in a document that its anchor names, or why there is none (method.md, update).

An anchor is exact text. It must be found once, and lie wholly outside frontmatter, code fences and protected blocks.
A near miss (white space, quotes, bullets) is repaired only if what it then matches is found once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from skillopt_core.document import Document, Heading, Kind

LONGEST: Final = 4000
_BULLETS: Final = "-*+•"
_WORD: Final = re.compile(r"\S+")
_QUOTE_CLASS: Final = {
    **dict.fromkeys("'‘’`´", "['‘’`´]"),
    **dict.fromkeys('"“”„«»', '["“”„«»]'),
    **dict.fromkeys("-–—", "[-–—]"),
}
_WRAPPERS: Final = "\"'“”‘’ \t\r\n"
_CLOSED: Final = {
    Kind.FRONT: "the frontmatter",
    Kind.FENCE: "a code fence",
    Kind.GUARD: "a protected block",
}


@dataclass(frozen=True, slots=True)
class Missed:
    """An edit that finds no place. The reason goes back to the optimizer once."""

    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """The characters from `start` to `end` of the document's text."""

    start: int
    end: int


def find(page: Document, text: str, anchor: str) -> Place | Missed:
    """The only place of `anchor` in `text`, which is `page.text`; exact first, then repaired."""
    wanted = anchor.strip("\r\n")
    if not wanted.strip():
        return Missed("the anchor is empty")
    if len(wanted) > LONGEST:
        return Missed(f"the anchor is longer than {LONGEST} characters")
    exact = wanted.replace("\r\n", "\n").replace("\n", page.newline)
    places = list(_occurrences(text, exact)) or list(_near(text, wanted))
    if not places:
        return Missed("the anchor is not in the document")
    if len(places) > 1:
        return Missed("the anchor is in the document more than once")
    return _open_to_edits(page, places[0])


def find_section(page: Document, name: str) -> Heading | Missed:
    """The only section of this title (with or without its number signs; case and white space do not matter)."""
    wanted = _title(name)
    exact = [heading for heading in page.headings if heading.title == name.strip().lstrip("#").strip()]
    found = exact or [heading for heading in page.headings if _title(heading.title) == wanted]
    if not found:
        return Missed(f"there is no section {name.strip()!r}")
    if len(found) > 1:
        return Missed(f"there is more than one section {name.strip()!r}")
    return found[0]


def _title(name: str) -> str:
    return " ".join(name.strip().lstrip("#").split()).rstrip(":").casefold()


def _occurrences(text: str, wanted: str) -> Iterator[Place]:
    at = text.find(wanted)
    while at >= 0:
        yield Place(at, at + len(wanted))
        at = text.find(wanted, at + 1)


def _near(text: str, wanted: str) -> Iterator[Place]:
    unwrapped = wanted.strip(_WRAPPERS)
    for variant in dict.fromkeys((wanted, unwrapped, unwrapped.lstrip(_BULLETS + " "))):
        pattern = _pattern(variant)
        found = [Place(*match.span()) for match in pattern.finditer(text)] if pattern else []
        if found:
            yield from found
            return


def _pattern(wanted: str) -> re.Pattern[str] | None:
    words = _WORD.findall(wanted)
    if not words:
        return None
    parts = [f"[{re.escape(_BULLETS)}]" if word in _BULLETS else _spelled(word) for word in words]
    return re.compile(r"\s+".join(parts))


def _spelled(word: str) -> str:
    return "".join(_QUOTE_CLASS.get(letter) or re.escape(letter) for letter in word)


def _open_to_edits(page: Document, place: Place) -> Place | Missed:
    last = page.line_at(max(place.end - 1, place.start))
    for kind in page.kinds[page.line_at(place.start) : last + 1]:
        if kind in _CLOSED:
            return Missed(f"the anchor is in {_CLOSED[kind]}")
    return place
