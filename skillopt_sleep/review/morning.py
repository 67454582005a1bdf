"""What a tired person gets in ten seconds: what is proposed, why to believe it, what it saves, what to type next."""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_core.types import Outcome
from skillopt_sleep.domain.proposals import ProposedEdit
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.review import words


@dataclass(frozen=True, slots=True)
class Morning:
    """Plain text, shortest first; `command` is what `then` says to type, empty where there is nothing to type."""

    what: str
    more: str
    why: str
    saved: str
    then: str
    command: str


def morning(report: NightReport) -> Morning:
    """The head of every rendering of a night."""
    edits = [edit for document in report.documents if document.proposal for edit in document.edits]
    good, waiting = words.adoptable(edits), words.waiting(edits)
    if report.state == "failed":
        return _partly_failed(report)
    if report.state == "interrupted":
        return _broken_off(report)
    if not edits:
        return _nothing_learned(report) if report.harvest.sessions else _nothing_read()
    what, more = _what(good, waiting)
    return Morning(what, more, _why(good, waiting), _saved(good), "Look at them:", "skillopt-sleep review")


def _what(good: tuple[ProposedEdit, ...], waiting: tuple[ProposedEdit, ...]) -> tuple[str, str]:
    if not good:
        return "Nothing to adopt this morning", f"{words.count(len(waiting), 'rule is', 'rules are')} not proven yet."
    proven = sum(edit.verdict.outcome is Outcome.ACCEPT for edit in good)
    kinds = [f"{n} {word}" for n, word in ((proven, "proven"), (len(good) - proven, "supported")) if n]
    more = f"; {words.count(len(waiting), 'more is', 'more are')} not proven yet" if waiting else ""
    return f"{words.count(len(good), 'rule')} ready to adopt", f"{', '.join(kinds)}{more}."


def _why(good: tuple[ProposedEdit, ...], waiting: tuple[ProposedEdit, ...]) -> str:
    if not good:
        return f"The nearest one needs {words.needs(waiting[0].verdict)}."
    recorded = [edit.verdict.counts for edit in good if edit.verdict.evidence == "recorded"]
    parts = []
    if recorded:
        spared, broken = (sum(counts.get(name, 0) for counts in recorded) for name in ("prevented", "broken"))
        saw = f"{words.count(spared, 'wasted action')} spared, {words.number(broken) if broken else 'none'} broken"
        parts.append(f"Replayed on your own later sessions: {saw}.")
    if measured := len(good) - len(recorded):
        parts.append(f"{words.count(measured, 'rule')} measured on tasks that it was not made from.")
    return " ".join(parts)


def _saved(good: tuple[ProposedEdit, ...]) -> str:
    stake = words.total(good)
    if stake is None:
        return ""
    wasted = f"{words.count(stake.actions, 'action')}, {words.share(stake.output_share)} of all they wrote"
    return f"Without them your agents wasted {wasted}, in {words.rate(stake.per_week)}."


def _partly_failed(report: NightReport) -> Morning:
    what = f"A part of the night failed{f': {report.error}' if report.error else ''}"
    return Morning(what, "", "The rest went on.", "", "Look at what there is:", "skillopt-sleep review")


def _broken_off(report: NightReport) -> Morning:
    what = f"The night was interrupted{f': {report.error}' if report.error else ''}"
    return Morning(
        what, "", "Nothing that was paid for is lost.", "", "Go on where it was:", "skillopt-sleep run --resume"
    )


def _nothing_read() -> Morning:
    return Morning(
        "No session was found",
        "",
        "Without transcripts there is nothing to learn from.",
        "",
        "See where they are looked for:",
        "skillopt-sleep doctor",
    )


def _nothing_learned(report: NightReport) -> Morning:
    seen, rare = report.tasks.patterns, len(report.rare)
    why = f"{words.count(seen, 'pattern')} seen in {words.count(report.harvest.sessions, 'session')}"
    if rare:
        why += f"; {words.count(rare, 'thing')} too rare to test yet"
    return Morning("Nothing to propose this morning", "", f"{why}.", "", "See what was found:", "skillopt-sleep tasks")
