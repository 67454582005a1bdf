"""What past nights attempted more than once with the same text: what the gate is calibrated on, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from skillopt_core.types import Score, Trajectory
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.training import attempt, comparison


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """The finished attempts of a night's live text by a noisy agent. A transcript is only a digest here."""

    night: str
    skill: str
    runs: tuple[Trajectory, ...]


def live_runs(store: Store) -> Sequence[LiveRuns]:
    """By night and text, the oldest night first; what a deterministic agent did says nothing and is left out."""
    measured = select(comparison.c.night, comparison.c.a).where(comparison.c.deterministic == 0).distinct().subquery()
    same = (measured.c.night == attempt.c.night) & (measured.c.a == attempt.c.skill)
    wanted = select(attempt).join(measured, same).where(attempt.c.status == "done").order_by(attempt.c.id)
    found: dict[tuple[str, str, str], list[Trajectory]] = {}
    for row in store.rows(wanted):
        said = row.trajectory.hex() if row.trajectory else ""
        score = Score(row.hard, row.soft, objectives=json.loads(row.objectives))
        run = Trajectory(row.task, row.draw, row.skill, score, said)
        found.setdefault((row.night, row.comparison, row.skill), []).append(run)
    return [LiveRuns(night, skill, tuple(runs)) for (night, _, skill), runs in found.items()]


def tokens_an_attempt(store: Store) -> float | None:
    """Mean tokens of a finished attempt by an agent that counts them; None where none has."""
    wanted = select(attempt.c.objectives).where(attempt.c.status == "done", attempt.c.agent != "recorded")
    told: list[Mapping[str, float]] = [json.loads(row.objectives) for row in store.rows(wanted)]
    counts = [one["tokens"] for one in told if "tokens" in one]
    return sum(counts) / len(counts) if counts else None
