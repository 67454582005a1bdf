"""What a sentence form means: its exact reading in words, its identity, what contradicts it, where it belongs."""

from __future__ import annotations

import json
from typing import Final, Literal

from skillopt_sleep.domain.commands import has_run, split, starts_with
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

Section = Literal["Rules", "Project facts", "Before you act"]
SECTIONS: Final[tuple[Section, ...]] = ("Rules", "Project facts", "Before you act")


def words_of(slot: str) -> tuple[str, ...]:
    """The words of a slot that holds a command or an argument; those of its plain text where it is no one command."""
    parts = [part for part in split(slot) if not part.inside]
    return parts[0].words if len(parts) == 1 else tuple(slot.split())


def section(sentence: Sentence) -> Section:
    """The section of a skill where the sentence belongs."""
    match sentence:
        case DoNotLookUnder() | FileIs() | AddFlag() | DropFlag() | Use():
            return "Project facts"
        case RunBefore() | CheckBefore() | AskBefore() | ReadBeforeEdit():
            return "Before you act"
        case _:
            return "Rules"


def subject(sentence: Sentence) -> str:
    """The identity of a rule over rewordings: the form and what it speaks of, without what it advises instead."""
    return json.dumps([type(sentence).__name__, *_of_what(sentence)], ensure_ascii=False)


def topic(sentence: Sentence) -> tuple[str, ...]:
    """As `subject`, coarser: two sentences with one topic cannot both be followed, the later one holds."""
    if isinstance(sentence, Use | DoNotRun | AskBefore):
        return ("command", *_of_what(sentence))
    return (type(sentence).__name__, *_of_what(sentence))


def _of_what(sentence: Sentence) -> tuple[str, ...]:
    match sentence:
        case Use(_, y):
            return words_of(y)
        case RunBefore(x, y):
            return (" ".join(words_of(x)), " ".join(words_of(y)))
        case CheckBefore(x, check):
            return (" ".join(words_of(x)), check)
        case DoNotRun(x) | AskBefore(x):
            return words_of(x)
        case DoNotLookUnder(p):
            return (p.rstrip("/") or p,)
        case FileIs(_, q):
            return (q,)
        case AddFlag(c, f) | DropFlag(c, f):
            return (" ".join(words_of(c)), f)
        case DoNotWrite(g, x):
            return (ending(g), x)
        case AlwaysWrite(g, x, y):
            return (ending(g), x, y)
        case ReadBeforeEdit():
            return ()
        case Said(text):
            return (" ".join(text.casefold().rstrip(".! ").split()),)


def ending(g: str) -> str:
    """The end of a path that a slot for kinds of files names: `*.go` and `.go` are one."""
    return g.rpartition("*")[2]


def negates(a: Sentence, b: Sentence) -> bool:
    """Whether following one is to break the other. Symmetric."""
    return a != b and (_opposes(a, b) or _opposes(b, a))


def _opposes(a: Sentence, b: Sentence) -> bool:
    match a, b:
        case Use(x, y), Use(v, w):
            return words_of(x) == words_of(w) and words_of(y) == words_of(v)
        case ((Use(wanted, _) | RunBefore(_, wanted)), DoNotRun(x)):
            return starts_with(words_of(wanted), words_of(x))
        case Use(_, y), RunBefore(_, wanted):
            return has_run(words_of(wanted), words_of(y))
        case RunBefore(x, y), RunBefore(v, w):
            return words_of(x) == words_of(w) and words_of(y) == words_of(v)
        case AddFlag(c, f), DropFlag(d, g):
            return words_of(c) == words_of(d) and f == g
        case FileIs(p, q), FileIs(r, s):
            return (p, q) == (s, r)
        case FileIs(p, _), DoNotLookUnder(folder):
            return f"{p}/".startswith(folder.rstrip("/") + "/")
        case _:
            return _opposes_content(a, b)


def _opposes_content(a: Sentence, b: Sentence) -> bool:
    match a, b:
        case DoNotWrite(g, x, instead), DoNotWrite(h, banned, other):
            return _same_files(g, h) and bool(instead) and (banned in instead) and (not other or x in other)
        case DoNotWrite(g, x), AlwaysWrite(h, _, y):
            return _same_files(g, h) and x in y
        case _:
            return False


def _same_files(g: str, h: str) -> bool:
    return ending(g).endswith(ending(h)) or ending(h).endswith(ending(g))


def predicate(sentence: Sentence) -> str:
    """The exact reading that the figures of a verdict belong to, for the report (gate.md, recorded)."""
    return f"{_applies(sentence)} {_counts(sentence)}".strip()


def _applies(sentence: Sentence) -> str:
    match sentence:
        case Use(x, y):
            return f"A shell command in which the words {y!r} stand together gets {x!r} in their place."
        case RunBefore(x, y):
            return f"A command that starts with {x!r}, where no {y!r} has succeeded earlier in the session."
        case CheckBefore(x, check):
            return f"A command that starts with {x!r}, where no {check} has succeeded earlier in the session."
        case DoNotRun(x):
            return f"A command one of whose parts starts with {x!r} is not run."
        case AskBefore(x):
            return f"The person is asked before a command one of whose parts starts with {x!r}."
        case DoNotLookUnder(p):
            return f"No reading, search or listing (by tool or by shell) of {p!r} or of what lies below it."
        case FileIs(p, q):
            return f"An action that names the path {q!r} names {p!r} instead."
        case AddFlag(c, f):
            return f"A command that starts with {c!r} and lacks {f!r} gets it."
        case DropFlag(c, f):
            return f"A command that starts with {c!r} and has {f!r} loses it."
        case _:
            return _applies_to_content(sentence)


def _applies_to_content(sentence: Sentence) -> str:
    match sentence:
        case DoNotWrite(g, x, instead):
            where = f"a file that ends in {ending(g)!r}" if g else "any file"
            other = f" writes {instead!r} instead" if instead else " leaves it out"
            return f"An edit that adds {x!r} to {where}{other}."
        case AlwaysWrite(g, x, y):
            where = f"a file that ends in {ending(g)!r}" if g else "any file"
            return f"An edit that adds {x!r} to {where} and does not hold {y!r} adds that too."
        case ReadBeforeEdit():
            return (
                "A read comes before an edit of a file that the session has not read, written or edited with success."
            )
        case _:
            return "No predicate: a person's own words, which nothing here checks."


_BETTER: Final = (
    "seen to work in this project (most of the eight nearest outcomes) and to fail less than what it replaces (by "
    "chance at most once in a hundred); the action itself is left out"
)
_COMPARED: Final[dict[type[Sentence], str]] = {
    Use: "commands of the altered head that keep the sub-command or share an operand, or actions on the new path",
    FileIs: "actions on that path, where it has the same name or was the remedy in another session",
    AddFlag: "commands of the same head that have it",
    DropFlag: "commands of the same head that lack it",
    RunBefore: "such commands after a success of what is to be run before",
    CheckBefore: "such commands after a success of that check",
    ReadBeforeEdit: "edits of known files",
}


def _counts(sentence: Sentence) -> str:
    match sentence:
        case DoNotRun() | DoNotLookUnder():
            return "Prevented where it failed, was refused or found nothing; broken where it worked."
        case AskBefore():
            return (
                "Prevented where the person refused it; broken where it ran unrefused: a needless question costs them."
            )
        case DoNotWrite() | AlwaysWrite():
            return _counts_content(sentence)
        case Said():
            return ""
        case _:
            compared = f"Compared are {_COMPARED[type(sentence)]}."
            wasted = "Prevented where it failed, was refused or found nothing"
            return f"{compared} {wasted} and they are {_BETTER}. {_otherwise(sentence)}"


def _otherwise(sentence: Sentence) -> str:
    match sentence:
        case RunBefore() | CheckBefore():
            return "Where it worked: broken if what is to be run before mostly fails, else one more action."
        case ReadBeforeEdit():
            return "Where it worked: one more action."
        case _:
            return "Broken where it worked and they are seen to fail; unknown where too little was seen."


def _counts_content(sentence: DoNotWrite | AlwaysWrite) -> str:
    named = (
        f"a failing command names {sentence.code!r} and the file, "
        if isinstance(sentence, DoNotWrite) and sentence.code
        else ""
    )
    put = " and puts the other in its place" if isinstance(sentence, DoNotWrite) and sentence.instead else ""
    mended = "adds what was missing" if isinstance(sentence, AlwaysWrite) else f"takes it out again{put}"
    return (
        f"Prevented where, within twenty actions, {named}an edit of the file {mended} or the person says so, and what "
        "is advised instead is seen to stand without such trouble; broken where it stood without trouble and nothing "
        "is advised, or what is advised has mostly had trouble."
    )
