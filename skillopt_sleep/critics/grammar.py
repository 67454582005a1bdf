"""The sentence grammar: forms to Markdown and back.

`render` writes a form as one bullet line, `parse` reads the forms out of any skill text. What is read is what an agent
that follows the text would be bound by: code fences, comments, quotations and frontmatter are not instructions, and of
two sentences on one subject the later one holds. `parse(render(s)) == (s,)` for every sentence that can be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.critics.meaning import negates, predicate, section, subject, topic
from skillopt_sleep.critics.prose import BULLET, blocks
from skillopt_sleep.critics.spans import MASK, Masked, Unphrasable, check_printable, code, mask
from skillopt_sleep.critics.templates import WORDINGS
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AlwaysWrite,
    AskBefore,
    CheckBefore,
    DoNotLookUnder,
    DoNotRun,
    DoNotWrite,
    DropFlag,
    FileIs,
    ReadBeforeEdit,
    RunBefore,
    Said,
    Sentence,
    Use,
)

__all__ = [
    "Located",
    "Unphrasable",
    "locate",
    "negates",
    "parse",
    "phrase",
    "predicate",
    "read",
    "render",
    "section",
    "subject",
    "topic",
]

MOST_WORDS: Final = 500
"""Characters of a house rule in a person's own words."""

_HOUSE_RULE: Final = "House rule: "
_END: Final = re.compile(r"[.!](?=\s+\S)")
_EMPHASIS: Final = re.compile(r"\*\*|__|^\s*[*_]|[*_]\s*$")
_STRICT: Final = tuple((wording, wording.compiled("\x00\\d+\x00")) for wording in WORDINGS)


@dataclass(frozen=True, slots=True)
class Located:
    """A sentence with `text`, the exact characters of the skill that say it, on lines `first` to `last` (from 0)."""

    sentence: Sentence
    text: str
    first: int
    last: int


def render(sentence: Sentence) -> str:
    """One Markdown bullet line, without a line ending. Raises `Unphrasable`."""
    return f"- {phrase(sentence)}"


def phrase(sentence: Sentence) -> str:
    """The bare sentence, with its full stop. Raises `Unphrasable` where it could not be read back as it is."""
    text = _phrased(sentence)
    if read(text) != (sentence,):
        raise Unphrasable(f"{type(sentence).__name__} would not be read back as it was meant")
    return text


def _phrased(sentence: Sentence) -> str:
    match sentence:
        case Use(x, y):
            return f"Use {code(x)}, not {code(y)}."
        case FileIs(p, q):
            return f"The file is {code(p)}, not {code(q)}."
        case DoNotLookUnder(p):
            return f"Do not look under {code(p)}; it does not exist."
        case ReadBeforeEdit():
            return "Read a file before you edit it."
        case DoNotWrite() | AlwaysWrite():
            return _phrased_content(sentence)
        case Said(text):
            return _HOUSE_RULE + check_printable(text, MOST_WORDS)
        case _:
            return _phrased_command(sentence)


def _phrased_command(sentence: RunBefore | CheckBefore | DoNotRun | AskBefore | AddFlag | DropFlag) -> str:
    match sentence:
        case RunBefore(x, y):
            return f"Before {code(x)}, run {code(y)}."
        case CheckBefore(x, check):
            return f"Before {code(x)}, run the {check}."
        case DoNotRun(x):
            return f"Do not run {code(x)}."
        case AskBefore(x):
            return f"Ask before you run {code(x)}."
        case AddFlag(c, f):
            return f"Give {code(c)} the argument {code(f)}."
        case DropFlag(c, f):
            return f"Do not give {code(c)} the argument {code(f)}."


def _phrased_content(sentence: DoNotWrite | AlwaysWrite) -> str:
    where = f"In {code(sentence.g)} files" if sentence.g else "In any file"
    if isinstance(sentence, AlwaysWrite):
        return f"{where}, where you write {code(sentence.x)}, also write {code(sentence.y)}."
    instead = f"; write {code(sentence.instead)} instead" if sentence.instead else ""
    refuses = f": {code(sentence.code)} refuses it" if sentence.code else ""
    return f"{where}, do not write {code(sentence.x)}{instead}{refuses}."


def parse(skill_text: str) -> tuple[Sentence, ...]:
    """The sentences that hold, in the order of the text. A later one takes the place of what it contradicts."""
    return tuple(found.sentence for found in locate(skill_text))


def locate(skill_text: str) -> tuple[Located, ...]:
    """As `parse`, with the place of each sentence."""
    holding: list[Located] = []
    for found in _sentences(skill_text):
        holding = [old for old in holding if not _replaced(old.sentence, found.sentence)]
        holding.append(found)
    return tuple(holding)


def _replaced(old: Sentence, new: Sentence) -> bool:
    return topic(old) == topic(new) or negates(old, new)


def read(line: str) -> tuple[Sentence, ...]:
    """The sentences of one line of prose, without its bullet."""
    return tuple(sentence for sentence, _ in _read(line))


def _read(line: str) -> Iterator[tuple[Sentence, str]]:
    stripped = line.strip()
    if stripped.startswith(_HOUSE_RULE):
        yield Said(stripped[len(_HOUSE_RULE) :].strip()), stripped
        return
    masked = mask(line)
    start = 0
    for end in [*(found.end() for found in _END.finditer(masked.text)), len(masked.text)]:
        sentence = _reading(masked.text[start:end], masked)
        if sentence is not None:
            first = start + len(masked.text[start:end]) - len(masked.text[start:end].lstrip())
            raw = masked.raw(first, end)
            yield sentence, line[raw[0] : raw[1]].rstrip()
        start = end


def _reading(text: str, masked: Masked) -> Sentence | None:
    text = _EMPHASIS.sub("", text)
    for wording, pattern in _STRICT:
        if found := pattern.match(text):
            return wording.build([_unmasked(group, masked) for group in found.groups()])
    return None


def _unmasked(group: str, masked: Masked) -> str:
    found = MASK.fullmatch(group)
    return masked.codes[int(found.group(1))] if found else group


def _sentences(skill_text: str) -> Iterator[Located]:
    for first, lines in blocks(skill_text):
        joined = " ".join(
            BULLET.sub("", line, count=1).strip() if n == 0 else line.strip() for n, line in enumerate(lines)
        )
        raw = "\n".join(lines)
        found = list(_read(joined))
        for sentence, text in found:
            exact = text if text in raw else BULLET.sub("", raw, count=1).strip() if len(found) == 1 else ""
            yield Located(sentence, exact, first, first + len(lines) - 1)
