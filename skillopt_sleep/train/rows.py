"""One task of a task file, and the error that names its line. What the readers of all dialects share."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillopt_core.types import Missing, Score, Task
from skillopt_sleep.checks import Check
from skillopt_sleep.checks.reading import told
from skillopt_sleep.checks.rubric import rubric_of
from skillopt_sleep.domain.answers import Answer, Need
from skillopt_sleep.domain.tasks import Split
from skillopt_sleep.errors import UsageError
from skillopt_sleep.log import one_line

Judge = Callable[[Answer], Score | Missing]
"""How an answer to one task did: its checks or its scorer, read and compiled."""


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """A task as it stands in a file, ready to be attempted and judged.

    `split` is None where the file leaves it to us. `group` names tasks that are not independent ("" where the file says
    nothing). `files` is the starting state: contents by relative path with `/`, laid over the `commit` of the
    `repository` (None: of the project at hand) where the line names one. A task is judged by `checks`, or by `scorer`
    (the name of an entry point) with `argument`. `where` is file and line. `secrets` are texts that no edit may quote.
    `flags` says what is weak about its checks, `needs` what they ask for beside words.
    """

    id: str
    prompt: str
    judge: Judge = field(compare=False, repr=False)
    checks: tuple[Check, ...] = ()
    scorer: str = ""
    argument: object = None
    split: Split | None = None
    group: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    repository: Path | None = None
    commit: str = ""
    where: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    flags: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()

    @property
    def rubrics(self) -> tuple[str, ...]:
        """What a judge is told of this task."""
        return tuple(rubric_of(check.argument) for check in self.checks if check.kind == "rubric")

    def score(self, answer: Answer) -> Score | Missing:
        """How an answer did; `Missing` where it could not be judged, which is never a score."""
        return self.judge(answer)

    def as_task(self, unit: str) -> Task:
        """The core's view of it, in the twin group `unit`; the payload is this object."""
        return Task(self.id, self.prompt, unit=unit, payload=self)


@dataclass(frozen=True, slots=True)
class Row:
    """What a line says, whichever dialect it says it in, before its checks are read.

    `spelled` turns a key of our own dialect, such as `checks[0].kind`, into the line's, for errors. `files` is the
    value of that key as it stands; the task starts from `commit`, of `repository` or ("") of the project at hand.
    """

    id: str
    prompt: str
    checks: tuple[Check, ...] = ()
    scorer: str = ""
    argument: object = None
    split: Split | None = None
    group: str = ""
    files: object = None
    repository: str = ""
    commit: str = ""
    spelled: Callable[[str], str] = str


class BadRow(Exception):
    """A key of a line is wrong: which, what is wrong with it, and what would be right."""

    def __init__(self, key: str, wrong: str, right: str) -> None:
        super().__init__(f"{key}: {wrong}. {right}")
        self.key = key
        self.wrong = wrong
        self.right = right


class BadTasks(UsageError):
    """A task file that cannot be used: its first bad line, with how many more there are.

    `lines` are all of them, each as its own error with file, line and key.
    """

    code = "tasks"

    def __init__(self, lines: tuple[UsageError, ...]) -> None:
        first, more = lines[0], len(lines) - 1
        further = f" ({more} more bad {'line' if more == 1 else 'lines'})" if more else ""
        super().__init__(first.message + further, where=first.where, remedy=first.remedy)
        self.lines = lines
        self.beside({"bad_lines": [line.as_json()["error"] for line in lines]})


def at_line(where: str, error: BadRow) -> UsageError:
    """The error of a line, in words that are fit for a terminal whatever the file holds."""
    wrong = f"{error.key}: {error.wrong}" if error.key else error.wrong
    return UsageError(one_line(wrong), where=one_line(where), remedy=one_line(error.right))


def known_keys(row: Mapping[str, object], allowed: Collection[str], key: str = "", *, aside: str = "meta") -> None:
    """`BadRow` for a key that is not known, with the likely one: a mistyped key must not pass for an absent one."""
    for name in row:
        if name not in allowed:
            likely = difflib.get_close_matches(name, allowed, n=1)
            keys = f"Did you mean {likely[0]}?" if likely else f"Keys are {', '.join(sorted(allowed))}"
            hint = f"{keys}; what is your own goes under {aside}" if aside else keys
            raise BadRow(f"{key}{name}", "there is no such key", hint)


def text_of(row: Mapping[str, object], key: str, right: str, most: int) -> str:
    """A text that is not empty and not too long."""
    given = row.get(key)
    if not isinstance(given, str) or not given.strip():
        raise BadRow(key, f"it is {told(given)}", right)
    if len(given) > most:
        raise BadRow(key, f"it has {len(given):,} characters", f"At most {most:,} are read")
    return given
