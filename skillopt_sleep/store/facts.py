"""The facts that the evidence log speaks of, as JSON values read from their rows, and the digest of one.

No free words are among them: those may be forgotten or redacted anew, and the digest has to stay. A proposal, a
decision, an adoption, a verdict with every figure and unit that it rests on, a completion by the digest of its prompt.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Connection, Select, select

from skillopt_sleep.store import evidence_log
from skillopt_sleep.store.schema.adoption import adoption, adoption_target, decision, proposal, proposal_edit
from skillopt_sleep.store.schema.training import clearance, comparison, comparison_unit, completion, edit
from skillopt_sleep.store.schema.training import evidence_log as log

Fact = Mapping[str, Any]

_PROPOSAL: Final = ("id", "night_id", "base_digest", "base", "candidate", "created_ms")
_EDIT: Final = (proposal_edit.c.n, proposal_edit.c.comparison_id, edit.c.op, edit.c.meaning)
_DECISION: Final = ("id", "proposal_id", "edits", "choice", "by_whom", "unproven", "at_ms")
_ADOPTION: Final = ("id", "proposal_id", "by_whom", "edits", "state", "at_ms")
_TARGET: Final = ("n", "agent", "path", "block", "before", "after", "state")
_VERDICT: Final = (
    *("id", "night", "a", "b", "mode", "family", "nth", "evidence", "verdict", "metric", "before", "after", "effect"),
    *("low", "high", "p", "e", "e_reverse", "alpha", "pairs", "coverage", "opened", "repeats", "counts", "bets"),
)
_UNIT: Final = ("n", "unit", "before", "after", "d", "pairs", "began_ms", "tasks")
_COMPLETION: Final = ("role", "model", "prompt", "draw", "status")
_CLEARANCE: Final = ("id", "mode", "alpha", "comparisons", "accepted", "at_ms")
_COMPLETIONS: Final = select(completion.c.key, *(completion.c[name] for name in _COMPLETION)).order_by(completion.c.key)


def note(connection: Connection, kind: str, name: str | int, now: int, *, new: bool = False) -> None:
    """Log a fact as its rows are now, unless the log has it so already; of a `new` one it has nothing."""
    fact = next(_READERS[kind](connection, name))
    speaks_of = (str(name), digest_of(fact))
    if new or _said_last(connection, kind, str(name)) != speaks_of[1]:
        evidence_log.append(connection, kind, speaks_of, now)


def _said_last(connection: Connection, kind: str, name: str) -> str | None:
    """The newest digest that the log has of a fact. Its entries are neighbours in the index: they begin alike."""
    begin = f"[{json.dumps(name)},"
    mine = (log.c.kind == kind) & (log.c.speaks_of >= begin) & (log.c.speaks_of < begin[:-1] + chr(ord(",") + 1))
    said = connection.execute(select(log.c.id, log.c.speaks_of).where(mine)).fetchall()
    return str(json.loads(max(said)[1])[1]) if said else None


def facts(connection: Connection, kind: str) -> Iterator[tuple[str, Fact]]:
    """All facts of a kind, with their ids."""
    for fact in _READERS[kind](connection, None):
        yield str(fact["id"]), fact


def differing(connection: Connection, said: Mapping[tuple[str, str], str]) -> list[str]:
    """Kind and id of each fact that is not what the log last said of it; `said` is `evidence_log.latest`."""
    now = {(kind, name): digest_of(fact) for kind in KINDS for name, fact in facts(connection, kind)}
    return [f"{kind} {name}" for kind, name in sorted({*now, *said}) if now.get((kind, name)) != said.get((kind, name))]


def digest_of(fact: Fact) -> str:
    """SHA-256 (hex) over the fact as JSON, keys in order."""
    return hashlib.sha256(json.dumps(fact, sort_keys=True).encode()).hexdigest()


def unit_digest(name: str) -> str:
    """A unit by a digest of its name, in which a person's name may stand."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]


def _rows(connection: Connection, wanted: Select[Any], columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for row in connection.execute(wanted).mappings().all():
        yield {name: _plain(row[name]) for name in columns}


def _plain(value: Any) -> Any:
    """A column as a JSON value: bytes as hex, an infinite number as a word."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _proposals(connection: Connection, name: Any) -> Iterator[Fact]:
    for fact in _rows(connection, _of(proposal, proposal.c.id, name), _PROPOSAL):
        edits = select(*_EDIT).join_from(proposal_edit, edit).where(proposal_edit.c.proposal_id == fact["id"])
        yield fact | {"edits": list(_rows(connection, edits.order_by(proposal_edit.c.n), tuple(c.name for c in _EDIT)))}


def _decisions(connection: Connection, name: Any) -> Iterator[Fact]:
    return _rows(connection, _of(decision, decision.c.id, name), _DECISION)


def _adoptions(connection: Connection, name: Any) -> Iterator[Fact]:
    for fact in _rows(connection, _of(adoption, adoption.c.id, name), _ADOPTION):
        targets = select(adoption_target).where(adoption_target.c.adoption_id == fact["id"])
        yield fact | {"targets": list(_rows(connection, targets.order_by(adoption_target.c.n), _TARGET))}


def _verdicts(connection: Connection, name: Any) -> Iterator[Fact]:
    for fact in _rows(connection, _of(comparison, comparison.c.id, name).where(comparison.c.verdict != ""), _VERDICT):
        units = select(comparison_unit).where(comparison_unit.c.comparison_id == fact["id"])
        rows = _rows(connection, units.order_by(comparison_unit.c.n), _UNIT)
        yield fact | {"units": [row | {"unit": unit_digest(row["unit"])} for row in rows]}


def _completions(connection: Connection, name: Any) -> Iterator[Fact]:
    wanted = _COMPLETIONS if name is None else _COMPLETIONS.where(completion.c.key == name)
    for row in connection.execute(wanted).all():
        yield dict(zip(("id", *_COMPLETION), map(_plain, row), strict=True))


def _clearances(connection: Connection, name: Any) -> Iterator[Fact]:
    return _rows(connection, _of(clearance, clearance.c.id, name), _CLEARANCE)


def _of(table: Any, key: Any, name: Any) -> Select[Any]:
    wanted = select(table).order_by(key)
    return wanted if name is None else wanted.where(key == name)


_READERS: Final[Mapping[str, Callable[[Connection, Any], Iterator[Fact]]]] = {
    "verdict": _verdicts,
    "proposal": _proposals,
    "decision": _decisions,
    "adoption": _adoptions,
    "completion": _completions,
    "clearance": _clearances,
}
KINDS: Final = tuple(_READERS)
