"""One tree of errors. Each message says what happened, where, and what to do next; each knows its exit code (cli.md).

SleepError                      1
├── UsageError                  2   wrong use of a command
│   └── ConfigError             2   sleep.toml: file, line, key
├── NotFound                    1   an id, a file, a folder that is not there
├── StoreError                  1   the store cannot be opened, is damaged, or the disk is full
├── AdoptionError               1   a refusal to write: drift, a root, a link
├── SandboxUnavailable          1   no command can be shut in here, so none is run
├── NightFailed                 1   one skill or more failed, the rest of the night went on
├── NeedsPerson                 3   finished, but something wants a person
├── NightLocked                 4   another night holds the lock
├── BudgetTooSmall              5   stopped by the budget before a first comparison
├── ModelError                  1   a provider or an agent said no
│   ├── NotSignedIn             1   no key, a refused key, a logged-out agent
│   ├── RateLimited             1   429 after the one retry
│   └── AnswersAwaited          3   questions wait for the person's own agent
└── Interrupted               130   by the person; a night can be resumed
    └── Terminated            143   by the system
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self


class SleepError(Exception):
    """Base of all errors that a user may see. `code` is a short stable word for scripts."""

    exit_code: ClassVar[int] = 1
    code: ClassVar[str] = "failed"

    def __init__(self, message: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy
        self.result: Mapping[str, object] = {}

    def beside(self, result: Mapping[str, object]) -> Self:
        """The same error, told in one document with a result: what was finished before something wanted a person."""
        self.result = result
        return self

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head}. {self.remedy}" if self.remedy else head

    def as_json(self) -> dict[str, object]:
        """The error document of cli.md, with the keys of `result` beside the error."""
        error = {"code": self.code, "message": self.message, "where": self.where, "remedy": self.remedy}
        return {"format": 1, **self.result, "error": error}


class UsageError(SleepError):
    exit_code = 2
    code = "usage"


class ConfigError(UsageError):
    code = "config"


class NotFound(SleepError):
    code = "not_found"


class StoreError(SleepError):
    code = "store"


class AdoptionError(SleepError):
    code = "adoption_refused"


class SandboxUnavailable(SleepError):
    code = "no_sandbox"


class NightFailed(SleepError):
    code = "skill_failed"


class NeedsPerson(SleepError):
    exit_code = 3
    code = "needs_person"


class NightLocked(SleepError):
    exit_code = 4
    code = "locked"


class BudgetTooSmall(SleepError):
    exit_code = 5
    code = "budget"


class ModelError(SleepError):
    code = "model"


class NotSignedIn(ModelError):
    code = "not_signed_in"


class RateLimited(ModelError):
    code = "rate_limited"


class AnswersAwaited(ModelError):
    exit_code = 3
    code = "handoff"


class Interrupted(SleepError):
    exit_code = 130
    code = "interrupted"


class Terminated(Interrupted):
    exit_code = 143
    code = "terminated"
