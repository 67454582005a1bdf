"""What an attempt at a task leaves behind, as far as it can be judged: last words, tools called, files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Need(StrEnum):
    """What a check may ask for beside an answer in words: the first two of who attempts, the others of who judges."""

    TOOLS = "tools"
    FILES = "files"
    SANDBOX = "sandbox"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent left when it was done with a task.

    `text` is its last message. `tools` are the names of the tools that it called, in order and as it names them itself;
    `files` are the contents of its working folder by relative path with `/`. Each of the two is None where the agent
    has no such thing or it was not recorded: that is not "none were".
    """

    text: str
    tools: tuple[str, ...] | None = None
    files: Mapping[str, bytes] | None = None
