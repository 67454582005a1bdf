"""From what was practised on one document to its proposal and its lines in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from skillopt_core.memory import Rejection, normalised
from skillopt_core.types import Edit, Evolution, Outcome, Refused, Skill, Verdict
from skillopt_sleep.critics.grammar import render, section
from skillopt_sleep.domain.proposals import Adoption, Decision, Document, Pin, Proposal
from skillopt_sleep.domain.reports import DocumentResult, TrialLine
from skillopt_sleep.domain.world import World
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.night import records
from skillopt_sleep.night.plan import RULES, Subject
from skillopt_sleep.review.adopt import adopt
from skillopt_sleep.review.choose import proven_enough
from skillopt_sleep.review.stage import EditResult, among, stage
from skillopt_sleep.review.targets import pins
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.proposals import decide, proposals, save_proposal

Status = Literal["accepted", "dropped", "missed", "refused", "proposed"]

WORTH_SHOWING: Final = 5
"""Edits that are not proven, and edits that hurt, which the morning shows of one document: those with the most at
stake. The rest goes on gathering evidence, and `status` and `show` have it."""

ORDER: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}


@dataclass(frozen=True, slots=True)
class Practised:
    """What one subject came to: journaled, and staged from the journal. `status` is "" where the verdict decides.

    `exhausted`: the budget was out before it came to a verdict, or before all of it was measured. `agent` is who
    attempted, "" where recordings were replayed.
    """

    edit: Edit
    verdict: Verdict
    live: str
    candidate: str
    status: Status | Literal[""] = ""
    why: str = ""
    exhausted: bool = False
    agent: str = ""


def practised(one: Subject, live: Skill, evolution: Evolution) -> Practised:
    """The one edit of an evolution with its verdict, or why it never came to one."""
    step = next(iter(evolution.steps), None)
    if step is None or step.verdict is None:
        out = evolution.stopped == "budget"
        why = "the budget was out" if out else "nothing was tried"
        verdict = Verdict(Outcome.ABSTAIN, why, needs=why)
        return Practised(planned_edit(one), verdict, live.digest, "", "dropped", why, out)
    if step.patch.edits:
        candidate = step.candidate.digest if step.candidate else live.digest
        return Practised(step.patch.edits[0], step.verdict, live.digest, candidate)
    lost = next(iter(step.patch.refused), None) or Refused(planned_edit(one), "the critic phrased nothing", "dropped")
    return Practised(lost.edit, step.verdict, live.digest, "", lost.kind, lost.why)


def remembered(one: Subject, live: Skill, rejected: Sequence[Rejection]) -> Rejection | None:
    """What is remembered of these words on this very text; where they would go follows from the two."""
    said = normalised(planned_edit(one).text)
    return next((row for row in rejected if row.skill == live.digest and normalised(row.text) == said), None)


def tried_before(one: Subject, live: Skill, before: Rejection) -> Practised:
    """A rule whose edit was paid for and given up on this very text: refused before anything is attempted."""
    why = f"tried before on this text ({before.outcome}): {before.reason}"
    verdict = Verdict(Outcome.NO_CHANGE, why, needs="another live text, or another wording")
    return Practised(planned_edit(one), verdict, live.digest, "", "refused", why)


def unchecked(one: Subject, live: Skill) -> Practised:
    """A rule that no predicate reads: worth a person's look, never more than that."""
    verdict = Verdict(
        Outcome.UNVERIFIED,
        "no predicate on commands, edits or outcomes can check it",
        evidence="recorded",
        needs="your judgement",
    )
    return Practised(planned_edit(one), verdict, live.digest, "")


def planned_edit(one: Subject) -> Edit:
    """The edit as it would have been made."""
    if one.edit is not None:
        return one.edit
    anchor = section(one.sentence) if one.document.kind == "learned" else RULES
    return Edit("add", anchor, render(one.sentence), origin=one.rule)


def stage_document(
    world: World,
    night: str,
    document: Document,
    results: Sequence[tuple[Subject, Practised]],
    further: Sequence[EditResult] = (),
) -> tuple[DocumentResult, list[TrialLine], list[str]]:
    """Keep the document's trials and verdicts, stage its proposal, and say what became of it, with warnings.

    `further` edits were measured together with each other. A backtest by hand and a dry run keep nothing.
    """
    keeps = world.as_of_ms is None and not world.dry_run
    lines = [line for one, done in results if keeps and (line := kept(world, night, one, done))]
    live = world.live(document)
    shown = [*further, *(_result(one, done) for one, done in _worth_showing(results))]
    staged = stage(
        document, live, shown, night=night, now_ms=world.clock.now_ms(), pins=_pins(world, document) if keeps else ()
    )
    name = _save(world, staged.proposal) if keeps and staged.proposal else None
    warnings = list(_adopted_by_itself(world, staged.proposal)) if name and staged.proposal else []
    verdict = staged.proposal.verdict if staged.proposal else _best(results, further)
    return DocumentResult(document, verdict, staged.edits, name), lines, warnings


def kept(world: World, night: str, one: Subject, done: Practised) -> TrialLine | None:
    """Keep what was measured, and the trial that it is part of; None for what is not on trial."""
    records.keep_origin(world.store, one)
    if done.candidate:
        mode, agent = world.config.gate.mode, done.agent or world.attempter()["name"]
        records.keep_verdict(world.store, night, one, done.live, done.candidate, done.verdict, mode=mode, agent=agent)
    now = world.clock.now_ms()
    trial = records.keep_trial(world.store, night, one, done.live, done.candidate, done.verdict, now, done.agent)
    if trial is None:
        return None
    if trial.state == "dropped" and done.verdict.evidence != "recorded":
        records.keep_rejection(world.store, night, done.edit, trial, done.verdict.outcome)
    needs = trial.why if done.verdict.outcome is not Outcome.SUPPORTED else ""
    return TrialLine(
        trial.id, one.document.name, one.title, trial.e, trial.nights, trial.state, needs, trial.alpha,
        done.verdict.evidence,
    )  # fmt: skip


def _result(one: Subject, done: Practised) -> EditResult:
    return EditResult(
        edit=done.edit,
        verdict=done.verdict,
        title=one.title,
        rule=one.rule,
        predicate=one.predicate,
        stake=one.stake,
        quotes=one.quotes,
        status=done.status or None,
        why=done.why,
        self_healing=one.self_healing,
    )


def _worth_showing(results: Sequence[tuple[Subject, Practised]]) -> list[tuple[Subject, Practised]]:
    """All that may be adopted plainly, then the most at stake of the others, by verdict."""
    shown: list[tuple[Subject, Practised]] = []
    counts: dict[Outcome, int] = {}
    for one, done in sorted(results, key=_reading_order):
        counts[done.verdict.outcome] = counts.get(done.verdict.outcome, 0) + 1
        plain = done.verdict.outcome in {Outcome.ACCEPT, Outcome.SUPPORTED}
        if plain or one.edit is not None or counts[done.verdict.outcome] <= WORTH_SHOWING:
            shown.append((one, done))
    return shown


def _reading_order(pair: tuple[Subject, Practised]) -> tuple[int, bool, float]:
    return ORDER[pair[1].verdict.outcome], pair[0].self_healing, -_stake(pair[0])


def _stake(one: Subject) -> float:
    return one.stake.output_share if one.stake else 0.0


def _best(results: Sequence[tuple[Subject, Practised]], further: Sequence[EditResult]) -> Verdict | None:
    verdicts = [*(one.verdict for one in further), *(done.verdict for _, done in results)]
    return min(verdicts, key=lambda verdict: ORDER[verdict.outcome], default=None)


def _pins(world: World, document: Document) -> tuple[Pin, ...]:
    return pins(world.targets(document))


def _adopted_by_itself(world: World, proposal: Proposal) -> Iterator[str]:
    """Automatic adoption, where it was asked for. One that is refused is told: the proposal waits for the person."""
    if not world.config.adopt.auto:
        return
    try:
        adopt_proven(world, proposal)
    except AdoptionError as refused:
        yield f"{proposal.document.name} was not adopted by itself: {refused}"


def adopt_proven(world: World, proposal: Proposal) -> Adoption | None:
    """Automatic adoption, where it was asked for: only edits with `accept` and E of at least 1/alpha (gate.md)."""
    proven = [edit.n for edit in proposal.edits if proven_enough(edit.verdict)]
    if not proven:
        return None
    ledger = Adoptions(world.store)
    adoption = adopt(proposal, proven, world.targets(proposal.document), ledger, world.clock, by="auto")
    decide(world.store, Decision(proposal.id, "adopt", adoption.edits, adoption.at_ms, by="auto"))
    world.progress.say(f"adopted by itself, as you asked: {proposal.document.name} ({adoption.id})")
    return adoption


def _save(world: World, new: Proposal) -> str | None:
    """Keep the proposal, and older open ones of its document as superseded; None where a person decided it already."""
    kept = among(proposals(world.store), new)
    for proposal in kept:
        save_proposal(world.store, replace(proposal))
    return new.id if kept else None
