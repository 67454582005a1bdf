"""The JSON documents of cli.md for a night, a proposal, an adoption and a rejection. What was not computed is null."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skillopt_core.types import UnitScore, Verdict
from skillopt_sleep.clock import iso
from skillopt_sleep.domain.frictions import Quote, Stake
from skillopt_sleep.domain.proposals import Adoption, Decision, Proposal, ProposedEdit, Written
from skillopt_sleep.domain.reports import (
    BudgetReport,
    DocumentResult,
    HarvestCounts,
    ModelUse,
    NightReport,
    Spent,
    TaskCounts,
    Watched,
)
from skillopt_sleep.review import words
from skillopt_sleep.review.diffs import unified
from skillopt_sleep.review.plan import digest
from skillopt_sleep.review.stage import by_number

Json = dict[str, object]


def night_document(report: NightReport) -> Json:
    """`run` (cli.md)."""
    return {
        "format": 1,
        "night": report.night,
        "backend": report.backend,
        "evidence": report.evidence,
        "harvest": harvest_document(report.harvest),
        "tasks": _tasks(report.tasks),
        "budget": _budget(report.budget),
        "skills": [_skill(document) for document in report.documents],
        "trials": [
            {
                "id": trial.id,
                "skill": trial.skill,
                "e_value": finite(trial.e_value),
                "nights": trial.nights,
                "state": trial.state,
            }
            for trial in report.trials
        ],
        "watch": [_watched(watched) for watched in report.watch],
        "models": [_model(use) for use in report.models],
        "warnings": list(report.warnings),
        "report": report.path,
    }


def harvest_document(harvest: HarvestCounts) -> Json:
    """`harvest` (cli.md), without the format's number where it stands inside another document."""
    return {
        "files": harvest.files,
        "bytes": harvest.bytes,
        "seconds": round(harvest.seconds, 3),
        "sessions": {"new": harvest.new, "updated": harvest.updated, "unchanged": harvest.unchanged},
        "skipped": dict(harvest.skipped),
        "warnings": [{"path": w.path, "line": w.line, "reason": w.reason} for w in harvest.warnings],
        "unreadable": [{"path": u.path, "reason": u.reason} for u in harvest.unreadable],
        "pending": harvest.pending,
    }


def proposal_document(proposal: Proposal) -> Json:
    """`review`, one proposal a line (cli.md)."""
    return {
        "format": 1,
        "proposal": proposal.id,
        "skill": proposal.document.name,
        "state": str(proposal.state),
        "verdict": str(proposal.verdict.outcome),
        "headline": words.summary(proposal),
        "diff": unified(proposal),
        "edits": [edit_document(edit) for edit in by_number(proposal.edits)],
        "evidence": evidence_document(proposal.verdict) | {"quotes_forgotten": proposal.quotes_forgotten},
        "needs": words.needs(proposal.verdict) or None,
    }


def edit_document(edit: ProposedEdit) -> Json:
    """One edit: the keys of cli.md, and what its verdict says beside them."""
    return {
        "n": edit.n,
        "op": edit.edit.op,
        "anchor": edit.edit.anchor,
        "text": edit.edit.text,
        "status": edit.status,
        "why": edit.why or edit.verdict.why,
        "provenance": [_quote(quote) for quote in edit.provenance],
        "rule": edit.rule,
        "title": edit.title,
        "verdict": str(edit.verdict.outcome),
        "needs": words.needs(edit.verdict) or None,
        "predicate": edit.predicate or None,
        "stake": _stake(edit.stake),
        "evidence": evidence_document(edit.verdict),
    }


def evidence_document(verdict: Verdict) -> Json:
    """Every number that a verdict rests on, with its table of units."""
    return {
        "kind": verdict.evidence,
        **_figures(verdict),
        "e_reverse": finite(verdict.e_reverse),
        "deterministic": verdict.deterministic,
        "counts": {name: finite(value) for name, value in verdict.counts.items()},
        "why": verdict.why,
        "units": [_unit(unit) for unit in verdict.units],
    }


def adoption_document(adoption: Adoption, error: Json | None = None) -> Json:
    """`adopt` and `rollback` (cli.md): one row an agent, also where two agents share a file.

    `before` and `after` are SHA-256 digests of the file, null where there is none. A refusal carries its error too.
    """
    rows = [_target(written, agent) for written in adoption.targets for agent in written.target.agents]
    document: Json = {
        "format": 1,
        "adoption": adoption.id or None,
        "proposal": adoption.proposal,
        "edits": list(adoption.edits),
        "targets": rows,
    }
    return document if error is None else {**document, "error": error}


def rejection_document(decision: Decision) -> Json:
    """`reject`: like `adopt`, with no target."""
    return {
        "format": 1,
        "adoption": None,
        "proposal": decision.proposal,
        "edits": list(decision.edits),
        "targets": [],
        "state": "rejected",
        "why": decision.why,
    }


def finite(x: float | None) -> float | None:
    """A number that JSON has: an infinite E-value becomes the largest float, no number at all null."""
    if x is None or math.isnan(x):
        return None
    return math.copysign(1.7976931348623157e308, x) if math.isinf(x) else x


def _skill(document: DocumentResult) -> Json:
    verdict, edits = document.verdict, by_number(document.edits)
    shown = words.adoptable(edits) or words.waiting(edits)
    figures = _figures(verdict) if verdict else dict.fromkeys(_FIGURES)
    return {
        "skill": document.document.name,
        "verdict": str(verdict.outcome) if verdict else None,
        **figures,
        "understood": finite(document.understood),
        "predicate": _predicate(verdict, shown),
        "stake": _stake(words.total(shown)),
        "edits": [edit_document(edit) for edit in edits],
        "proposal": document.proposal,
        "next": words.next_command(document.proposal, edits) or None,
    }


_FIGURES = (
    "metric",
    "before",
    "after",
    "effect",
    "interval",
    "p",
    "e_value",
    "alpha",
    "pairs",
    "coverage",
    "opened",
)


def _figures(verdict: Verdict) -> Json:
    interval = None if verdict.interval is None else [finite(bound) for bound in verdict.interval]
    values = (
        verdict.metric,
        finite(verdict.before),
        finite(verdict.after),
        finite(verdict.effect),
        interval,
        finite(verdict.p),
        finite(verdict.e),
        finite(verdict.alpha),
        verdict.pairs,
        finite(verdict.coverage),
        finite(verdict.opened),
    )
    return dict(zip(_FIGURES, values, strict=True))


def _predicate(verdict: Verdict | None, edits: Sequence[ProposedEdit]) -> str | None:
    """The reading that the document's figures belong to: that of the edit whose verdict they are."""
    return next((edit.predicate for edit in edits if edit.verdict == verdict and edit.predicate), None)


def _tasks(tasks: TaskCounts) -> Json:
    return {
        "patterns": tasks.patterns,
        "mined": tasks.mined,
        "train": tasks.train,
        "gate": tasks.gate,
        "audit": tasks.audit,
    }


def _budget(budget: BudgetReport) -> Json:
    lines: dict[str, Spent] = {
        "tokens": budget.tokens,
        "calls": budget.calls,
        "usd": budget.usd,
        "seconds": budget.seconds,
    }
    return {name: {"limit": spent.limit, "spent": spent.spent, "exact": spent.exact} for name, spent in lines.items()}


def _model(use: ModelUse) -> Json:
    return {
        "role": use.role,
        "backend": use.backend,
        "model": use.model,
        "host": use.host,
        "prompts": use.prompts,
        "failed": dict(use.failed),
    }


def _watched(watched: Watched) -> Json:
    """An adopted rule; `effect` is the breach rate without the rule minus with it, like with like."""
    found = watched.observed
    return {
        "rule": watched.rule,
        "skill": watched.skill,
        "sessions": watched.sessions,
        "before": finite(watched.before),
        "after": finite(watched.after),
        "finding": watched.finding,
        "adoption": watched.adoption or None,
        "says": watched.says or None,
        "pairs": found.pairs if found else None,
        "unmatched": found.unmatched if found else None,
        "effect": finite(found.effect) if found else None,
        "interval": [finite(bound) for bound in found.interval] if found and found.interval else None,
        "e_value": finite(found.e) if found else None,
        "e_reverse": finite(found.e_reverse) if found else None,
    }


def _stake(stake: Stake | None) -> Json | None:
    if stake is None:
        return None
    return {"actions": stake.actions, "output_share": finite(stake.output_share), "per_week": finite(stake.per_week)}


def _quote(quote: Quote) -> Json:
    return {"session": quote.session, "at": iso(quote.at_ms), "author": quote.author, "quote": quote.text}


def _unit(unit: UnitScore) -> Json:
    return {
        "unit": unit.unit,
        "at": iso(unit.began) if unit.began else None,
        "before": finite(unit.before),
        "after": finite(unit.after),
        "d": finite(unit.d),
        "pairs": unit.pairs,
        "tasks": list(unit.tasks),
        "note": unit.note,
    }


def _target(written: Written, agent: str) -> Json:
    return {
        "agent": agent,
        "path": written.target.path,
        "state": written.state,
        "before": digest(written.before),
        "after": digest(written.after),
        "why": written.why or None,
    }
