"""From the night's edits, each with its verdict, to a proposal for the morning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from skillopt_core.types import STAGED, Edit, Outcome, Skill, Verdict
from skillopt_sleep.domain.frictions import Quote, Stake
from skillopt_sleep.domain.proposals import Document, Pin, Proposal, ProposalState, ProposedEdit
from skillopt_sleep.review.choose import APPLIED, PLAIN
from skillopt_sleep.review.revise import revise, same
from skillopt_sleep.review.skills import skeleton

_ORDER: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}
_OPEN: Final = frozenset({ProposalState.STAGED, ProposalState.ON_TRIAL, ProposalState.STALE})

Status = Literal["accepted", "dropped", "missed", "refused", "proposed"]


@dataclass(frozen=True, slots=True)
class EditResult:
    """One edit as the night leaves it: its verdict, and what its pattern knows of it.

    `rule` is the identity that survives rewording, by default the pattern's own (`edit.origin`). `status` is set where
    the edit never came to the gate (missed, refused by the screen, dropped); else it follows from the verdict.
    """

    edit: Edit
    verdict: Verdict
    title: str
    rule: str = ""
    predicate: str = ""
    stake: Stake | None = None
    quotes: tuple[Quote, ...] = ()
    status: Status | None = None
    why: str = ""
    self_healing: bool = False


@dataclass(frozen=True, slots=True)
class Staged:
    """`proposal` is None where nothing is to be adopted; `edits` are all of the night's, also those that fell out."""

    proposal: Proposal | None
    edits: tuple[ProposedEdit, ...]


def stage(
    document: Document,
    base: str | None,
    results: Sequence[EditResult],
    *,
    night: str,
    now_ms: int,
    pins: Sequence[Pin] = (),
) -> Staged:
    """Number the edits as a person wants to read them, and build the proposal of those that may be adopted.

    `base` is the live text, None where there is none (then the skeleton is what the edits apply to). An edit that finds
    no place, or changes nothing, is `missed`. A candidate that differs from the live text by final newlines alone is
    not staged.
    """
    start = base or skeleton(document)
    wanted = [result for result in results if _status(result) in APPLIED]
    candidate, missed = revise(start, [result.edit for result in wanted])
    lost = {id(refused.edit): refused.why for refused in missed}
    edits = _numbered([_shown(result, lost.get(id(result.edit))) for result in results])
    standing = tuple(edit for edit in edits if edit.status in APPLIED)
    if not standing or same(base or "", candidate):
        return Staged(None, edits)
    digest = Skill(base or "").digest
    verdict = weakest(standing)
    proposal = Proposal(
        id=_id(document, digest, standing),
        night=night,
        document=document,
        base=base or "",
        base_digest=digest,
        candidate=candidate,
        edits=standing,
        verdict=verdict,
        state=ProposalState.STAGED if verdict.outcome in PLAIN else ProposalState.ON_TRIAL,
        created_ms=now_ms,
        pins=tuple(pins),
    )
    return Staged(proposal, edits)


def weakest(edits: Sequence[ProposedEdit]) -> Verdict:
    """The proposal's verdict: of its weakest edit that is adopted plainly; where there is none, of its best edit."""
    plain = [edit.verdict for edit in edits if edit.verdict.outcome in PLAIN]
    if plain:
        return max(plain, key=lambda verdict: (_ORDER[verdict.outcome], -(verdict.e or 0.0)))
    return min((edit.verdict for edit in edits), key=lambda verdict: (_ORDER[verdict.outcome], -(verdict.e or 0.0)))


def among(known: Iterable[Proposal], new: Proposal) -> tuple[Proposal, ...]:
    """What to keep when `new` is staged: older open proposals for its document as superseded, and `new` itself.

    The same content keeps its id and takes the newer evidence; what a person has adopted or rejected is not staged
    again (then `new` is not among them, and nothing else changes).
    """
    of_document = [proposal for proposal in known if proposal.document == new.document]
    if any(proposal.id == new.id and proposal.state in _DECIDED for proposal in of_document):
        return ()
    older = [proposal for proposal in of_document if proposal.id != new.id and proposal.state in _OPEN]
    return (*(replace(proposal, state=ProposalState.SUPERSEDED) for proposal in older), new)


_DECIDED: Final = frozenset({ProposalState.ADOPTED, ProposalState.REJECTED})


def freshened(proposal: Proposal, live: str | None) -> Proposal:
    """Stale where the live text is no longer the one that the proposal was made from; open again where it is."""
    if proposal.state not in _OPEN:
        return proposal
    if (live or "") != proposal.base:
        return replace(proposal, state=ProposalState.STALE)
    plain = proposal.verdict.outcome in PLAIN
    return replace(proposal, state=ProposalState.STAGED if plain else ProposalState.ON_TRIAL)


def in_reading_order(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Proven ones first, then supported ones by what is at stake, then those that are not proven yet."""
    return tuple(sorted(proposals, key=lambda p: (_ORDER[p.verdict.outcome], -_at_stake(p), p.document.name, p.id)))


def by_number(edits: Iterable[ProposedEdit]) -> tuple[ProposedEdit, ...]:
    return tuple(sorted(edits, key=lambda edit: edit.n))


def _at_stake(proposal: Proposal) -> float:
    counted = [edit for edit in proposal.edits if edit.verdict.outcome is proposal.verdict.outcome]
    return sum(edit.stake.output_share for edit in counted if edit.stake)


def _status(result: EditResult) -> Status:
    if result.status is not None:
        return result.status
    if result.verdict.outcome in STAGED:
        return "accepted" if result.verdict.outcome in PLAIN else "proposed"
    return "refused" if result.verdict.outcome is Outcome.REJECT else "dropped"


def _shown(result: EditResult, missed: str | None) -> ProposedEdit:
    return ProposedEdit(
        n=0,
        edit=result.edit,
        status=_status(result) if missed is None else "missed",
        verdict=result.verdict,
        rule=result.rule or result.edit.origin or _digest([result.edit.op, result.edit.anchor, result.edit.text]),
        title=result.title,
        predicate=result.predicate,
        stake=result.stake,
        provenance=result.quotes,
        why=missed or result.why or result.verdict.why,
        self_healing=result.self_healing,
    )


def _numbered(edits: Sequence[ProposedEdit]) -> tuple[ProposedEdit, ...]:
    """The edits where they stand, numbered from 1: proven before others, by stake, what heals itself last."""

    def rank(at: int) -> tuple[bool, int, bool, float, float, int]:
        edit = edits[at]
        share, actions = (edit.stake.output_share, edit.stake.actions) if edit.stake else (0.0, 0)
        return edit.status not in APPLIED, _ORDER[edit.verdict.outcome], edit.self_healing, -share, -actions, at

    numbers = {at: n for n, at in enumerate(sorted(range(len(edits)), key=rank), 1)}
    return tuple(replace(edit, n=numbers[at]) for at, edit in enumerate(edits))


def _id(document: Document, base: str, edits: Sequence[ProposedEdit]) -> str:
    content = [[edit.edit.op, edit.edit.anchor, edit.edit.text] for edit in edits]
    return "p-" + _digest([document.name, document.kind, document.scope, base, content])


def _digest(of: object) -> str:
    return hashlib.sha256(json.dumps(of, ensure_ascii=True).encode()).hexdigest()[:10]
