"""What a check is: data in a task file, a kind that gives it meaning, and what becomes of both when they are loaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.domain.answers import Answer, Need

WORDS: Final[frozenset[Need]] = frozenset()
"""What an agent offers that only answers in words."""


@dataclass(frozen=True, slots=True)
class Check:
    """How an outcome is judged: a kind, and an argument (any JSON value) that the kind gives a meaning.

    `weight` is the check's share of the soft score, against the weights of the task's other checks.
    """

    kind: str
    argument: object = None
    weight: float = 1.0

    def __hash__(self) -> int:
        return hash((self.kind, json.dumps(self.argument, sort_keys=True), self.weight))


@dataclass(frozen=True, slots=True)
class Rule:
    """A check that was read and compiled.

    `passes` says whether an answer passes, or `Missing` where this answer cannot tell. `failure` describes what a
    failing answer lacks by a sentence and an example, and never quotes the argument: a critic reads it. `secrets` are
    texts that no skill may quote, because whoever quotes them gives the answer away (a gold answer, a pattern).
    `by_model`: a model says so. It is asked last, and what it says is held against what rules say.
    """

    passes: Callable[[Answer], bool | Missing]
    failure: Callable[[Answer], str]
    secrets: tuple[str, ...] = ()
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of check. `read` compiles an argument; it raises `BadArgument` for one that means nothing.

    `argument` says in words what the argument is, `meaning` exactly when an answer passes (Markdown, for the docs),
    `example` is an argument as it would stand in a task file. `shape_only` says that an answer without any content can
    pass: alone such checks are easily satisfied by a hollow skill.
    """

    name: str
    argument: str
    meaning: str
    example: object
    read: Callable[[object], Rule]
    needs: frozenset[Need] = WORDS
    shape_only: bool = False


class BadArgument(ValueError):
    """A check's argument means nothing to its kind. `right` says what would be right; `key` where inside it."""

    def __init__(self, wrong: str, right: str, key: str = "") -> None:
        super().__init__(f"{wrong}. {right}")
        self.wrong = wrong
        self.right = right
        self.key = key
