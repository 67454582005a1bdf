"""What past nights attempted more than once with the same text: what the gate is calibrated on, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select

from skillopt_core.gate.aa import accepted
from skillopt_core.types import Outcome, Score, Trajectory, Verdict
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import facts
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.training import attempt, clearance, comparison

AGAINST_ITSELF: Final = "a/a"
"""Family of comparisons of a text with itself, and how the comparison of their attempts begins."""


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """The finished attempts of a night's live text by a noisy agent. A transcript is only a digest here."""

    night: str
    skill: str
    runs: tuple[Trajectory, ...]
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class AgainstItself:
    """A comparison of a text with itself in fresh attempts; `accepted` None where it came to nothing."""

    night: str
    accepted: bool | None
    at_ms: int


def live_runs(store: Store) -> Sequence[LiveRuns]:
    """By night and text, the oldest night first; what a deterministic agent did says nothing and is left out."""
    measured = select(comparison.c.night, comparison.c.a).where(comparison.c.deterministic == 0).distinct().subquery()
    same = (measured.c.night == attempt.c.night) & (measured.c.a == attempt.c.skill)
    own = attempt.c.comparison.not_like(f"{AGAINST_ITSELF}%")
    wanted = select(attempt).join(measured, same).where(attempt.c.status == "done", own).order_by(attempt.c.id)
    first: dict[tuple[str, str, str], int] = {}
    found: dict[tuple[str, str, str], list[Trajectory]] = {}
    for row in store.rows(wanted):
        said = row.trajectory.hex() if row.trajectory else ""
        score = Score(row.hard, row.soft, objectives=json.loads(row.objectives))
        run = Trajectory(row.task, row.draw, row.skill, score, said)
        named = (row.night, row.comparison, row.skill)
        found.setdefault(named, []).append(run)
        first.setdefault(named, row.at_ms)
    return [LiveRuns(named[0], named[2], tuple(runs), first[named]) for named, runs in found.items()]


def against_itself(store: Store) -> Sequence[AgainstItself]:
    """The comparisons of a text with itself, the oldest first."""
    wanted = select(comparison).where(comparison.c.family == AGAINST_ITSELF).order_by(comparison.c.ended_ms)
    return [AgainstItself(row.night, _accepted(row), row.ended_ms) for row in store.rows(wanted)]


@dataclass(frozen=True, slots=True)
class Clearance:
    """A halted gate that a person lets go on: what it had come to, who did it, when (ms UTC) and why."""

    mode: str
    alpha: float
    comparisons: int
    accepted: int
    by: str
    why: Redacted
    at_ms: int


def clear(store: Store, one: Clearance) -> None:
    """Write down that a person lets a halted gate go on, in the evidence log too."""
    row = {"mode": one.mode, "alpha": one.alpha, "comparisons": one.comparisons, "accepted": one.accepted}
    row |= {"by_whom": one.by, "why": one.why, "at_ms": one.at_ms}
    with store.write() as connection:
        number = connection.execute(clearance.insert(), row).lastrowid
        facts.note(connection, "clearance", number, one.at_ms, new=True)


def clearances(store: Store, mode: str, alpha: float) -> list[Clearance]:
    """How often a gate was let go on, the oldest first."""
    of = (clearance.c.mode == mode) & (clearance.c.alpha == alpha)
    return [
        Clearance(row.mode, row.alpha, row.comparisons, row.accepted, row.by_whom, Redacted(row.why), row.at_ms)
        for row in store.rows(select(clearance).where(of).order_by(clearance.c.id))
    ]


def _accepted(row: Any) -> bool | None:
    return accepted(Verdict(Outcome(row.verdict), row.why, pairs=row.pairs))


def tokens_an_attempt(store: Store) -> float | None:
    """Mean tokens of a finished attempt by an agent that counts them; None where none has."""
    wanted = select(attempt.c.objectives).where(attempt.c.status == "done", attempt.c.agent != "recorded")
    told: list[Mapping[str, float]] = [json.loads(row.objectives) for row in store.rows(wanted)]
    counts = [one["tokens"] for one in told if "tokens" in one]
    return sum(counts) / len(counts) if counts else None
