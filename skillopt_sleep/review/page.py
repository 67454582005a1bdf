"""The night as one HTML page: no script, no outside resource, no markup from anyone's text.

The content security policy allows the one style sheet of the page by its digest and nothing else, so even markup that
slipped through could not load or run anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Final

from skillopt_core.types import Outcome, UnitScore
from skillopt_sleep.domain.frictions import Quote
from skillopt_sleep.domain.proposals import ProposedEdit
from skillopt_sleep.domain.reports import DocumentResult, NightReport, RefusedAction, StandingOut
from skillopt_sleep.review import charts, words
from skillopt_sleep.review.lines import amount, in_order, read_line, spent_line
from skillopt_sleep.review.morning import Morning, morning
from skillopt_sleep.review.plain import escaped, escaped_rule, one_line
from skillopt_sleep.review.stage import by_number

MOST_QUOTED: Final = 240
MOST_ROWS: Final = 8
TONES: Final = {
    Outcome.ACCEPT: "good",
    Outcome.SUPPORTED: "good",
    Outcome.ABSTAIN: "wait",
    Outcome.UNVERIFIED: "wait",
    Outcome.UNGATED: "wait",
    Outcome.REJECT: "bad",
}
"""How an outcome is coloured; the others are grey."""


def page(report: NightReport) -> str:
    """The whole page."""
    head = morning(report)
    body = [
        _head(report, head),
        _figures(report),
        *map(_document, report.documents),
        _section("What was refused, and why", _rows(map(_refusal, report.refusals))),
        _section("What comes back", _rows(_recurring(report))),
        _section("Seen, too rare to test", _rows(_row(r.title, r.why) for r in report.rare)),
        _section("On trial", _rows(_trials(report))),
        _standing_out(report.standing_out),
        _section("Adopted, and watched", _rows(_watched(report))),
        _foot(report),
    ]
    return frame(f"Night of {words.day(report.ended_ms)}", "\n".join(part for part in body if part))


@cache
def _style() -> str:
    return resources.files("skillopt_sleep.review").joinpath("page.css").read_text("utf-8")


def frame(title: str, body: str) -> str:
    """A whole document around a body that is escaped already, under a policy that allows the one style sheet alone."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _head(report: NightReport, head: Morning) -> str:
    named = ", ".join(dict.fromkeys(escaped(words.project(path)) for path in report.projects))
    projects = f" · {named}" if named else ""
    as_of = f" · as of {words.day(report.as_of_ms)}" if report.as_of_ms is not None else ""
    leads = "".join(f'<p class="lead">{escaped(text)}</p>' for text in (head.more, head.why, head.saved) if text)
    then = f'<p class="next">{escaped(head.then)} <kbd>{escaped(head.command)}</kbd></p>' if head.command else ""
    return (
        f'<header>\n<p class="eyebrow">Night of {words.day(report.ended_ms)}{as_of}{projects}</p>\n'
        f"<h1>{escaped(head.what)}</h1>\n{leads}\n{then}\n</header>"
    )


def _figures(report: NightReport) -> str:
    harvest, tasks = report.harvest, report.tasks
    figures = [
        ("sessions read", f"{harvest.sessions:,}", f"{harvest.new:,} new"),
        ("patterns found", f"{tasks.patterns:,}", ""),
        ("tasks from them", f"{tasks.mined:,}", f"{tasks.gate:,} later ones" if tasks.gate is not None else ""),
        ("tokens spent", amount(report.budget.tokens), ""),
    ]
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value} <small>{more}</small></dd></div>" for name, value, more in figures
    )
    return f'<dl class="figures">{cells}</dl>'


def _document(document: DocumentResult) -> str:
    edits = by_number(document.edits)
    name, kind = escaped(document.document.name), words.KINDS[document.document.kind]
    parts = [f'<section class="document">\n<h2>{name} <small>{kind}</small></h2>']
    if document.error:
        parts.append(f'<p class="bad">It failed, and the night went on without it: {escaped(document.error)}</p>')
    parts += map(_edit, words.adoptable(edits))
    if waiting := words.waiting(edits):
        parts += ["<h3>Not proven yet</h3>", *map(_edit, waiting)]
    if fallen := words.fallen(edits):
        parts += ["<h3>Tried, and not proposed</h3>", *map(_edit, fallen)]
    if any(edit.verdict.units and edit.verdict.evidence == "recorded" for edit in edits):
        parts.append(f'<p class="caveat">{_LEGEND}</p>')
    parts += [f'<p class="caveat">{escaped(caveat)}</p>' for caveat in words.caveats(edits)]
    if command := words.next_command(document.proposal, edits):
        parts.append(f'<p class="next"><kbd>{escaped(command)}</kbd></p>')
    return "\n".join([*parts, "</section>"])


def _edit(edit: ProposedEdit) -> str:
    tone = "none" if edit.status in {"missed", "dropped"} else TONES.get(edit.verdict.outcome, "none")
    wanted, seen = words.needs(edit.verdict), words.seen(edit)
    facts = [
        charts.evidence(edit.verdict),
        f"<p>{escaped(_capital(seen))}.</p>",
        f"<p>Needs {escaped(wanted)}.</p>" if wanted and wanted != seen else "",
        f'<p class="soft">Wasted so far: {escaped(words.stake_words(edit.stake))}.</p>' if edit.stake else "",
        *map(_said, edit.provenance[:3]),
        _details(edit),
    ]
    return (
        f'<article class="edit">\n<p class="rule"><span class="n">{edit.n}</span>'
        f'<span class="text">{escaped_rule(words.rule_text(edit))}</span>'
        f'<span class="tag {tone}">{escaped(words.tag(edit))}</span></p>\n'
        f'<div class="facts">{"".join(facts)}</div>\n</article>'
    )


def _said(quote: Quote) -> str:
    """A quote with its author; what no person said is shown as code."""
    said = escaped(one_line(quote.text, MOST_QUOTED))
    words_ = said if quote.author == "person" else f"<code>{said}</code>"
    return f"<blockquote>{words_}<footer>{words.by(quote)}</footer></blockquote>"


_LEGEND = (
    "Each square is a later day on which the rule applied, oldest first: "
    '<b class="key good">spared</b> <b class="key none">no difference</b> <b class="key bad">broken</b>'
)


def _details(edit: ProposedEdit) -> str:
    """The table of units, the predicate and the last figures, folded away."""
    verdict = edit.verdict
    figures = words.figures(verdict)
    why = edit.why or verdict.why
    lines = [
        f"<p>The figures are for {_reading(edit)}.</p>" if words.reading(edit) else "",
        f"<p>{escaped(_capital(why))}.</p>" if why and why != words.seen(edit) else "",
        f'<p class="soft">{escaped(figures)}.</p>' if figures else "",
        _units(verdict.units),
    ]
    inner = "".join(lines)
    return f"<details><summary>Session by session</summary>{inner}</details>" if inner else ""


def _reading(edit: ProposedEdit) -> str:
    said = escaped_rule(words.reading(edit))
    return said if edit.verdict.evidence == "replayed" else f"this reading: {said}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def _units(units: Iterable[UnitScore]) -> str:
    rows = "".join(
        f"<tr><td>{words.short_day(unit.began or None)}</td><td>{escaped(unit.unit)}</td>"
        f'<td class="figure">{unit.before:.2f}</td><td class="figure">{unit.after:.2f}</td>'
        f'<td class="figure {"plus" if unit.d > 0 else "minus" if unit.d < 0 else ""}">{words.signed(unit.d)}</td>'
        f"<td>{escaped(unit.note)}</td></tr>"
        for unit in sorted(units, key=lambda unit: unit.began)
    )
    head = (
        '<tr><th>Day</th><th>Unit</th><th class="figure">Before</th><th class="figure">After</th>'
        '<th class="figure">d</th><th></th></tr>'
    )
    return f'<div class="scroll"><table>{head}{rows}</table></div>' if rows else ""


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{body}\n</section>" if body else ""


def _rows(rows: Iterable[str]) -> str:
    """A list; what is beyond the first rows is folded away."""
    every = list(rows)
    first, rest = ("\n".join(part) for part in (every[:MOST_ROWS], every[MOST_ROWS:]))
    more = f'<details><summary>{len(every) - MOST_ROWS} more</summary><ul class="rows">\n{rest}\n</ul></details>'
    return f'<ul class="rows">\n{first}\n</ul>{more if rest else ""}' if every else ""


def _row(title: str, aside: str, below: str = "") -> str:
    return f'<li><div class="top"><span>{escaped_rule(title)}</span><span>{escaped(aside)}</span></div>{below}</li>'


def _refusal(refused: RefusedAction) -> str:
    who = f" · {refused.person}" if refused.person and refused.person not in refused.action else ""
    times = f"{words.count(refused.times, 'time')} in {words.count(refused.sessions, 'session')}{who}"
    said = "".join(map(_said, refused.reasons[:3]))
    reason = said or '<p class="caveat">No reason was given.</p>'
    top = escaped_rule(refused.action) if "`" in refused.action else f"<code>{escaped(refused.action)}</code>"
    return f'<li><div class="top"><span>{top}</span><span>{escaped(times)}</span></div>{reason}</li>'


def _recurring(report: NightReport) -> Iterable[str]:
    seen = in_order(report.recurring)
    most = max((r.stake.output_share for r in seen if r.stake), default=0.0)
    for one in seen:
        cost = f"{words.share(one.stake.output_share)} of all output · " if one.stake else ""
        heals = " · mends itself" if one.self_healing else ""
        times = f"{cost}{words.count(one.times, 'time')} in {words.count(one.sessions, 'session')}{heals}"
        yield _row(one.title, times, charts.stake_bar(one.stake.output_share, most) if one.stake else "")


def _trials(report: NightReport) -> Iterable[str]:
    for trial in report.trials:
        yield _row(trial.title, words.trial_words(trial))
    yield from (_row(line, "") for line in words.chance_words(report))


def _standing_out(found: StandingOut | None) -> str:
    if found is None:
        return ""
    said = f"<p>{escaped(words.list_words(found))}.</p>"
    return _section("The list as a whole", said + _rows(_row(title, "") for title in found.titles))


def _watched(report: NightReport) -> Iterable[str]:
    for seen in report.watch:
        yield _row(seen.title, words.watched_words(seen))


def _foot(report: NightReport) -> str:
    harvest = report.harvest
    left_out = ", ".join(f"{n:,} {why}" for why, n in {**harvest.skipped, **report.skipped}.items())
    unread = [f"{gone.path}: {gone.reason}" for gone in harvest.unreadable[:20]]
    lines = [
        read_line(report),
        f"Left out: {left_out}" if left_out else "",
        *(f"Not readable: {line}" for line in unread),
        *report.warnings,
        spent_line(report),
    ]
    return f'<footer class="last">{"".join(f"<p>{escaped(line)}</p>" for line in lines if line)}</footer>'
