"""The wordings in which a sentence form is read. The first of each form is the one that is written.

`S` is a slot. A wording must cover the whole sentence: a condition that is not in it ("on CI only") makes a sentence
that nobody follows, rather than one that is followed too often. Only "because …" may trail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from skillopt_sleep.domain.sentences import (
    AddFlag,
    AlwaysWrite,
    AskBefore,
    Check,
    CheckBefore,
    DoNotLookUnder,
    DoNotRun,
    DoNotWrite,
    DropFlag,
    FileIs,
    ReadBeforeEdit,
    RunBefore,
    Sentence,
    Use,
)

Role = Literal["command", "path", "flag", "ending", "content", "code", "check"]
"""What a slot holds."""
Slots = Sequence[str]

_NOT: Final = r"(?:do not|don't|don’t|never)"
_CHECKS: Final = {
    "tests": "tests",
    "test suite": "tests",
    "unit tests": "tests",
    "linter": "linter",
    "lint": "linter",
    "linters": "linter",
    "formatter": "formatter",
    "type checker": "type checker",
    "type check": "type checker",
    "build": "build",
}
_CHECK: Final = "(?:all |the )*(" + "|".join(sorted(_CHECKS, key=len, reverse=True)) + ")"


@dataclass(frozen=True, slots=True)
class Wording:
    """One pattern with what its slots hold, in order, and how they fill the form."""

    pattern: str
    roles: tuple[Role, ...]
    build: Callable[[Slots], Sentence]

    def compiled(self, slot: str) -> re.Pattern[str]:
        """The pattern with every `S` made a group that takes `slot`."""
        body = self.pattern.replace("S", f"({slot})").replace("NOT", _NOT).replace("CHECK", _CHECK)
        return re.compile(rf"\s*{body}(?:,? because\b.*)?\s*[.!]?\s*\Z", re.IGNORECASE)


def _check(name: str) -> Check:
    wanted = _CHECKS[name.lower()]
    return next(check for check in get_args(Check) if check == wanted)


def _do_not_write(g: str, x: str, instead: str = "", code: str = "") -> DoNotWrite:
    return DoNotWrite(g=g, x=x, instead=instead, code=code)


_FILES: Final = r"in S(?: files?)?,? "
_ANY_FILE: Final = r"in any file,? "
_INSTEAD: Final = r"[;,] write S instead"
_REFUSES: Final = r"[:;,] S refuses it"
_C: Final[Role] = "command"
_P: Final[Role] = "path"
_X: Final[Role] = "content"

WORDINGS: Final = (
    Wording(r"use S,? not S", (_C, _C), lambda s: Use(s[0], s[1])),
    Wording(
        r"use S[,;.]? (?:and |but )?(?:not|never|instead of|rather than)(?: use)? S",
        (_C, _C),
        lambda s: Use(s[0], s[1]),
    ),
    Wording(r"prefer S (?:over|to) S", (_C, _C), lambda s: Use(s[0], s[1])),
    Wording(r"instead of S,? use S", (_C, _C), lambda s: Use(s[1], s[0])),
    Wording(
        r"(?:NOT|no)(?: use| run)? S[,;.]? (?:but )?(?:always )?(?:use |run )?S(?: instead)",
        (_C, _C),
        lambda s: Use(s[1], s[0]),
    ),
    Wording(
        r"(?:NOT|no)(?: use| run)? S[,;.]? (?:but )?(?:always )?(?:use|run) S", (_C, _C), lambda s: Use(s[1], s[0])
    ),
    Wording(r"before S,? run CHECK", (_C, "check"), lambda s: CheckBefore(s[0], _check(s[1]))),
    Wording(
        r"before (?:you run |you |running )?S,? (?:always )?run CHECK",
        (_C, "check"),
        lambda s: CheckBefore(s[0], _check(s[1])),
    ),
    Wording(
        r"(?:always )?run CHECK before (?:you run |you |running |every |each |a |any )?S",
        ("check", _C),
        lambda s: CheckBefore(s[1], _check(s[0])),
    ),
    Wording(r"before S,? run S", (_C, _C), lambda s: RunBefore(s[0], s[1])),
    Wording(r"before (?:you run |you |running )?S,? (?:always )?run S", (_C, _C), lambda s: RunBefore(s[0], s[1])),
    Wording(
        r"(?:always )?run S before (?:you run |you |running |every |each |a |any )?S",
        (_C, _C),
        lambda s: RunBefore(s[1], s[0]),
    ),
    Wording(r"NOT look (?:under|in|into) S(?:[;,] it does not exist)?", (_P,), lambda s: DoNotLookUnder(s[0])),
    Wording(r"the (?:file|path|folder) is S,? not S", (_P, _P), lambda s: FileIs(s[0], s[1])),
    Wording(r"NOT give S the (?:argument|flag|option) S", (_C, "flag"), lambda s: DropFlag(s[0], s[1])),
    Wording(r"NOT (?:pass|use) S (?:to|with) S", ("flag", _C), lambda s: DropFlag(s[1], s[0])),
    Wording(r"(?:always )?give S the (?:argument|flag|option) S", (_C, "flag"), lambda s: AddFlag(s[0], s[1])),
    Wording(r"(?:always )?(?:pass|use) S (?:to|with) S", ("flag", _C), lambda s: AddFlag(s[1], s[0])),
    Wording(rf"{_FILES}NOT write S{_INSTEAD}{_REFUSES}", ("ending", _X, _X, "code"), lambda s: _do_not_write(*s)),
    Wording(rf"{_FILES}NOT write S{_INSTEAD}", ("ending", _X, _X), lambda s: _do_not_write(*s)),
    Wording(rf"{_FILES}NOT write S{_REFUSES}", ("ending", _X, "code"), lambda s: _do_not_write(s[0], s[1], "", s[2])),
    Wording(rf"{_FILES}NOT (?:write|use) S", ("ending", _X), lambda s: _do_not_write(s[0], s[1])),
    Wording(r"NOT (?:write|use) S in S(?: files?)?", (_X, "ending"), lambda s: _do_not_write(s[1], s[0])),
    Wording(rf"{_ANY_FILE}NOT write S{_INSTEAD}{_REFUSES}", (_X, _X, "code"), lambda s: _do_not_write("", *s)),
    Wording(rf"{_ANY_FILE}NOT write S{_INSTEAD}", (_X, _X), lambda s: _do_not_write("", *s)),
    Wording(rf"{_ANY_FILE}NOT write S{_REFUSES}", (_X, "code"), lambda s: _do_not_write("", s[0], "", s[1])),
    Wording(rf"(?:{_ANY_FILE})?NOT write S", (_X,), lambda s: _do_not_write("", s[0])),
    Wording(rf"{_FILES}where you write S,? also write S", ("ending", _X, _X), lambda s: AlwaysWrite(*s)),
    Wording(rf"{_ANY_FILE}where you write S,? also write S", (_X, _X), lambda s: AlwaysWrite("", *s)),
    Wording(
        r"(?:always )?read (?:a|the|each|every) file (?:again )?before (?:you edit|editing) it",
        (),
        lambda _: ReadBeforeEdit(),
    ),
    Wording(
        r"(?:always )?ask (?:me |first )?before (?:you run |you use |you |running )?(?:a |any )?S",
        (_C,),
        lambda s: AskBefore(s[0]),
    ),
    Wording(r"NOT (?:run|use|call|execute) S", (_C,), lambda s: DoNotRun(s[0])),
)
"""In order of trial: the first that covers a sentence reads it."""
