"""What models were asked in a night: how it went, and whose words were shown to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any, Final

from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects.sqlite import insert

from skillopt_sleep.domain.reports import ModelUse
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import session
from skillopt_sleep.store.schema.mining import derived
from skillopt_sleep.store.schema.nights import step
from skillopt_sleep.store.schema.training import attempt, completion

ASKED: Final = "asked"
"""The kind of a row of `derived` that says: in the night `of`, a model was shown words of this session."""
KINDS: Final = "kinds "
"""What the key of a step begins with that holds kinds which a model found; the project follows."""
GROWN: Final = "requests "
"""The same of a step that keeps what became of a project's skill; the project follows."""


def note_shown(store: Store, night: str, sessions: Collection[str]) -> None:
    """Write down, before it is done, that words of these sessions are shown to a model in this night."""
    if not sessions:
        return
    with store.write() as connection:
        known = connection.execute(select(session.c.id).where(session.c.name.in_(sorted(sessions)))).scalars().all()
        rows = [{"session_id": one, "kind": ASKED, "of": night} for one in known]
        if rows:
            connection.execute(insert(derived).on_conflict_do_nothing(), rows)


def uses(store: Store, night: str) -> list[ModelUse]:
    """How asking went, a row for each role and model: prompts, and those without an answer by reason."""
    columns = (completion.c.role, completion.c.model, completion.c.status, func.count().label("n"))
    wanted = select(*columns).where(completion.c.night == night).group_by(*columns[:3]).order_by(*columns[:3])
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in store.rows(wanted):
        found.setdefault((row.role, row.model), {})[row.status] = row.n
    return [
        ModelUse(role, model, prompts=sum(by.values()), failed={why: n for why, n in by.items() if why != "ok"})
        for (role, model), by in found.items()
    ]


def attempted(store: Store, night: str, agent: str) -> ModelUse:
    """How a night's attempts by this agent went: how many, and those that came to nothing by reason."""
    columns = (attempt.c.status, attempt.c.why, func.count().label("n"))
    wanted = select(*columns).where(attempt.c.night == night, attempt.c.agent == agent).group_by(*columns[:2])
    rows = store.rows(wanted)
    failed = {row.why: row.n for row in rows if row.status != "done"}
    return ModelUse("target", agent, agent, prompts=sum(row.n for row in rows), failed=failed)


def forget_asked(connection: Connection, nights: Collection[str], name: str) -> list[bytes]:
    """Take a session out of what these nights kept of asking: the kinds that rest on it are gone.

    Returns the digests of the prompts and replies of these nights, which are to be buried.
    """
    which = completion.c.night.in_(nights)
    rows = connection.execute(select(completion.c.asked, completion.c.reply).where(which)).all()
    drop_kinds(connection, step.c.night_id.in_(nights), lambda kind: name in kind.get("sessions", ()))
    drop_grown(connection, lambda grown: name in grown.get("sessions", ()))
    return [digest for row in rows for digest in row if digest is not None]


def drop_kinds(connection: Connection, which: Any, gone: Callable[[Any], bool]) -> None:
    """Take kinds that a model found out of the steps that keep them."""
    wanted = select(step.c.id, step.c.result).where(which, step.c.key.startswith(KINDS))
    for row in connection.execute(wanted).all():
        result = json.loads(row.result)
        if isinstance(result, dict) and isinstance(result.get("kinds"), list):
            rest = json.dumps({**result, "kinds": [kind for kind in result["kinds"] if not gone(kind)]})
            connection.execute(update(step).where(step.c.id == row.id).values(result=rest))


def drop_grown(connection: Connection, gone: Callable[[Any], bool]) -> None:
    """Take candidates for a skill out of the steps that keep them."""
    wanted = select(step.c.id, step.c.result).where(step.c.key.startswith(GROWN))
    for row in connection.execute(wanted).all():
        result = json.loads(row.result)
        if isinstance(result, dict) and gone(result):
            connection.execute(update(step).where(step.c.id == row.id).values(result="{}"))
