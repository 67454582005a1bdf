"""What outlives a night: trials, alpha, rejected edits, preferences, exposure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import and_, bindparam, func, select, update
from sqlalchemy.dialects.sqlite import Insert, insert

from skillopt_core.memory import Rejection
from skillopt_core.types import Outcome
from skillopt_sleep.domain.trials import Trial, TrialStep
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import bodies
from skillopt_sleep.store.documents import document_of, document_row
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import session, skill_use
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


def _exposed() -> Insert:
    """A session counts once for a rule, with what was seen of it last."""
    new = insert(exposure)
    again = {name: new.excluded[name] for name in ("applicable", "offered", "opened", "friction")}
    return new.on_conflict_do_update(index_elements=["rule_id", "session_id"], set_=again)


_EXPOSED: Final = _exposed()


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


def alpha_of(store: Store, family: str, candidate: str, share: Callable[[int], float]) -> float:
    """What a candidate of a family may err: what was kept for it, else the `share` of the next one (t from 1), kept.

    So a trial has on every night what it had on its first, however many came after it.
    """
    mine = (alpha_spend.c.family == family) & (alpha_spend.c.candidate == candidate)
    with store.write() as connection:
        kept = connection.execute(select(alpha_spend.c.amount).where(mine)).scalar()
        if kept is not None:
            return float(kept)
        wanted = select(func.coalesce(func.max(alpha_spend.c.nth), 0)).where(alpha_spend.c.family == family)
        t = int(connection.execute(wanted).scalar_one()) + 1
        row = {"family": family, "nth": t, "amount": share(t), "candidate": candidate, "at_ms": store.clock.now_ms()}
        connection.execute(alpha_spend.insert(), row)
        return share(t)


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


def preferred_since(store: Store, origin: str) -> Mapping[str, int]:
    """The preferences that hold, by their words, with the time (ms UTC) since when."""
    held = select(preference.c.text, preference.c.since_ms)
    mine = (preference.c.origin == origin) & preference.c.until_ms.is_(None)
    with store.read() as connection:
        rows = connection.execute(held.where(mine)).fetchall()
        said = bodies.find(connection, [row.text for row in rows])
        return {bodies.text_in(said, row.text): row.since_ms for row in rows}


def note_exposures(store: Store, rule_id: str, skill_name: str, sessions: Mapping[str, bool]) -> None:
    """Lines of a rule's ledger: whether it was broken in each of these sessions, by their names.

    Whether its skill was offered and opened there is what the session itself shows; None where it shows neither. A
    session in which it was broken is one to which it applied; of the others nobody knows.
    """
    if not sessions:
        return
    named = session.c.name.in_(bindparam("names", expanding=True))
    shown = and_(skill_use.c.session_id == session.c.id, skill_use.c.skill == skill_name)
    wanted = (
        select(session.c.id, session.c.name, func.max(skill_use.c.offered), func.max(skill_use.c.opened))
        .join_from(session, skill_use, shown, isouter=True)
        .where(named)
        .group_by(session.c.id)
    )
    with store.write() as connection:
        connection.execute(insert(rule).values(id=rule_id, first_ms=store.clock.now_ms()).on_conflict_do_nothing())
        names = list(sessions)
        for start in range(0, len(names), bodies.BATCH):
            found = connection.execute(wanted, {"names": names[start : start + bodies.BATCH]}).fetchall()
            rows = [
                {"rule_id": rule_id, "session_id": number, "applicable": int(sessions[name]), "offered": offered,
                 "opened": opened, "friction": int(sessions[name])}
                for number, name, offered, opened in found
            ]  # fmt: skip
            if rows:
                connection.execute(_EXPOSED, rows)


def rule_ledger(store: Store, rule_id: str) -> list[Mapping[str, Any]]:
    """The sessions in which a rule could apply, oldest first: name, began, offered, opened, followed, friction."""
    columns = (session.c.name, session.c.started_ms, exposure.c.applicable, exposure.c.offered, exposure.c.opened)
    wanted = select(*columns, exposure.c.followed, exposure.c.friction).join_from(exposure, session)
    with store.read() as connection:
        found = connection.execute(wanted.where(exposure.c.rule_id == rule_id).order_by(session.c.started_ms))
        return [dict(row) for row in found.mappings()]
