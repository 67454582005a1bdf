"""Free words outside of bodies: titles, reasons, what a step came to. What takes words out goes over these too."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Column, Connection, func, or_, select, update

from skillopt_sleep.store.schema.adoption import adoption, adoption_target, decision, proposal, proposal_edit
from skillopt_sleep.store.schema.harvest import session, source
from skillopt_sleep.store.schema.mining import pattern
from skillopt_sleep.store.schema.nights import night, skip, step
from skillopt_sleep.store.schema.training import (
    attempt,
    clearance,
    comparison,
    comparison_unit,
    edit,
    rejected,
    rule,
    trial,
)

FREE: Final[tuple[Column[Any], ...]] = (
    *(session.c.title, session.c.branch, source.c.why),
    *(pattern.c.title, pattern.c.signature),
    *(rule.c.title, rule.c.predicate, trial.c.predicate, trial.c.why),
    *(edit.c.why, edit.c.origin, rejected.c.reason, attempt.c.why),
    *(comparison.c.why, comparison.c.needs, comparison_unit.c.note),
    *(proposal.c.why, proposal_edit.c.title, proposal_edit.c.predicate, proposal_edit.c.why),
    *(decision.c.why, adoption.c.why, adoption_target.c.why),
    *(night.c.error, step.c.error, skip.c.why, clearance.c.why),
)
"""Columns of plain words. Names, paths, ids and digests are none: rows are found by them."""
NESTED: Final[tuple[Column[Any], ...]] = (pattern.c.sentence, attempt.c.failed, night.c.report, step.c.result)
"""Columns of JSON that hold words."""

Change = Callable[[Sequence[str]], Sequence[str]]
"""Texts to what is to stand in their place, in their order."""


def rewrite(connection: Connection, change: Change, holding: Sequence[str] = ()) -> int:
    """Put all free words through `change`; with `holding` only values in which one of these stands.

    Returns how many values are other than before.
    """
    return sum(_column(connection, column, change, holding) for column in (*FREE, *NESTED))


def _column(connection: Connection, column: Column[Any], change: Change, holding: Sequence[str]) -> int:
    wanted = select(column).distinct().where(column != "")
    if holding:
        spelt = {spelling for text in holding for spelling in spellings(text)}
        wanted = wanted.where(or_(*(func.instr(column, one) > 0 for one in sorted(spelt))))
    old = [str(value) for value in connection.execute(wanted).scalars()]
    new = [rewritten(value, change) for value in old] if column in _NESTED else change(old)
    pairs = [(before, after) for before, after in zip(old, new, strict=True) if before != after]
    for before, after in pairs:
        connection.execute(update(column.table).where(column == before).values({column.name: after}))
    return len(pairs)


_NESTED: Final = frozenset(NESTED)


def rewritten(document: str, change: Change) -> str:
    """A JSON text with its strings, keys aside, put through `change`."""
    value = json.loads(document)
    texts = sorted(set(_strings(value)))
    new = dict(zip(texts, change(texts), strict=True))
    if all(before == after for before, after in new.items()):
        return document
    return json.dumps(replaced(value, new))


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in _strings(each)]


def replaced(value: Any, new: Mapping[str, str]) -> Any:
    """A JSON value with some of its strings replaced; keys stay."""
    if isinstance(value, str):
        return new.get(value, value)
    if isinstance(value, list):
        return [replaced(each, new) for each in value]
    if isinstance(value, dict):
        return {key: replaced(each, new) for key, each in value.items()}
    return value


def unquoted(value: Any, name: str, mark: str) -> Any:
    """A JSON value in which every quote of a session (an object that names it) has `mark` for its words."""
    if isinstance(value, list):
        return [unquoted(each, name, mark) for each in value]
    if isinstance(value, dict):
        words = dict.fromkeys({"quote", "text"} & set(value), mark) if value.get("session") == name else {}
        return {key: unquoted(each, name, mark) for key, each in value.items()} | words
    return value


def spellings(text: str) -> frozenset[str]:
    """A text as it may stand in what was kept: by itself, inside JSON, and inside JSON that is a string of JSON."""
    found = {text}
    for _ in range(2):
        found |= {json.dumps(one, ensure_ascii=ascii_)[1:-1] for one in found for ascii_ in (True, False)}
    return frozenset(found)
