"""Examples of what passes: a text that matches a pattern, and whether a text is form or content.

A critic must learn that an answer lacks a heading or a label, or it can teach nothing; it must not learn the words of a
right answer, or it teaches those. So form is shown by an example, content never.
"""

from __future__ import annotations

import re
from typing import Final

_HEADING: Final = re.compile(r"#{1,6}[ \t]+\S.{0,80}")
_LABEL: Final = re.compile(r"[*_]{0,2}[^\W\d_][\w '/-]{0,40}[*_]{0,2}\s?[:=][*_]{0,2}")
_CODE_FENCE: Final = re.compile(r"(```|~~~)\w*")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_CLASSES: Final = {"d": "0", "D": "x", "w": "x", "W": " ", "s": " ", "S": "x"}
_EDGES: Final = frozenset("bBAzZ^$")
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_QUANTIFIER: Final = re.compile(r"\{(\d+)(?:,\d*)?\}")
_POSIX: Final = re.compile(r"\[:\^?[a-z]+:\]")
_MOST: Final = 200
"""Characters of an example."""


class NoExample(Exception):
    """The pattern says more than is followed here."""


def is_form(text: str) -> bool:
    """True for a heading, a label with its colon, a code fence, and what has no word in it: how a text is laid out."""
    bare = text.strip()
    return "\n" not in bare and (is_layout(bare) or not _WORD.search(bare))


def is_layout(text: str) -> bool:
    """True for a heading, a label with its colon and a code fence: an answer may hold it and say nothing."""
    return any(shape.fullmatch(text.strip()) for shape in (_HEADING, _LABEL, _CODE_FENCE))


def shown(form: str) -> str:
    """A form as a critic sees it: a label with something behind it."""
    bare = form.strip()
    return f"{bare} …" if _LABEL.fullmatch(bare) else bare


def example_of(pattern: str) -> str:
    """The shortest text that the first branches of a pattern allow. It may not match: whoever shows it tries it first.

    `NoExample` for a pattern that is not followed.
    """
    try:
        text, rest = _branches(pattern, 0)
    except (IndexError, OverflowError) as error:
        raise NoExample(pattern) from error
    if rest != len(pattern) or len(text) > _MOST:
        raise NoExample(pattern)
    return text


def _branches(pattern: str, at: int) -> tuple[str, int]:
    """The first branch's text, and where the group or pattern ends."""
    first, at = _sequence(pattern, at)
    while at < len(pattern) and pattern[at] == "|":
        _, at = _sequence(pattern, at + 1)
    return first, at


def _sequence(pattern: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(pattern) and pattern[at] not in "|)":
        atom, at = _atom(pattern, at)
        least, at = _least(pattern, at)
        if len(atom) * least > _MOST:
            raise NoExample(pattern)
        parts.append(atom * least)
    return "".join(parts), at


def _atom(pattern: str, at: int) -> tuple[str, int]:
    here = pattern[at]
    if here == "(":
        return _group(pattern, at + 1)
    if here == "[":
        return _class(pattern, at + 1)
    if here == "\\":
        return _escape(pattern, at + 1)
    if here in "^$":
        return "", at + 1
    return ("x" if here == "." else here), at + 1


def _group(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "?":
        at += 1
        name = re.compile(r"P?<\w+>|[a-zA-Z-]*:|[a-zA-Z-]+\)").match(pattern, at)
        if name is None:
            raise NoExample(pattern)
        if name.group().endswith(")"):
            return "", name.end()
        at = name.end()
    text, at = _branches(pattern, at)
    return text, _after(pattern, at, ")")


def _class(pattern: str, at: int) -> tuple[str, int]:
    """The first member of a class; of one that excludes, a letter or digit that it does not name."""
    negated = pattern[at] == "^"
    start = at = at + negated
    first = ""
    while pattern[at] != "]" or at == start:
        posix = _POSIX.match(pattern, at)
        if posix:
            raise NoExample(pattern)
        member, at = _escape(pattern, at + 1) if pattern[at] == "\\" else (pattern[at], at + 1)
        first = first or member
    if negated:
        first = _outside(pattern[start - 2 : at + 1])
    if not first:
        raise NoExample(pattern)
    return first, at + 1


def _outside(excluding: str) -> str:
    """A character that a class like `[^a-z]` allows; "" where none of a few is."""
    try:
        one = re.compile(excluding)
    except re.error:
        return ""
    return next((c for c in "xA0 -" if one.fullmatch(c)), "")


def _escape(pattern: str, at: int) -> tuple[str, int]:
    here = pattern[at]
    if here in _CLASSES:
        return _CLASSES[here], at + 1
    if here in _EDGES:
        return "", at + 1
    if here in _CONTROLS:
        return _CONTROLS[here], at + 1
    if here.isalnum():
        raise NoExample(pattern)
    return here, at + 1


def _least(pattern: str, at: int) -> tuple[int, int]:
    """How often the last atom stands at least, and where its quantifier ends."""
    least, here = 1, pattern[at : at + 1]
    if here in ("*", "?", "+"):
        least, at = int(here == "+"), at + 1
    elif found := _QUANTIFIER.match(pattern, at):
        least, at = int(found.group(1)), found.end()
    else:
        return 1, at
    return least, at + (pattern[at : at + 1] == "?")


def _after(pattern: str, at: int, wanted: str) -> int:
    if pattern[at] != wanted:
        raise NoExample(pattern)
    return at + 1
