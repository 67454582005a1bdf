"""What an attempt at a task leaves behind, as far as it can be judged: last words, tools called, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from skillopt_core.types import Missing

Run = Callable[[Sequence[str], float], int | Missing]
"""Runs a command on a copy of the folder that was left, for so many seconds at most, and gives its exit status."""
Grade = Callable[[str], float | Missing]
"""Grades the answer by a rubric, in [0, 1]. Raises `Exhausted` where no budget is left to ask."""


class Need(StrEnum):
    """What a check may ask for beside an answer in words: of who attempts, the last one of who judges."""

    TOOLS = "tools"
    FILES = "files"
    SANDBOX = "sandbox"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent left when it was done with a task, and who can say more of it while it is there.

    `text` is its last message. `tools` are the names of the tools that it called, in order and as it names them itself;
    `files` are the contents of its working folder by relative path with `/`. Each of the two is None where the agent
    has no such thing or it was not recorded: that is not "none were". `run` and `grade` are None where there is no
    sandbox, no folder, or no judge.
    """

    text: str
    tools: tuple[str, ...] | None = None
    files: Mapping[str, bytes] | None = None
    run: Run | None = field(default=None, compare=False)
    grade: Grade | None = field(default=None, compare=False)
