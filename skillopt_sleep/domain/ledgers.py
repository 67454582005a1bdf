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


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take; None is no limit."""

    tokens: int | None = None
    calls: int | None = None
    usd: float | None = None
    seconds: float | None = None

    def within(self, month: Limits, spent: Limits) -> Limits:
        """These limits, and no more than a month's limits leave after what was `spent` in it."""
        return Limits(
            _whole(_least(self.tokens, month.tokens, spent.tokens)),
            _whole(_least(self.calls, month.calls, spent.calls)),
            _least(self.usd, month.usd, spent.usd),
            _least(self.seconds, month.seconds, spent.seconds),
        )


def _least(tonight: float | None, month: float | None, spent: float | None) -> float | None:
    left = None if month is None else max(month - (spent or 0), 0)
    return min((limit for limit in (tonight, left) if limit is not None), default=None)


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


@dataclass(frozen=True, slots=True)
class Month:
    """What all runs over one home may take together in a calendar month of a zone."""

    limits: Limits
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens and US dollars of one call or of many: what they took, and what counts against limits for it.

    What counts is at least what was likely, whatever was reported. `exact`: all of what it took was reported.
    """

    tokens: int = 0
    usd: float = 0.0
    exact: bool = True
    counts: int = 0
    counts_usd: float = 0.0

    @classmethod
    def whole(cls, tokens: int, usd: float) -> Spend:
        """A reservation that nobody has settled: all of it counts, none of it is exact."""
        return cls(tokens, usd, False, tokens, usd)

    def plus(self, other: Spend) -> Spend:
        """Both together; a reservation in the air does not make the rest less exact."""
        return Spend(
            self.tokens + other.tokens,
            self.usd + other.usd,
            self.exact,
            self.counts + other.counts,
            self.counts_usd + other.counts_usd,
        )

    def instead(self, tokens: int, usd: float, spend: Spend) -> Spend:
        """This, with what one reservation came to in its place."""
        return Spend(
            self.tokens + spend.tokens - tokens,
            self.usd + spend.usd - usd,
            self.exact and spend.exact,
            self.counts + spend.counts - tokens,
            self.counts_usd + spend.counts_usd - usd,
        )


class SpendLedger(Protocol):
    def reserve(self, role: str, tokens: int, usd: float, seconds: float = 0.0) -> int:
        """Write a reservation before the call and return its row. `seconds` is how long this run takes by now.

        Raises `Exhausted` where all runs of the month together would pass its limits; nothing is written then.
        """
        ...

    def grow(self, row: int, tokens: int, usd: float, seconds: float = 0.0) -> None:
        """Set so much more aside in a row that is not settled. Raises as `reserve`; the row stays as it was then."""
        ...

    def settle(self, row: int, spend: Spend) -> None:
        """Replace it by what the call took, and what counts for it."""
        ...

    def spent(self) -> tuple[int, Spend]:
        """Calls of the night so far and what they came to. Open reservations count in full, and are not exact."""
        ...

    def leaves(self, limits: Limits) -> Limits:
        """A run's limits, and no more than the month leaves beside what the other runs took."""
        ...
