"""The night as Markdown, and the three files that a night leaves in the morning: Markdown, JSON, one HTML page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from skillopt_sleep.domain.frictions import Quote
from skillopt_sleep.domain.proposals import ProposedEdit
from skillopt_sleep.domain.reports import DocumentResult, NightReport, Recurring, StandingOut
from skillopt_sleep.paths import replace_file
from skillopt_sleep.review import words
from skillopt_sleep.review.documents import night_document
from skillopt_sleep.review.lines import in_order, read_line, spent_line
from skillopt_sleep.review.morning import morning
from skillopt_sleep.review.page import MOST_QUOTED, page
from skillopt_sleep.review.plain import code, markdown, markdown_rule, one_line
from skillopt_sleep.review.stage import by_number


def save(report: NightReport, folder: Path) -> NightReport:
    """Write `NIGHT.md`, `NIGHT.json` and `NIGHT.html` into the folder (0700, files 0600), each whole or not at all.

    The report with the path of its page.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = "".join(c if c.isalnum() or c in "-." else "-" for c in report.night).strip(".")
    named = replace(report, path=str(folder / f"{stem}.html"))
    texts = {"md": as_markdown(named), "json": as_json(named), "html": page(named)}
    for ending, text in texts.items():
        replace_file(folder / f"{stem}.{ending}", text.encode())
    return named


def as_json(report: NightReport) -> str:
    return json.dumps(night_document(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_markdown(report: NightReport) -> str:
    """The whole report; everything that comes from transcripts is escaped."""
    head = morning(report)
    parts = [
        f"# Night of {words.day(report.ended_ms)}",
        f"**{markdown(head.what)}** {markdown(head.more)}".rstrip(),
        markdown(head.why),
        markdown(head.saved),
        f"{markdown(head.then)} {code(head.command)}" if head.command else "",
        *(_document(document) for document in report.documents),
        _section("What was refused, and why", _refusals(report)),
        _section("What comes back", _recurring(report.recurring)),
        _section("Seen, too rare to test", (f"- {markdown_rule(r.title)}: {markdown(r.why)}" for r in report.rare)),
        _section("On trial", _trials(report)),
        _section("The list as a whole", _standing_out(report.standing_out)),
        _section("Adopted, and watched", _watched(report)),
        _section("What was read", _read(report)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"## {title}\n\n{body}" if body else ""


def _document(document: DocumentResult) -> str:
    edits = by_number(document.edits)
    lines = [f"## {markdown(words.title_of(document.document))}: {words.outcome_of(document)}"]
    if document.error:
        lines.append(f"It failed, and the night went on without it: {markdown(document.error)}")
    groups = (
        ("", words.adoptable(edits)),
        ("### Not proven yet", words.waiting(edits)),
        ("### Not proposed", words.fallen(edits)),
    )
    for title, group in groups:
        if group:
            lines += [title] if title else []
            lines.append("\n".join(line for edit in group for line in _edit(edit)))
    lines += [f"> {markdown(caveat)}" for caveat in words.caveats(edits)]
    command = words.next_command(document.proposal, edits)
    return "\n\n".join([*lines, *([f"Next: {code(command)}"] if command else [])])


def _edit(edit: ProposedEdit) -> list[str]:
    lines = [f"{edit.n}. {code(words.rule_text(edit))} ({words.tag(edit)})"]
    wanted = words.needs(edit.verdict)
    facts = [
        ("Seen", words.seen(edit)),
        ("Figures", words.figures(edit.verdict)),
        ("Needs", wanted if wanted != words.seen(edit) else ""),
        ("Stake", words.stake_words(edit.stake)),
        ("Figures are for", words.reading(edit)),
    ]
    lines += [f"   - {name}: {markdown(text)}" for name, text in facts if text]
    lines += [f"   - {_quoted(said)}" for said in edit.provenance[:3]]
    return lines


def _quoted(said: Quote) -> str:
    return f"“{markdown(one_line(said.text, MOST_QUOTED))}” ({words.by(said)})"


def _refusals(report: NightReport) -> Iterable[str]:
    for refused in report.refusals:
        named = refused.person and refused.person not in refused.action
        who = f" by {markdown(refused.person)}" if named else ""
        action = markdown_rule(refused.action) if "`" in refused.action else code(refused.action)
        times = f"{words.count(refused.times, 'time')} in {words.count(refused.sessions, 'session')}"
        cost = f" ({markdown(words.stake_words(refused.stake))})" if refused.stake else ""
        yield f"- {action}, {times}{who}{cost}"
        yield from (f"  - {_quoted(said)}" for said in refused.reasons[:3])
        if not refused.reasons:
            yield "  - no reason was given"


def _recurring(recurring: Sequence[Recurring]) -> Iterable[str]:
    """By what is at stake; what heals itself comes last."""
    for seen in in_order(recurring):
        times = f"{words.count(seen.times, 'time')} in {words.count(seen.sessions, 'session')}"
        cost = f", {words.share(seen.stake.output_share)} of all output" if seen.stake else ""
        heals = "; it mends itself" if seen.self_healing else ""
        yield f"- {markdown_rule(seen.title)} ({seen.kind}): {times}{cost}{heals}"


def _trials(report: NightReport) -> Iterable[str]:
    for trial in report.trials:
        yield f"- {markdown_rule(trial.title)}: {markdown(words.trial_words(trial))}"
    yield from (f"- {markdown(line)}" for line in words.chance_words(report))


def _standing_out(found: StandingOut | None) -> Iterable[str]:
    if found is not None:
        yield f"{markdown(words.list_words(found))}."
        yield from ["", *(f"- {markdown_rule(title)}" for title in found.titles)] if found.titles else []


def _watched(report: NightReport) -> Iterable[str]:
    for seen in report.watch:
        yield f"- {markdown_rule(seen.title)}: {markdown(words.watched_words(seen))}"


def _read(report: NightReport) -> Iterable[str]:
    harvest = report.harvest
    yield f"- {markdown(read_line(report))}"
    if harvest.skipped:
        yield f"- Left out: {', '.join(f'{n:,} {markdown(why)}' for why, n in harvest.skipped.items())}"
    yield from (f"- Not readable: {code(gone.path)}: {markdown(gone.reason)}" for gone in harvest.unreadable[:20])
    yield from (f"- Warning: {markdown(warning)}" for warning in report.warnings)
    yield f"- {markdown(spent_line(report))}"
