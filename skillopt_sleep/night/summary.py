"""What the morning is told: gathered while the night goes, frozen at its end, written as three files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from skillopt_core.gate import standing_out
from skillopt_core.types import Outcome, Verdict
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Pattern, Stake
from skillopt_sleep.domain.reports import (
    DocumentResult,
    HarvestCounts,
    NightReport,
    Recurring,
    RefusedAction,
    StandingOut,
    TaskCounts,
    TooRare,
    TrialLine,
    Watched,
)
from skillopt_sleep.domain.world import World
from skillopt_sleep.errors import NightFailed, SleepError, StoreError
from skillopt_sleep.mine import Mined
from skillopt_sleep.night.journal import Journal
from skillopt_sleep.review.documents import night_document
from skillopt_sleep.review.report import save

MOST_RECURRING: Final = 25
MOST_RARE: Final = 15
FALSE_DISCOVERIES: Final = 0.05
LEAST_UNITS: Final = 5
OPEN: Final = frozenset({"running", "accepted"})
"""States of trials that may yet be adopted: what is proven this morning may be proven by chance."""
"""Of a recorded rule, to be in the list that e-BH reads (gate.md, thresholds)."""


@dataclass
class Tally:
    """What the night has found so far."""

    harvest: HarvestCounts = field(default_factory=HarvestCounts)
    projects: tuple[str, ...] = ()
    frictions: tuple[Friction, ...] = ()
    refusals: list[RefusedAction] = field(default_factory=list)
    recurring: list[Recurring] = field(default_factory=list)
    rare: list[TooRare] = field(default_factory=list)
    tasks: Counter[str] = field(default_factory=Counter)
    documents: list[DocumentResult] = field(default_factory=list)
    trials: list[TrialLine] = field(default_factory=list)
    measured: dict[str, tuple[str, Verdict]] = field(default_factory=dict)
    watch: list[Watched] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    first_ms: int | None = None
    last_ms: int | None = None

    def take(self, found: Mined) -> None:
        """Add what was mined of one project."""
        self.frictions = found.frictions
        every = (*found.patterns, *found.rare)
        self.refusals += [_refused(p) for p in every if p.friction is FrictionKind.REFUSAL]
        self.recurring += [_recurring(p) for p in found.patterns if p.friction is not FrictionKind.REFUSAL]
        self.rare += [_rare(p) for p in found.rare if p.friction is not FrictionKind.REFUSAL]
        self.rare += [_rare(p) for p in found.patterns if p.too_rare and p.friction is not FrictionKind.REFUSAL]
        self.tasks["patterns"] += len(found.patterns) + len(found.requests)
        times = [episode.began_ms for episode in found.episodes]
        self.first_ms = min([*times, *([self.first_ms] if self.first_ms is not None else [])], default=None)
        self.last_ms = max([*times, *([self.last_ms] if self.last_ms is not None else [])], default=None)

    def take_kinds(self, kinds: Sequence[Pattern], said: Sequence[str]) -> None:
        """Add what a model found in one project, and what is to be said of its work."""
        self.recurring += [_recurring(kind) for kind in kinds]
        self.tasks["patterns"] += len(kinds)
        self.warnings += said

    def take_verdict(self, rule: str, title: str, verdict: Verdict) -> None:
        """Add what a rule was measured to be on recordings: a part of the list that is looked at as a whole."""
        if verdict.evidence == "recorded" and verdict.units:
            self.measured[rule] = (title, verdict)

    def count_tasks(self, tasks: int, sides: dict[str, int]) -> None:
        self.tasks["mined"] += tasks
        self.tasks.update(sides)


def write_report(world: World, journal: Journal, tally: Tally) -> NightReport:
    """Freeze the report, write Markdown, JSON and HTML, close the night. Raises `NightFailed` from a skill's error."""
    report = _frozen(world, journal, tally)
    if not world.dry_run:
        report = _saved(report, world.home.reports)
    document = night_document(report)
    journal.end(document, report.error)
    if journal.failures:
        what, first = journal.failures[0]
        remedy = f"The rest of the night went on: {report.path}. More is in {world.home.logs}"
        raise NightFailed(_why(journal), where=what, remedy=remedy).beside(document) from first
    return report


def _saved(report: NightReport, folder: Path) -> NightReport:
    try:
        return save(report, folder)
    except OSError as error:
        why = f"the report cannot be written: {(error.strerror or str(error)).lower()}"
        remedy = "Mend that; `skillopt-sleep run` goes on where it was"
        raise StoreError(why, where=str(folder), remedy=remedy) from error


def _frozen(world: World, journal: Journal, tally: Tally) -> NightReport:
    state: Literal["done", "failed", "budget"] = "budget" if journal.exhausted else "done"
    if journal.failures:
        state = "failed"
    cut_short = [f"stopped by the budget: {journal.exhausted}"] if journal.exhausted else []
    warnings = [*tally.warnings, *cut_short, *world.store.warnings]
    return NightReport(
        night=journal.id,
        backend=world.backend,
        evidence=world.evidence,
        began_ms=journal.row.begun_ms,
        ended_ms=world.clock.now_ms(),
        harvest=tally.harvest,
        tasks=TaskCounts(
            tally.tasks["patterns"],
            tally.tasks["mined"],
            tally.tasks["train"],
            tally.tasks["gate"],
            tally.tasks["audit"],
        ),
        budget=world.spending(journal.id),
        documents=tuple(sorted(tally.documents, key=_order)),
        refusals=tuple(sorted(tally.refusals, key=lambda r: (-_share(r.stake), -r.times, r.action))),
        recurring=tuple(_ranked(tally.recurring)[:MOST_RECURRING]),
        rare=tuple(sorted(tally.rare, key=lambda r: (-r.sessions, r.title))[:MOST_RARE]),
        trials=tuple(tally.trials),
        watch=tuple(tally.watch),
        models=tuple(world.models_used(journal.id)),
        warnings=tuple(warnings),
        skipped=tally.harvest.skipped,
        projects=tally.projects,
        first_session_ms=tally.first_ms,
        last_session_ms=tally.last_ms,
        as_of_ms=world.as_of_ms,
        false_adoptions=_expected(tally.trials, recorded=False),
        false_support=_expected(tally.trials, recorded=True),
        standing_out=_standing_out(tally.measured),
        state=state,
        error=_said(journal),
    )


def _said(journal: Journal) -> str:
    return f"{journal.failures[0][0]}: {_why(journal)}" if journal.failures else journal.exhausted


def _why(journal: Journal) -> str:
    """What the first failure was; of an unforeseen one its kind alone: its words may quote what was read."""
    error, others = journal.failures[0][1], len(journal.failures) - 1
    said = error.message if isinstance(error, SleepError) else type(error).__name__
    return f"{said} (and {others} more)" if others else said


def _order(result: DocumentResult) -> tuple[int, str]:
    outcomes = list(Outcome)
    return (outcomes.index(result.verdict.outcome) if result.verdict else len(outcomes), result.document.name)


def _refused(pattern: Pattern) -> RefusedAction:
    reasons = tuple(quote for quote in pattern.quotes if quote.author == "person")
    return RefusedAction(
        action=pattern.title,
        times=len(pattern.members),
        sessions=len(pattern.sessions),
        reasons=reasons,
        person=pattern.person,
        stake=pattern.stake,
    )


def _recurring(pattern: Pattern) -> Recurring:
    return Recurring(
        title=pattern.title,
        kind=pattern.friction or FrictionKind.CORRECTION,
        times=len(pattern.members),
        sessions=len(pattern.sessions),
        last_ms=pattern.last_ms,
        stake=pattern.stake,
        quotes=pattern.quotes,
        self_healing=pattern.self_healing,
    )


def _rare(pattern: Pattern) -> TooRare:
    why = "seen in one session" if len(pattern.sessions) < 2 else "nothing after its second session to test it on"
    return TooRare(pattern.title, pattern.friction or FrictionKind.CORRECTION, len(pattern.sessions), why)


def _ranked(recurring: Sequence[Recurring]) -> list[Recurring]:
    return sorted(recurring, key=lambda r: (r.self_healing, -_share(r.stake), -r.times, r.title))


def _share(stake: Stake | None) -> float:
    return stake.output_share if stake else 0.0


def _expected(trials: Sequence[TrialLine], *, recorded: bool) -> float | None:
    """The sum of alpha over trials that go on, and over those that were accepted and wait for somebody to adopt them.

    Those of recorded evidence can only be supported. None where nothing is on trial at all.
    """
    open_ones = (one for one in trials if one.state in OPEN and (one.evidence == "recorded") is recorded)
    return math.fsum(one.alpha for one in open_ones) if trials else None


def _standing_out(measured: Mapping[str, tuple[str, Verdict]]) -> StandingOut | None:
    """What e-BH keeps of the rules with enough units, None where there is no such list."""
    listed = {rule: verdict for rule, (_, verdict) in measured.items() if len(verdict.units) >= LEAST_UNITS}
    if not listed:
        return None
    kept = standing_out(listed, FALSE_DISCOVERIES, LEAST_UNITS)
    return StandingOut(len(listed), tuple(measured[rule][0] for rule in kept), FALSE_DISCOVERIES)
