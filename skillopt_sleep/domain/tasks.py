"""Tasks as they are kept: one occurrence of a pattern, with what it starts from and how it is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Split = Literal["train", "gate", "audit"]
TaskOrigin = Literal["real", "dream", "imported"]

FREE_OF: Final = "free_of"
"""Kind of check: mining the attempt gives no friction of this kind and signature (`kind:signature`)."""
SUCCEEDS: Final = "succeeds"
"""Kind of check: this command (program and sub-command), which reported the finding, ends with success."""


@dataclass(frozen=True, slots=True)
class TaskCheck:
    """How an outcome is judged. `source_event` is the event that it was made from, None where there is none."""

    kind: str
    argument: str
    derived_from: str = ""
    source_event: int | None = None
    vetting: str = ""


@dataclass(frozen=True, slots=True)
class KeptTask:
    """A task of the store. `pattern` is a pattern's key, `episode` and `session` are ids ("" where there is none).

    `twin` names the unit; `split` and `salt` are fixed for good. `commit` and `files` (path to digest) are the starting
    state. `began_ms` is the episode's time. Text is redacted.
    """

    id: str
    prompt: str
    twin: str
    split: Split
    began_ms: int
    pattern: str = ""
    episode: str = ""
    session: str = ""
    origin: TaskOrigin = "real"
    salt: str = ""
    commit: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[TaskCheck, ...] = ()
    first_night: str = ""
    reviewed_by: str = ""
    reviewed_ms: int | None = None
    retired_ms: int | None = None

    @property
    def written(self) -> bool:
        """Whether a model wrote it: then each check bears what vetting found."""
        return bool(self.checks) and all(check.vetting for check in self.checks)
