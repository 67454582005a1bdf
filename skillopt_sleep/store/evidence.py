"""What outlives a night: trials, alpha, rejected edits, preferences, exposure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.sqlite import insert

from skillopt_core.memory import Rejection
from skillopt_core.types import Outcome
from skillopt_sleep.domain.trials import Trial, TrialStep
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import bodies
from skillopt_sleep.store.documents import document_of, document_row
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import session
from skillopt_sleep.store.schema.training import (
    alpha_spend,
    exposure,
    preference,
    rejected,
    rule,
    skill,
    trial,
    trial_step,
)


def save_trial(store: Store, one: Trial, steps: Sequence[TrialStep] = ()) -> None:
    """Keep a trial as it stands now, with the units scored since. Raises `Conflict` for a unit that was scored."""
    with store.write() as connection:
        row: dict[str, Any] = {
            "id": one.id,
            "skill_id": document_row(connection, one.document),
            "rule": one.rule,
            "candidate": one.candidate,
            "live": one.live,
            "predicate": one.predicate,
            "cut_ms": one.cut_ms,
            "alpha": one.alpha,
            "e": one.e,
            "e_reverse": one.e_reverse,
            "state": one.state,
            "why": one.why,
            "rebased_from": one.rebased_from,
            "first_night": one.first_night,
            "nights": one.nights,
            "begun_ms": one.begun_ms,
            "ended_ms": one.ended_ms,
        }
        connection.execute(insert(trial).values(row).on_conflict_do_update(index_elements=["id"], set_=row))
        rows = [_step(one.id, step) for step in steps]
        if rows:
            connection.execute(trial_step.insert(), rows)


def _step(name: str, step: TrialStep) -> dict[str, Any]:
    row: dict[str, Any] = {"trial_id": name, "night": step.night, "task": step.task, "d": step.d, "at_ms": step.at_ms}
    return row | {"e_after": step.e_after, "e_reverse_after": step.e_reverse_after}


def trials(store: Store, state: str | None = None) -> list[Trial]:
    """Trials, oldest first; those in one state, or all."""
    wanted = select(trial, skill.c.name, skill.c.scope, skill.c.kind).join_from(trial, skill)
    wanted = wanted.order_by(trial.c.begun_ms, trial.c.id)
    if state is not None:
        wanted = wanted.where(trial.c.state == state)
    return [_trial(row) for row in store.rows(wanted)]


def _trial(row: Any) -> Trial:
    return Trial(
        id=row.id,
        document=document_of(row),
        candidate=row.candidate,
        live=row.live,
        cut_ms=row.cut_ms,
        alpha=row.alpha,
        begun_ms=row.begun_ms,
        rule=row.rule,
        predicate=row.predicate,
        e=row.e,
        e_reverse=row.e_reverse,
        state=row.state,
        why=row.why,
        rebased_from=row.rebased_from,
        first_night=row.first_night,
        nights=row.nights,
        ended_ms=row.ended_ms,
    )


def trial_steps(store: Store, name: str) -> list[TrialStep]:
    """The units that a trial has scored, in order."""
    wanted = select(trial_step).where(trial_step.c.trial_id == name).order_by(trial_step.c.id)
    return [
        TrialStep(row.night, row.task, row.d, row.e_after, row.e_reverse_after, row.at_ms) for row in store.rows(wanted)
    ]


def spend_alpha(store: Store, family: str, t: int, amount: float, candidate: str) -> None:
    """Write down the alpha of the t-th candidate of a family. Raises `Conflict` where it was spent already."""
    row = {"family": family, "nth": t, "amount": amount, "candidate": candidate, "at_ms": store.clock.now_ms()}
    store.run(alpha_spend.insert(), row)


def earn_alpha_back(store: Store, family: str, t: int, amount: float) -> None:
    found = (alpha_spend.c.family == family) & (alpha_spend.c.nth == t)
    store.run(update(alpha_spend).where(found).values(earned_back=amount))


def alpha_spent(store: Store, family: str) -> tuple[int, float]:
    """How many candidates a family has had, and the alpha that is spent and not earned back."""
    left = func.sum(alpha_spend.c.amount - func.coalesce(alpha_spend.c.earned_back, 0.0))
    count, amount = store.rows(select(func.count(), func.coalesce(left, 0.0)).where(alpha_spend.c.family == family))[0]
    return int(count), float(amount)


def save_rejections(store: Store, rows: Iterable[Rejection], night: str) -> None:
    """Keep rejected edits; the newest reason for the same edit on the same text stays."""
    with store.write() as connection:
        kept = bodies.Kept(connection)
        for one in rows:
            row: dict[str, Any] = {"meaning": one.meaning, "skill": one.skill, "reason": one.reason, "op": one.op}
            row |= {"anchor": kept.text(Redacted(one.anchor)), "text": kept.text(Redacted(one.text))}
            row |= {"verdict": str(one.outcome), "night": night, "at_ms": store.clock.now_ms()}
            new = insert(rejected).values(row)
            connection.execute(new.on_conflict_do_update(index_elements=["meaning", "skill"], set_=row))


def rejections(store: Store) -> list[Rejection]:
    """The rejected-edit memory, oldest first: what the core's `Memory` is made from."""
    with store.read() as connection:
        rows = connection.execute(select(rejected).order_by(rejected.c.at_ms, rejected.c.id)).fetchall()
        said = bodies.find(connection, [d for row in rows for d in (row.anchor, row.text)])
    return [
        Rejection(
            row.meaning,
            row.skill,
            row.reason,
            Outcome(row.verdict),
            row.op,
            bodies.text_in(said, row.anchor),
            bodies.text_in(said, row.text),
        )
        for row in rows
    ]


def note_preferences(store: Store, texts: Sequence[Redacted], origin: str) -> None:
    """The preferences that hold now from an origin (`configuration`, `command line`): new ones begin, others end."""
    now = store.clock.now_ms()
    with store.write() as connection:
        kept = bodies.Kept(connection)
        wanted = {digest for text in texts if (digest := kept.text(text)) is not None}
        mine = (preference.c.origin == origin) & preference.c.until_ms.is_(None)
        held = set(connection.execute(select(preference.c.text).where(mine)).scalars())
        for digest in sorted(held - wanted):
            connection.execute(update(preference).where(mine, preference.c.text == digest).values(until_ms=now))
        new = [{"text": digest, "origin": origin, "since_ms": now} for digest in sorted(wanted - held)]
        if new:
            connection.execute(insert(preference).on_conflict_do_nothing(), new)


def note_exposure(
    store: Store,
    rule_id: str,
    session_name: str,
    *,
    applicable: int,
    offered: bool | None = None,
    opened: bool | None = None,
    followed: int | None = None,
    friction: int | None = None,
) -> None:
    """One line of a rule's ledger: what one session shows of it. A session counts once for a rule."""
    with store.write() as connection:
        found = connection.execute(select(session.c.id).where(session.c.name == session_name)).scalar_one()
        connection.execute(insert(rule).values(id=rule_id, first_ms=store.clock.now_ms()).on_conflict_do_nothing())
        row: dict[str, Any] = {"rule_id": rule_id, "session_id": found, "applicable": applicable, "offered": offered}
        row |= {"opened": opened, "followed": followed, "friction": friction}
        new = insert(exposure).values(row)
        connection.execute(new.on_conflict_do_update(index_elements=["rule_id", "session_id"], set_=row))


def rule_ledger(store: Store, rule_id: str) -> list[Mapping[str, Any]]:
    """The sessions in which a rule could apply, oldest first: name, began, offered, opened, followed, friction."""
    columns = (session.c.name, session.c.started_ms, exposure.c.applicable, exposure.c.offered, exposure.c.opened)
    wanted = select(*columns, exposure.c.followed, exposure.c.friction).join_from(exposure, session)
    with store.read() as connection:
        found = connection.execute(wanted.where(exposure.c.rule_id == rule_id).order_by(session.c.started_ms))
        return [dict(row) for row in found.mappings()]
