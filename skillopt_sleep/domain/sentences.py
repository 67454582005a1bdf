"""The sentence forms in which rules are phrased without a model, and their exact readings.

A sentence is data: slots that hold identifiers (commands, flags, paths, codes, code fragments). `critics.grammar`
renders it to a line of Markdown and reads it back from any skill text; `agents.recorded` follows what it reads there.
The reading of each form, which is the predicate that a verdict belongs to (gate.md), stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Use:
    """``Use `X`, not `Y`.``  In a shell command, `Y` as a run of whole words is replaced by `X`."""

    x: str
    y: str


@dataclass(frozen=True, slots=True)
class RunBefore:
    """``Before `X`, run `Y`.``  A command that starts with `X` wants a successful `Y` earlier in the session."""

    x: str
    y: str


Check = Literal["tests", "linter", "formatter", "type checker", "build"]


@dataclass(frozen=True, slots=True)
class CheckBefore:
    """``Before `X`, run the tests.``  As `RunBefore`, where any command of that kind of check will do."""

    x: str
    check: Check


@dataclass(frozen=True, slots=True)
class DoNotRun:
    """``Do not run `X`.``  A command one of whose parts starts with the words of `X` is not run."""

    x: str


@dataclass(frozen=True, slots=True)
class AskBefore:
    """``Ask before you run `X`.``  As `DoNotRun`, for what a person refused: what they allowed is not wasted."""

    x: str


@dataclass(frozen=True, slots=True)
class DoNotLookUnder:
    """``Do not look under `P`; it does not exist.``  A read, search or listing whose path is `P` or lies below it."""

    p: str


@dataclass(frozen=True, slots=True)
class FileIs:
    """``The file is `P`, not `Q`.``  An action that names path `Q` names `P` instead."""

    p: str
    q: str


@dataclass(frozen=True, slots=True)
class AddFlag:
    """``Give `C` the argument `F`.``  A command that starts with `C` and lacks `F` gets it."""

    c: str
    f: str


@dataclass(frozen=True, slots=True)
class DropFlag:
    """``Do not give `C` the argument `F`.``  A command that starts with `C` and has the word `F` loses it."""

    c: str
    f: str


@dataclass(frozen=True, slots=True)
class DoNotWrite:
    """``In `G` files, do not write `X`.``  New content of an edit or write to a path ending in `G` that adds `X`.

    `instead` names what to write, `code` the diagnostic that refuses it; both may be empty. An empty `g` is any file.
    """

    g: str
    x: str
    instead: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class AlwaysWrite:
    """``In `G` files, where you write `X`, also write `Y`.``  New content that adds `X` and lacks `Y`."""

    g: str
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class ReadBeforeEdit:
    """``Read a file before you edit it.``  An edit of a path that the session has not read since it last changed."""


@dataclass(frozen=True, slots=True)
class Said:
    """A house rule in a person's own words, which no predicate checks. Never `supported`, only `unverified`."""

    text: str


Sentence = (
    Use
    | RunBefore
    | CheckBefore
    | DoNotRun
    | AskBefore
    | DoNotLookUnder
    | FileIs
    | AddFlag
    | DropFlag
    | DoNotWrite
    | AlwaysWrite
    | ReadBeforeEdit
    | Said
)

Form = Literal[
    "Use",
    "RunBefore",
    "CheckBefore",
    "DoNotRun",
    "AskBefore",
    "DoNotLookUnder",
    "FileIs",
    "AddFlag",
    "DropFlag",
    "DoNotWrite",
    "AlwaysWrite",
    "ReadBeforeEdit",
    "Said",
]
