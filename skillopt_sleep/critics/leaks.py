"""The leak guard: who quotes a check's literal, a gold answer or a task's own entity has only learnt by heart.

Everything is given as plain data: the texts that checks look for, and the prompts of all tasks. An entity
is what a prompt names and few other prompts do: a proper name, a quotation, an identifier, a long number, an address.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from skillopt_sleep.critics.spans import mask

_SHORT: Final = 6
_SHARED: Final = 5
_NAME: Final = r"[A-Z][\w’'&-]*[a-z0-9][\w’'&-]*"
_SENTENCE: Final = re.compile(r"(?:(?<=[.!?:;])\s+|[\r\n]+\W*|^\W*)")
_NAMES: Final = re.compile(rf"{_NAME}(?:[ \t]+(?:(?:of|de|van|von|the|&)[ \t]+)?{_NAME})*")
_QUOTED: Final = re.compile(r"[\"“«]([^\"“”«»\r\n]{3,80})[\"”»]|(?<!\w)'([^'\r\n]{3,80})'(?!\w)")
_TELLING: Final = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]+|\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]{3,}\b|\b\d[\d,.]{2,}\d\b|\b\d{3,}\b"
)
_NO_ENTITIES: Final = frozenset(
    """
    Markdown Python JavaScript TypeScript Rust Java Ruby English German French Spanish Monday Tuesday Wednesday Thursday
    Friday Saturday Sunday January February March April June July August September October November December
    """.split()
)
"""Names that a general rule may well need."""


def own_entities(prompts: Iterable[str], skill: str = "") -> frozenset[str]:
    """What single tasks name, over the prompts of all splits.

    What the skill says already, or every fifth prompt, belongs to no single task.
    """
    different = set(prompts)
    counts = Counter(name for prompt in different for name in entities(prompt))
    most = max(1, len(different) // _SHARED)
    return frozenset(name for name, n in counts.items() if n <= most and not _holds_word(skill, name))


def quoted(text: str, literals: Iterable[str], entities: Iterable[str] = ()) -> str:
    """Why a text gives a task away, "" where it does not. `literals` are texts of checks and gold answers."""
    if any(_holds_literal(text, literal) for literal in literals):
        return "it quotes what a check looks for"
    held = sorted((name for name in entities if _holds_word(text, name)), key=lambda name: (-len(name), name))
    return f"it names {held[0]!r}, which is one task's own" if held else ""


def entities(prompt: str) -> frozenset[str]:
    """What a prompt names."""
    found = {*(a or b for a, b in _QUOTED.findall(prompt)), *_TELLING.findall(prompt)}
    found |= {code for line in prompt.splitlines() for code in mask(line).codes if len(code) > 2}
    found |= set(_proper_names(prompt))
    return frozenset(" ".join(name.split()) for name in found if name.strip() and name not in _NO_ENTITIES)


def _proper_names(prompt: str) -> Iterator[str]:
    """Capitalised words, several as one; a single one at the start of a sentence is no name."""
    starts = {found.end() for found in _SENTENCE.finditer(prompt)}
    for found in _NAMES.finditer(prompt):
        words = found.group().split()
        if found.start() in starts:
            words = words[1:] if len(words) > 1 else []
        if words and (len(words) > 1 or len(words[0]) > 3):
            yield " ".join(words)


def _holds_literal(text: str, literal: str) -> bool:
    """A long literal anywhere; a short one as a word if it has a digit, otherwise only in quotes or a code span."""
    wanted = " ".join(literal.split()).casefold()
    if len(wanted) >= _SHORT:
        return wanted in " ".join(text.split()).casefold()
    if not wanted:
        return False
    if len(wanted) > 1 and any(char.isdigit() for char in wanted) and _holds_word(text.casefold(), wanted):
        return True
    named = {a or b for a, b in re.findall(r"[\"“]([^\"“”\n]+)[\"”]|(?<!\w)'([^'\n]+)'(?!\w)", text)}
    named |= {code for line in text.splitlines() for code in mask(line).codes}
    return wanted in {name.strip().casefold() for name in named}


def _holds_word(text: str, word: str) -> bool:
    """The word or words as they are spelled, not inside of others."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalnum() and word[0].isalnum()) and not (
            text[end : end + 1].isalnum() and word[-1].isalnum()
        ):
            return True
        at = text.find(word, at + 1)
    return False
