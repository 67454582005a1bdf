"""Checks of an answer's sections, read as the core reads Markdown."""

from __future__ import annotations

import re
from typing import Final

from skillopt_core.document import Document, parse
from skillopt_sleep.checks.examples import is_form, shown
from skillopt_sleep.checks.model import Kind, Rule
from skillopt_sleep.checks.reading import fields, plain, words
from skillopt_sleep.checks.text import HIDDEN
from skillopt_sleep.domain.answers import Answer

_NUMBERING: Final = re.compile(r"^(?:\d+[.)]|[a-z][.)])\s+")
_MARKUP: Final = str.maketrans("", "", "*_`")

_ABSENT: Final = "The answer lacks a section. An answer passes that has, for example:\n## {title}\nSome lines about it."


def _title(text: str) -> str:
    """A heading's words: without markup, numbering and closing punctuation, in lower case."""
    bare = " ".join(text.lstrip("# ").translate(_MARKUP).split()).casefold()
    return _NUMBERING.sub("", bare).rstrip(" :.!?")


def bodies(page: Document, title: str) -> list[str]:
    """The texts under all headings of a title, each up to the next heading of its level or a higher one."""
    found = []
    for number, heading in enumerate(page.headings):
        if _title(heading.title) == title:
            after = (later.line for later in page.headings[number + 1 :] if later.level <= heading.level)
            found.append("".join(page.lines[heading.line + 1 : next(after, len(page.lines))]))
    return found


def _section_present(argument: object) -> Rule:
    named = words(argument, "the title of the section")
    title, said = _title(named), _ABSENT.format(title=named.strip().lstrip("# "))
    return Rule(lambda answer: bool(_under(answer, title)), lambda _: said)


def _section_contains(argument: object) -> Rule:
    given = fields(argument, frozenset({"section", "text"}), frozenset())
    named = words(given["section"], "the title of the section", "section")
    wanted = words(given["text"], "the text that must stand in the section", "text")
    title, heading = _title(named), named.strip().lstrip("# ")

    def failure(answer: Answer) -> str:
        if not _under(answer, title):
            return _ABSENT.format(title=heading)
        if is_form(wanted):
            return f"The section “{heading}” lacks something in its form. It passes with, for example:\n{shown(wanted)}"
        return f"The section “{heading}” lacks something that it has to say; {HIDDEN}."

    secrets = () if is_form(wanted) else (wanted,)
    return Rule(lambda answer: any(wanted in body for body in _under(answer, title)), failure, secrets)


def _under(answer: Answer, title: str) -> list[str]:
    return bodies(parse(plain(answer.text)), title)


_HEADINGS: Final = (
    "A section is a Markdown heading of any level (`#` to `######`, or underlined) outside code fences, with all up to "
    "the next heading of the same or a higher level. Titles are compared without case, emphasis, numbering (`1.`, "
    "`a)`) and closing punctuation. A line in bold is no heading."
)

KINDS: Final = (
    Kind(
        "section_present",
        "title",
        f"The answer has a section of this title. {_HEADINGS} The section may be empty.",
        "Key Risks",
        _section_present,
        shape_only=True,
    ),
    Kind(
        "section_contains",
        "object with `section` (title) and `text`",
        "A section of this title (see `section_present`) contains the text, sub-sections included; upper and lower "
        "case of the text differ.",
        {"section": "Key Risks", "text": "likelihood"},
        _section_contains,
    ),
)
