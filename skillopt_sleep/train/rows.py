"""One task of a task file, and the error that names its line. What the readers of all dialects share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from skillopt_core.types import Missing, Score, Task
from skillopt_sleep.checks import Check
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.domain.tasks import Split
from skillopt_sleep.errors import UsageError

Judge = Callable[[Answer], Score | Missing]
"""How an answer to one task did: its checks or its scorer, read and compiled."""


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """A task as it stands in a file, ready to be attempted and judged.

    `split` is None where the file leaves it to us. `group` names tasks that are not independent ("" where the file says
    nothing). `files` is the starting state: contents by relative path with `/`. A task is judged by `checks`, or by
    `scorer` (the name of an entry point) with `argument`. `where` is file and line. `secrets` are texts that no edit
    may quote. `flags` says what is weak about its checks.
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
    where: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    flags: tuple[str, ...] = ()

    def score(self, answer: Answer) -> Score | Missing:
        """How an answer did; `Missing` where it could not be judged, which is never a score."""
        return self.judge(answer)

    def as_task(self, unit: str) -> Task:
        """The core's view of it, in the twin group `unit`; the payload is this object."""
        return Task(self.id, self.prompt, unit=unit, payload=self)


class BadLine(UsageError):
    """A line of a task file that cannot be used: which file, line and key, what is wrong, what would be right."""

    code = "tasks"

    def __init__(self, where: str, key: str, wrong: str, right: str) -> None:
        super().__init__(f"{key}: {wrong}" if key else wrong, where=where, remedy=right)
        self.key = key
