"""Comparisons with their verdicts: every number that the gate names stands in a row of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from skillopt_core.types import Outcome, UnitScore, Verdict
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.store import facts
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.training import attempt, comparison, comparison_unit, pair


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """What was compared, and under which rule. `live` and `candidate` are digests of texts, `tasks` of the task set."""

    id: str
    live: str
    candidate: str
    mode: str
    night: str = ""
    family: str = ""
    t: int | None = None
    tasks: str = ""
    agent: str = ""
    models: tuple[str, ...] = ()
    boundaries: tuple[float, ...] = ()
    begun_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PairRow:
    """One pair: the two attempts of a task with one draw, and d, candidate minus live."""

    task: str
    draw: int
    live: AttemptKey
    candidate: AttemptKey
    d: float


_SAME: Final = ("why", "metric", "before", "after", "effect", "p", "e", "e_reverse", "alpha", "pairs", "coverage")
_SAME_TOO: Final = ("opened", "evidence", "needs", "repeats")
"""Columns that are called like the verdict's own fields."""


def save_comparison(store: Store, about: ComparisonFacts, verdict: Verdict, pairs: Sequence[PairRow] = ()) -> None:
    """Keep a comparison with its verdict, units and pairs; one of the same id is replaced."""
    with store.write() as connection:
        keep_verdict(connection, about, verdict, store.clock.now_ms())
        connection.execute(delete(pair).where(pair.c.comparison_id == about.id))
        if pairs:
            connection.execute(pair.insert(), [_pair(connection, about.id, one) for one in pairs])


def _pair(connection: Connection, name: str, one: PairRow) -> dict[str, Any]:
    keys = (one.live.digest, one.candidate.digest)
    wanted = select(attempt.c.key, attempt.c.id).where(attempt.c.key.in_(keys))
    found = dict(connection.execute(wanted).all())
    row: dict[str, Any] = {"comparison_id": name, "task": one.task, "draw": one.draw, "d": one.d}
    return row | {"live_attempt": found.get(keys[0]), "candidate_attempt": found.get(keys[1])}


def keep_verdict(connection: Connection, about: ComparisonFacts, verdict: Verdict, now: int) -> None:
    """Write the comparison's row and those of its units."""
    row: dict[str, Any] = {name: getattr(verdict, name) for name in (*_SAME, *_SAME_TOO)}
    row |= {"id": about.id, "night": about.night, "a": about.live, "b": about.candidate, "mode": about.mode}
    row |= {"family": about.family, "nth": about.t, "tasks": about.tasks, "agent": about.agent, "ended_ms": now}
    row |= {"models": json.dumps(about.models), "boundaries": json.dumps(about.boundaries)}
    row |= {"verdict": str(verdict.outcome), "deterministic": int(verdict.deterministic)}
    row |= dict(zip(("low", "high"), verdict.interval or (None, None), strict=True))
    row |= {"counts": json.dumps(dict(verdict.counts)), "bets": json.dumps(verdict.bets)}
    row["begun_ms"] = now if about.begun_ms is None else about.begun_ms
    connection.execute(insert(comparison).values(row).on_conflict_do_update(index_elements=["id"], set_=row))
    connection.execute(delete(comparison_unit).where(comparison_unit.c.comparison_id == about.id))
    units = [_unit(about.id, n, unit) for n, unit in enumerate(verdict.units)]
    if units:
        connection.execute(comparison_unit.insert(), units)
    facts.note(connection, "verdict", about.id, now)


def _unit(name: str, n: int, unit: UnitScore) -> dict[str, Any]:
    row: dict[str, Any] = {"comparison_id": name, "n": n, "unit": unit.unit, "before": unit.before, "after": unit.after}
    row |= {"d": unit.d, "pairs": unit.pairs, "began_ms": unit.began, "note": unit.note}
    return row | {"tasks": json.dumps(unit.tasks)}


def verdict_of(store: Store, name: str) -> Verdict | None:
    """The verdict of a comparison, as it was saved; None where there is none."""
    with store.read() as connection:
        return read_verdict(connection, name)


def read_verdict(connection: Connection, name: str) -> Verdict | None:
    row = connection.execute(select(comparison).where(comparison.c.id == name)).one_or_none()
    if row is None or not row.verdict:
        return None
    wanted = select(comparison_unit).where(comparison_unit.c.comparison_id == name).order_by(comparison_unit.c.n)
    units = tuple(
        UnitScore(u.unit, u.before, u.after, u.d, u.pairs, u.began_ms, tuple(json.loads(u.tasks)), u.note)
        for u in connection.execute(wanted)
    )
    same = {column: getattr(row, column) for column in (*_SAME, *_SAME_TOO)}
    return Verdict(
        outcome=Outcome(row.verdict),
        interval=None if row.low is None else (row.low, row.high),
        deterministic=bool(row.deterministic),
        units=units,
        counts=json.loads(row.counts),
        bets=tuple(json.loads(row.bets)),
        **same,
    )


def last_verdict(store: Store, family: str, live: str, candidate: str, agent: str, before: str) -> Verdict | None:
    """What the last comparison of these two texts by this agent said, in another night than `before`."""
    same = (comparison.c.family == family) & (comparison.c.a == live) & (comparison.c.b == candidate)
    by = (comparison.c.agent == agent) & (comparison.c.night != before)
    wanted = select(comparison.c.id).where(same, by).order_by(comparison.c.ended_ms.desc(), comparison.c.id)
    found = store.rows(wanted.limit(1))
    return verdict_of(store, found[0].id) if found else None


def comparisons(store: Store, night: str) -> list[ComparisonFacts]:
    """What was compared in a night, in the order in which it began."""
    wanted = select(comparison).where(comparison.c.night == night).order_by(comparison.c.begun_ms, comparison.c.id)
    return [_facts(row) for row in store.rows(wanted)]


def _facts(row: Any) -> ComparisonFacts:
    models, boundaries = tuple(json.loads(row.models)), tuple(json.loads(row.boundaries))
    named = (row.id, row.a, row.b, row.mode, row.night, row.family, row.nth, row.tasks, row.agent)
    return ComparisonFacts(*named, models, boundaries, row.begun_ms)
