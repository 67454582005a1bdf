"""Which edits of a proposal a decision takes, and the text that they make.

`accept` and `supported` are adopted plainly, `abstain`, `unverified` and `ungated` only as unproven, nothing else at
all (gate.md, verdicts). Automatic adoption takes `accept` with E >= 1/alpha alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from skillopt_core.types import STAGED, Edit, Outcome, Verdict
from skillopt_sleep.domain.proposals import Proposal, ProposalState, ProposedEdit
from skillopt_sleep.errors import AdoptionError, NotFound
from skillopt_sleep.review.revise import revise
from skillopt_sleep.review.skills import skeleton

PLAIN: Final = frozenset({Outcome.ACCEPT, Outcome.SUPPORTED})
APPLIED: Final = frozenset({"accepted", "proposed"})
"""The statuses of edits that stand in a proposal's candidate; the others are shown only."""


def plain(edit: ProposedEdit) -> bool:
    """May a person adopt this edit without saying `--unproven`?"""
    return edit.status in APPLIED and edit.verdict.outcome in PLAIN


def unproven(edit: ProposedEdit) -> bool:
    """Is this an edit that a person may adopt, but has to say `--unproven` for?"""
    return edit.status in APPLIED and edit.verdict.outcome in STAGED - PLAIN


def proven_enough(verdict: Verdict) -> bool:
    """May it be adopted without a person? `accept` with E >= 1/alpha; a look's p alone never suffices."""
    known = verdict.e is not None and verdict.alpha is not None
    return verdict.proven and known and (verdict.e or 0.0) * (verdict.alpha or 0.0) >= 1.0


def choose(
    proposal: Proposal,
    numbers: Sequence[int] = (),
    *,
    allow_unproven: bool = False,
    by: Literal["person", "auto"] = "person",
) -> tuple[ProposedEdit, ...]:
    """The edits to apply, in the order in which they are applied. Without numbers: all that may be adopted.

    AdoptionError where the proposal or a named edit may not be adopted, NotFound for a number that it has not.
    """
    _open(proposal)
    chosen = _named(proposal, numbers) if numbers else _all(proposal, allow_unproven, by)
    for edit in chosen:
        if (why := _objection(edit, allow_unproven, by)) is not None:
            raise AdoptionError(why[0], where=f"{proposal.id} edit {edit.n}", remedy=why[1])
    if not chosen:
        raise _nothing(proposal, by)
    return chosen


def text_with(proposal: Proposal, chosen: Iterable[ProposedEdit]) -> str:
    """The document with exactly these edits. AdoptionError where one of them cannot stand without another."""
    picked = {edit.n for edit in chosen}
    if picked == {edit.n for edit in proposal.edits if edit.status in APPLIED}:
        return proposal.candidate
    edits: list[Edit] = [edit.edit for edit in proposal.edits if edit.n in picked]
    text, missed = revise(proposal.base or skeleton(proposal.document), edits)
    if missed:
        lost = next(e for e in proposal.edits if e.edit == missed[0].edit)
        raise AdoptionError(
            f"it cannot stand alone: {missed[0].why}",
            where=f"{proposal.id} edit {lost.n}",
            remedy="Take the edits that it builds on too",
        )
    return text


def _open(proposal: Proposal) -> None:
    if proposal.state is ProposalState.SUPERSEDED:
        raise AdoptionError("a later night replaced it", where=proposal.id, remedy="See `skillopt-sleep review`")
    if proposal.state is ProposalState.ADOPTED:
        raise AdoptionError("it is adopted already", where=proposal.id, remedy="See `skillopt-sleep history`")


def _named(proposal: Proposal, numbers: Sequence[int]) -> tuple[ProposedEdit, ...]:
    known = {edit.n for edit in proposal.edits}
    for number in numbers:
        if number not in known:
            most = max(known, default=0)
            raise NotFound(f"no edit {number}", where=proposal.id, remedy=f"Its edits are 1 to {most}")
    return tuple(edit for edit in proposal.edits if edit.n in numbers)


def _all(proposal: Proposal, allow_unproven: bool, by: str) -> tuple[ProposedEdit, ...]:
    if by == "auto":
        return tuple(edit for edit in proposal.edits if plain(edit) and proven_enough(edit.verdict))
    return tuple(edit for edit in proposal.edits if plain(edit) or (allow_unproven and unproven(edit)))


def _objection(edit: ProposedEdit, allow_unproven: bool, by: str) -> tuple[str, str] | None:
    """Why this edit is not adopted, and what to do; None where it is."""
    outcome = edit.verdict.outcome
    if by == "auto" and not proven_enough(edit.verdict):
        return f"{outcome}: not proven enough to adopt without a person", "Run `skillopt-sleep review`"
    if edit.status not in APPLIED:
        return f"it was {edit.status}: {edit.why or edit.verdict.why}", "Leave it out"
    if outcome not in STAGED:
        return f"{outcome}: {edit.verdict.why}", "Leave it out"
    if outcome not in PLAIN and not allow_unproven:
        needs = edit.verdict.needs or "more sessions in which it applies"
        return f"not proven yet ({outcome}): {needs}", "Say --unproven to adopt it all the same"
    return None


def _nothing(proposal: Proposal, by: str) -> AdoptionError:
    if by == "person" and any(map(unproven, proposal.edits)):
        return AdoptionError(
            f"none of its edits is proven yet ({proposal.verdict.outcome})",
            where=proposal.id,
            remedy="Say --unproven to adopt them all the same",
        )
    return AdoptionError("it has no edit that may be adopted", where=proposal.id, remedy="See `skillopt-sleep review`")
