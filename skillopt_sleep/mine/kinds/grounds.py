"""What a rule that a model phrased may name: identifiers of the actions and words that it rests on, nothing else.

What a rule speaks of must stand in its own items. What it tells to do must come from a person's words, or from an
action that nobody stopped. Free words may hold no other identifier, and nothing that `critics.hazards` knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.critics.grammar import Unphrasable, phrase
from skillopt_sleep.critics.hazards import fetches_and_runs, has_address, looks_secret
from skillopt_sleep.critics.meaning import ending, words_of
from skillopt_sleep.critics.preferences import from_preference
from skillopt_sleep.critics.spans import mask
from skillopt_sleep.domain import commands
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
from skillopt_sleep.mine.kinds.items import Item
from skillopt_sleep.mine.questions import template

LONGEST_RULE: Final = 240
FEWEST_WORDS: Final = 3
_REDACTED: Final = "[redacted:"
_RUN: Final = "run: "
_IDENTIFIER: Final = re.compile(r"[/_=$<>{}\[\]#@\\&|*]|\A-|\w[.:]\w|\d|[a-z][A-Z]")
_ORDER: Final = re.compile(r"\A(?:always )?(?:run|use|write|edit)\b:?\s*", re.IGNORECASE)
_PROSE: Final = frozenset({"e.g", "i.e", "and/or"})
_EDGES: Final = ".,;:!?()\"'“”‘’…"


@dataclass(frozen=True, slots=True)
class Names:
    """The identifiers of a sentence: what it is about, what it tells to do, the ending of the files it holds for."""

    about: tuple[str, ...] = ()
    advised: tuple[str, ...] = ()
    files: str = ""


class Left(Exception):
    """A rule that is not taken over; its message is the reason, for the report."""


def rule_of(text: str, items: Sequence[Item], programs: frozenset[str]) -> tuple[Sentence, list[Item]]:
    """The sentence that a model's rule says, with those of its items that support it.

    A sentence form whose names are not in the items falls to free words (`Said`), which must hold no such name either.
    Raises `Left`.
    """
    words = " ".join(text.split()).removeprefix("- ").strip()
    if len(words) > LONGEST_RULE:
        raise Left("it is too long")
    if why := hazard(words):
        raise Left(why)
    sentence = from_preference(words, programs)
    if sentence is None:
        raise Left("it cannot stand in a skill")
    if not isinstance(sentence, Said):
        supporting = [item for item in items if speaks_of(sentence, item)]
        if supporting and is_grounded(sentence, items):
            return sentence, supporting
        if not _advised(sentence, items) and all(_known(name, items) for name in names_of(sentence).advised):
            raise Left("it advises what the person stopped")
    return _free(words, items), list(items)


def is_grounded(sentence: Sentence, items: Sequence[Item]) -> bool:
    """Whether each of its identifiers occurred in the items: in any of them, or, for advice, in words that advise."""
    names = names_of(sentence)
    if names.files and not any(_has_files(item, ending(names.files)) for item in items):
        return False
    return all(_known(name, items) for name in names.about) and _advised(sentence, items)


def speaks_of(sentence: Sentence, item: Item) -> bool:
    """Whether an item shows what the sentence is about: only such an item counts as its support."""
    return all(_mentions(item, name) for name in names_of(sentence).about[:1])


def names_of(sentence: Sentence) -> Names:
    """The identifiers of a sentence; what it is about comes first."""
    match sentence:
        case Use(x, y) | FileIs(x, y):
            return Names((y,), (x,))
        case RunBefore(x, y) | AddFlag(x, y):
            return Names((x,), (y,))
        case CheckBefore(x, _) | DoNotRun(x) | AskBefore(x) | DoNotLookUnder(x):
            return Names((x,))
        case DropFlag(c, f):
            return Names((f, c))
        case DoNotWrite(g, x, instead, code):
            return Names(tuple(filter(None, (x, code))), tuple(filter(None, (instead,))), g)
        case AlwaysWrite(g, x, y):
            return Names((x,), (y,), g)
        case ReadBeforeEdit() | Said():
            return Names()


def free_of_harm(words: str, items: Sequence[Item]) -> str:
    """Why a model's free words may not be shown or kept; "" where they may."""
    if why := hazard(words):
        return why
    return "" if all(_known(name, items) for name in identifiers(words)) else "it names what nobody did or said"


def _free(words: str, items: Sequence[Item]) -> Said:
    if why := free_of_harm(words, items):
        raise Left(why)
    if len(words.split()) < FEWEST_WORDS or words.endswith("?"):
        raise Left("it says nothing to do")
    if words.rstrip(".").casefold() in " ".join(template("kinds").split()).casefold():
        raise Left("it repeats the question")
    deed = _ORDER.sub("", words).strip("`. ")
    if any(heard(deed, done) for item in items for done in item.did):
        raise Left("it only repeats what was done")
    said = Said(words)
    try:
        phrase(said)
    except Unphrasable:
        raise Left("it cannot stand in a skill") from None
    return said


def hazard(words: str) -> str:
    """Why words of a model may not be kept at all; "" where they may."""
    if looks_secret(words):
        return "it holds what looks like a secret"
    if fetches_and_runs(words):
        return "it tells to fetch something and run it"
    if has_address(words):
        return "it holds an address"
    return "it names something that was redacted" if _REDACTED in words else ""


def identifiers(words: str) -> Iterator[str]:
    """Code spans, and bare words that no prose has."""
    masked = mask(words)
    yield from masked.codes
    for token in re.sub("\x00\\d+\x00", " ", masked.text).split():
        bare = token.strip(_EDGES)
        if bare and bare.lower() not in _PROSE and _IDENTIFIER.search(bare):
            yield bare


def _known(name: str, items: Sequence[Item]) -> bool:
    return any(_mentions(item, name) for item in items)


def _advised(sentence: Sentence, items: Sequence[Item]) -> bool:
    return all(any(_advises(item, name) for item in items) for name in names_of(sentence).advised)


def _mentions(item: Item, name: str) -> bool:
    """In the person's words or in what was done; a command also where one that was run starts with its words."""
    if heard(name, item.said, fold=True) or any(heard(name, done) for done in item.did):
        return True
    prefix = words_of(name)
    return any(commands.starts_with(part.words, prefix) for done in item.did for part in _parts(done))


def _advises(item: Item, name: str) -> bool:
    return heard(name, item.said, fold=True) or (not item.stopped and any(heard(name, done) for done in item.did))


def _has_files(item: Item, end: str) -> bool:
    shown = re.compile(re.escape(end) + r"(?![\w.])")
    return any(shown.search(text) for text in (*item.did, item.said))


def _parts(done: str) -> Sequence[commands.Simple]:
    return commands.split(done.removeprefix(_RUN)) if done.startswith(_RUN) else ()


def heard(name: str, text: str, *, fold: bool = False) -> bool:
    """Whether the name stands in the text by itself, not as a part of a longer one."""
    wanted = " ".join(name.split())
    if not wanted:
        return False
    before = r"(?<![\w-])" if wanted[0].isalnum() or wanted[0] in "_-" else ""
    after = r"(?![\w-])" if wanted[-1].isalnum() or wanted[-1] == "_" else ""
    flags = re.IGNORECASE if fold else 0
    return re.search(before + re.escape(wanted) + after, " ".join(text.split()), flags) is not None
