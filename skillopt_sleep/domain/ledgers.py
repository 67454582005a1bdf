"""Where paid work is written down. The store implements these; the tests' in-memory ones pass the same contract."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from skillopt_core.types import Task, Trajectory


@dataclass(frozen=True, slots=True)
class AttemptKey:
    """All that an attempt depends on (data.md, keys of paid work): its hash is the key, unique in the store.

    A resumed comparison finds its draws by it; a new comparison has another `comparison` and takes fresh ones.
    """

    comparison: str
    task: str
    skill: str  # digest of the exact text
    draw: int
    agent: str
    version: str = ""
    model: str = ""
    settings: str = ""

    @classmethod
    def of(cls, comparison: str, task: Task, skill: str, draw: int, agent: Mapping[str, str]) -> AttemptKey:
        """The key of one draw; `agent` holds name, version, model and settings as far as they are known."""
        return cls(
            comparison,
            task.id,
            skill,
            draw,
            agent["name"],
            agent.get("version", ""),
            agent.get("model", ""),
            agent.get("settings", ""),
        )

    @property
    def digest(self) -> str:
        """SHA-256 as hex over the fields in a fixed order."""
        parts = [self.comparison, self.task, self.skill, self.draw]
        parts += [self.agent, self.version, self.model, self.settings]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class AttemptLedger(Protocol):
    def known(self, keys: Sequence[AttemptKey]) -> Mapping[str, Trajectory]:
        """Finished attempts by the digest of their key. Failed ones are not among them: they may be tried again."""
        ...

    def save(self, rows: Sequence[tuple[AttemptKey, Trajectory | str]]) -> None:
        """Write attempts in one transaction; a string is the reason why one is missing."""
        ...


@dataclass(frozen=True, slots=True)
class CompletionKey:
    """All that a completion depends on. `draw` tells repeats of one prompt apart."""

    night: str
    role: str
    model: str
    prompt: str  # digest
    settings: str = ""
    draw: int = 0

    @property
    def digest(self) -> str:
        parts = [self.night, self.role, self.model, self.prompt, self.settings, self.draw]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class CompletionLedger(Protocol):
    def reply(self, key: CompletionKey) -> str | None:
        """The stored reply, or None where there is none yet."""
        ...

    def save(self, key: CompletionKey, prompt: str, reply: str | None, status: str) -> None:
        """Write one completion; `reply` is None for a failed one, which may be tried again."""
        ...


class SpendLedger(Protocol):
    def reserve(self, role: str, tokens: int, usd: float) -> int:
        """Write a reservation before the call and return its row."""
        ...

    def settle(self, row: int, tokens: int, usd: float, *, exact: bool) -> None:
        """Replace it by what the call took; `exact` is False where usage was estimated."""
        ...

    def spent(self) -> tuple[int, int, float, bool]:
        """Tokens, calls and money of the night so far, and whether all of it is exact. Open reservations count full."""
        ...
