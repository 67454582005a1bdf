"""Proposals: staged in the night, decided in the morning."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, exists, select, update
from sqlalchemy.dialects.sqlite import insert

from skillopt_core.memory import meaning
from skillopt_core.types import Edit, Label, Verdict
from skillopt_sleep.domain.frictions import Quote, Stake
from skillopt_sleep.domain.proposals import Decision, Pin, Proposal, ProposalState, ProposedEdit, Target
from skillopt_sleep.errors import NotFound, StoreError
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import bodies, facts
from skillopt_sleep.store.documents import document_of, document_row, keep_version
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.adoption import decision, proposal, proposal_edit, proposal_target
from skillopt_sleep.store.schema.harvest import event
from skillopt_sleep.store.schema.training import edit, edit_source, rule, skill
from skillopt_sleep.store.verdicts import ComparisonFacts, keep_verdict, read_verdict


def save_proposal(store: Store, one: Proposal) -> None:
    """Keep a proposal with its edits, their verdicts and provenance; one of the same id is replaced."""
    now = store.clock.now_ms()
    with store.write() as connection:
        base, candidate = (
            keep_version(connection, one.document, text, night=one.night, parent=parent, now=now)
            for text, parent in ((one.base, ""), (one.candidate, one.base_digest))
        )
        row: dict[str, Any] = {"id": one.id, "night_id": one.night, "base_digest": one.base_digest, "base": base}
        row |= {"skill_id": document_row(connection, one.document), "candidate": candidate, "state": str(one.state)}
        row |= {"comparison_id": _verdict(connection, one, one.id, one.verdict, now), "changed_ms": now}
        row |= {"created_ms": one.created_ms, "quotes_forgotten": int(one.quotes_forgotten)}
        connection.execute(insert(proposal).values(row).on_conflict_do_update(index_elements=["id"], set_=row))
        _keep_pins(connection, one)
        connection.execute(delete(proposal_edit).where(proposal_edit.c.proposal_id == one.id))
        for place, each in enumerate(one.edits):
            _keep_edit(connection, one, place, each, now)
        facts.note(connection, "proposal", one.id, now)


def _verdict(connection: Connection, one: Proposal, name: str, verdict: Verdict, now: int) -> str:
    """The verdict's row, under the proposal's name: the very numbers that a person is shown."""
    about = ComparisonFacts(f"v-{name}", one.base_digest, "", mode="shown", night=one.night)
    keep_verdict(connection, about, verdict, now)
    return about.id


def _keep_pins(connection: Connection, one: Proposal) -> None:
    connection.execute(delete(proposal_target).where(proposal_target.c.proposal_id == one.id))
    rows = [
        {"proposal_id": one.id, "n": n, "digest": pin.digest} | place_of(pin.target) for n, pin in enumerate(one.pins)
    ]
    if rows:
        connection.execute(proposal_target.insert(), rows)


def place_of(target: Target) -> dict[str, Any]:
    """The columns of a target. Its path is kept relative to its root."""
    path = posixpath.relpath(target.path, target.root)
    row = {"agent": target.agent, "root": target.root, "path": path, "block": target.block}
    return row | {"also": json.dumps(target.also)}


def target_of(row: Any) -> Target:
    path = posixpath.normpath(posixpath.join(row.root, row.path))
    return Target(row.agent, row.root, path, row.block, tuple(json.loads(row.also)))


def _keep_edit(connection: Connection, one: Proposal, place: int, each: ProposedEdit, now: int) -> None:
    if each.rule:
        title = {"title": each.title, "predicate": each.predicate, "state": "tried"}
        new = insert(rule).values(id=each.rule, skill_id=document_row(connection, one.document), first_ms=now, **title)
        connection.execute(new.on_conflict_do_update(index_elements=["id"], set_=title))
    number = _edit_row(connection, one, each, now)
    _keep_sources(connection, number, each.provenance)
    stake = each.stake
    row: dict[str, Any] = {"proposal_id": one.id, "place": place, "n": each.n, "edit_id": number, "rule": each.rule}
    row |= {"status": each.status, "title": each.title, "predicate": each.predicate, "why": each.why}
    row["comparison_id"] = _verdict(connection, one, f"{one.id}-{each.n}", each.verdict, now)
    if stake is not None:
        row |= {"stake_actions": stake.actions, "stake_output_share": stake.output_share}
        row["stake_per_week"] = stake.per_week
    connection.execute(proposal_edit.insert(), row)


def _edit_row(connection: Connection, one: Proposal, each: ProposedEdit, now: int) -> int:
    kept, what = bodies.Kept(connection), each.edit
    row: dict[str, Any] = {"rule_id": each.rule or None, "base": one.base_digest, "op": what.op, "night": one.night}
    row["skill_id"] = document_row(connection, one.document)
    row |= {"anchor": kept.text(Redacted(what.anchor)), "text": kept.text(Redacted(what.text))}
    row |= {"meaning": meaning(what), "label": str(what.label), "support": json.dumps(sorted(what.support))}
    row |= {"status": each.status, "why": what.why, "origin": what.origin, "at_ms": now}
    new = insert(edit).values(row)
    again = new.on_conflict_do_update(index_elements=["night", "skill_id", "base", "meaning", "op"], set_=row)
    return int(connection.execute(again.returning(edit.c.id)).scalar_one())


def _keep_sources(connection: Connection, number: int, quotes: Sequence[Quote]) -> None:
    connection.execute(delete(edit_source).where(edit_source.c.edit_id == number))
    wanted = [quote.event for quote in quotes]
    known = set(connection.execute(select(event.c.id).where(event.c.id.in_(wanted))).scalars())
    kept = bodies.Kept(connection)
    rows = [
        {
            "edit_id": number,
            "n": n,
            "event_id": quote.event if quote.event in known else None,
            "session": quote.session,
            "author": quote.author,
            "quote": kept.text(Redacted(quote.text)),
            "at_ms": quote.at_ms,
            "role": "origin" if n == 0 else "evidence",
        }
        for n, quote in enumerate(quotes)
    ]
    if rows:
        connection.execute(edit_source.insert(), rows)


def find_proposal(store: Store, name: str) -> Proposal:
    """Raises `NotFound`."""
    found = _read(store, proposal.c.id == name)
    if not found:
        raise NotFound("there is no such proposal", where=name, remedy="See `skillopt-sleep review`")
    return found[0]


def proposals(store: Store, *states: ProposalState) -> list[Proposal]:
    """Proposals in one of these states (none named: in any), oldest first."""
    named = [str(state) for state in states or tuple(ProposalState)]
    return _read(store, proposal.c.state.in_(named))


def _read(store: Store, which: Any) -> list[Proposal]:
    wanted = select(proposal, skill.c.name, skill.c.scope, skill.c.kind).join_from(proposal, skill).where(which)
    with store.read() as connection:
        rows = connection.execute(wanted.order_by(proposal.c.created_ms, proposal.c.id)).fetchall()
        said = bodies.find(connection, [d for row in rows for d in (row.base, row.candidate)])
        return [_proposal(connection, row, said) for row in rows]


def _proposal(connection: Connection, row: Any, said: Mapping[bytes, bytes]) -> Proposal:
    pins = select(proposal_target).where(proposal_target.c.proposal_id == row.id).order_by(proposal_target.c.n)
    edits = select(proposal_edit).where(proposal_edit.c.proposal_id == row.id).order_by(proposal_edit.c.place)
    return Proposal(
        id=row.id,
        night=row.night_id,
        document=document_of(row),
        base=bodies.text_in(said, row.base),
        base_digest=row.base_digest,
        candidate=bodies.text_in(said, row.candidate),
        edits=tuple(_edit(connection, each) for each in connection.execute(edits).fetchall()),
        verdict=_verdict_of(connection, row.comparison_id),
        state=ProposalState(row.state),
        created_ms=row.created_ms,
        pins=tuple(Pin(target_of(pin), pin.digest) for pin in connection.execute(pins)),
        quotes_forgotten=bool(row.quotes_forgotten),
    )


def _verdict_of(connection: Connection, name: str) -> Verdict:
    found = read_verdict(connection, name)
    if found is None:
        raise StoreError("a proposal has lost its verdict", where=name, remedy="Run `skillopt-sleep verify`")
    return found


def _edit(connection: Connection, row: Any) -> ProposedEdit:
    what = connection.execute(select(edit).where(edit.c.id == row.edit_id)).one()
    quotes = select(edit_source).where(edit_source.c.edit_id == row.edit_id).order_by(edit_source.c.n)
    sources = connection.execute(quotes).fetchall()
    said = bodies.find(connection, [what.anchor, what.text, *(source.quote for source in sources)])
    support = frozenset(json.loads(what.support))
    texts = bodies.text_in(said, what.anchor), bodies.text_in(said, what.text)
    stake = row.stake_actions
    return ProposedEdit(
        n=row.n,
        edit=Edit(what.op, *texts, support, Label(what.label), what.why, what.origin),
        status=row.status,
        verdict=_verdict_of(connection, row.comparison_id),
        rule=row.rule,
        title=row.title,
        predicate=row.predicate,
        stake=None if stake is None else Stake(stake, row.stake_output_share, row.stake_per_week),
        provenance=tuple(
            Quote(q.event_id or 0, q.session, q.at_ms, q.author, bodies.text_in(said, q.quote)) for q in sources
        ),
        why=row.why,
    )


def set_state(store: Store, name: str, state: ProposalState, why: str = "") -> None:
    """Move a proposal to a state. Raises `NotFound`."""
    values = {"state": str(state), "why": why, "changed_ms": store.clock.now_ms()}
    if store.run(update(proposal).where(proposal.c.id == name).values(**values)).rowcount != 1:
        raise NotFound("there is no such proposal", where=name, remedy="See `skillopt-sleep review`")


def decide(store: Store, made: Decision) -> None:
    """Write down what was decided. A rejection of the whole proposal also moves it to that state.

    Its state after an adoption follows from the adoption itself (store/adoptions.py).
    """
    with store.write() as connection:
        row: dict[str, Any] = {"proposal_id": made.proposal, "edits": json.dumps(made.edits), "choice": made.choice}
        row |= {"by_whom": made.by, "why": made.why, "unproven": int(made.unproven), "at_ms": made.at_ms}
        number = connection.execute(decision.insert(), row).inserted_primary_key
        facts.note(connection, "decision", number[0] if number else 0, store.clock.now_ms())
        every = select(proposal_edit.c.n).where(proposal_edit.c.proposal_id == made.proposal)
        whole = set(connection.execute(every).scalars()) <= set(made.edits) or not made.edits
        if made.choice == "reject" and whole:
            set_state(store, made.proposal, ProposalState.REJECTED, made.why)


def decisions(store: Store, name: str) -> list[Decision]:
    """What was decided of a proposal, oldest first."""
    rows = store.rows(select(decision).where(decision.c.proposal_id == name).order_by(decision.c.id))
    return [
        Decision(r.proposal_id, r.choice, tuple(json.loads(r.edits)), r.at_ms, r.by_whom, r.why, bool(r.unproven))
        for r in rows
    ]


def decided(store: Store, name: str) -> bool:
    """Whether anything was decided of a proposal yet."""
    return bool(store.rows(select(exists().where(decision.c.proposal_id == name)))[0][0])
