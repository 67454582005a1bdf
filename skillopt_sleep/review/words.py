"""The figures of a verdict in the words of a person who has ten seconds: one place for all renderers.

Every function gives plain text, not yet escaped for where it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from skillopt_core.types import Outcome, Verdict
from skillopt_sleep.domain.frictions import Quote, Stake
from skillopt_sleep.domain.proposals import Document, Proposal, ProposedEdit
from skillopt_sleep.domain.reports import DocumentResult, NightReport, StandingOut, TrialLine, Watched
from skillopt_sleep.review.choose import plain, unproven

OUTCOMES: Final = {
    Outcome.ACCEPT: "proven",
    Outcome.SUPPORTED: "supported",
    Outcome.ABSTAIN: "not proven yet",
    Outcome.UNVERIFIED: "cannot be tested",
    Outcome.UNGATED: "not tested",
    Outcome.REJECT: "hurts",
    Outcome.NO_CHANGE: "changes nothing",
    Outcome.NO_EXPOSURE: "never applied",
    Outcome.INFRA_ERROR: "could not be run",
}
MEANINGS: Final = {
    Outcome.ACCEPT: "better on work it was not made from, and nothing that worked was broken",
    Outcome.SUPPORTED: "it comes back and the rule breaks nothing; that an agent obeys it was not seen",
    Outcome.ABSTAIN: "promising, on trial",
    Outcome.UNVERIFIED: "there is no later work to test it on",
    Outcome.UNGATED: "the gate was off",
    Outcome.REJECT: "worse, or something that worked was broken",
    Outcome.NO_CHANGE: "the text is the same",
    Outcome.NO_EXPOSURE: "it was opened, or could apply, too rarely",
    Outcome.INFRA_ERROR: "too many calls failed",
}
METRICS: Final = {"hard": "tasks done", "soft": "checks passed", "mixed": "score"}
AUTHORS: Final = {"person": "a person", "agent": "the agent", "tool": "a tool", "harness": "the harness"}
KINDS: Final = {"learned": "learned skill", "hand-written": "your skill", "memory": "memory block"}


def count(n: float, one: str, many: str = "") -> str:
    """`1 rule`, `3 rules`."""
    return f"{n:,g} {one if n == 1 else many or one + 's'}"


def share(x: float) -> str:
    """A share of all output as a percentage, with as many digits as say something."""
    if 0 < x < 0.00005:
        return "<0.01%"
    return f"{x:.1%}" if x >= 0.001 or x == 0 else f"{x:.2%}"


def number(x: float | None) -> str:
    """A figure of the gate: three digits, a dash where it was not computed."""
    if x is None:
        return "–"
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"


def signed(d: float) -> str:
    """A difference: `+0.67`, `-0.33`, `0.00`."""
    return f"{d:+.2f}" if round(d, 2) else "0.00"


def project(path: str) -> str:
    """A project by its folder's name: the path of another machine says little."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def title_of(document: Document) -> str:
    return f"{document.name} ({KINDS[document.kind]})"


def total(edits: Iterable[ProposedEdit]) -> Stake | None:
    """What edits save together; None where none has a stake. Patterns are disjoint, so their costs add up."""
    stakes = [edit.stake for edit in edits if edit.stake is not None]
    if not stakes:
        return None
    return Stake(
        sum(stake.actions for stake in stakes),
        sum(stake.output_share for stake in stakes),
        sum(stake.per_week for stake in stakes),
    )


def stake_words(stake: Stake | None) -> str:
    """What it costs: `12 actions, 1.4% of all output, 2.5 sessions a week`; empty where it was not computed."""
    if stake is None:
        return ""
    return f"{count(stake.actions, 'action')}, {share(stake.output_share)} of all output, {rate(stake.per_week)}"


def rate(per_week: float) -> str:
    return f"{per_week:.1f} sessions a week" if round(per_week, 1) != 1 else "1 session a week"


def believe(verdict: Verdict) -> str:
    """Why to believe it, for a person: a sentence without its last figures, which `figures` has."""
    if verdict.evidence == "recorded":
        return _recorded(verdict) or verdict.why
    if verdict.effect is None:
        return verdict.why
    metric = METRICS.get(verdict.metric, verdict.metric)
    low = f", at least {verdict.interval[0]:+.2f}" if verdict.interval and verdict.interval[0] > 0 else ""
    return f"{metric} went from {number(verdict.before)} to {number(verdict.after)} ({verdict.effect:+.2f}{low})"


def seen(edit: ProposedEdit) -> str:
    """What a person reads first of an edit: what was seen of it, or why it has no verdict to speak of."""
    shown = edit.verdict.outcome in {Outcome.ACCEPT, Outcome.SUPPORTED, Outcome.ABSTAIN} and edit.status != "missed"
    return believe(edit.verdict) if shown else edit.why or edit.verdict.why


def reading(edit: ProposedEdit) -> str:
    """What the figures of an edit are for: the reading of its words on recordings, or what an agent was asked."""
    if edit.verdict.evidence != "replayed":
        return edit.predicate
    asked = (
        f"{count(len(edit.verdict.units), 'task')} of this project" if edit.verdict.units else "tasks of this project"
    )
    return f"{asked}, each attempted afresh with the text as it stands and with this edit, and judged by its own checks"


def figures(verdict: Verdict) -> str:
    """The last figures of a verdict, for whoever reads them: effect with interval, p, E, pairs, coverage."""
    parts = []
    if verdict.interval is not None and verdict.evidence != "recorded":
        parts.append(f"95% interval {verdict.interval[0]:+.2f} to {verdict.interval[1]:+.2f}")
    if verdict.p is not None:
        parts.append(f"p {number(verdict.p)}")
    if verdict.e is not None and verdict.units:
        wanted = f", {number(1 / verdict.alpha)} wanted" if verdict.alpha else ""
        parts.append(f"E {number(verdict.e)} over {count(len(verdict.units), 'unit')}{wanted}")
    if verdict.evidence != "recorded":
        parts.append(count(verdict.pairs, "pair"))
        parts += [] if verdict.opened is None else [f"opened in {verdict.opened:.0%}"]
    parts += [] if verdict.coverage in {None, 1.0} else [f"coverage {verdict.coverage:.0%}"]
    return ", ".join([*parts, *(["deterministic"] if verdict.deterministic else [])])


def needs(verdict: Verdict) -> str:
    """What would change the verdict, as the gate says it; empty for what is proven or supported."""
    if verdict.outcome in {Outcome.ACCEPT, Outcome.SUPPORTED}:
        return ""
    return verdict.needs or verdict.why


def tag(edit: ProposedEdit) -> str:
    """The verdict in a word, or the status of an edit that never came to one."""
    if edit.status in {"missed", "dropped", "refused"} and edit.verdict.outcome in {Outcome.ACCEPT, Outcome.SUPPORTED}:
        return edit.status
    return "found no place" if edit.status == "missed" else OUTCOMES[edit.verdict.outcome]


def rule_text(edit: ProposedEdit) -> str:
    """The edit as one line: the rule without its bullet, or what is done to the anchor."""
    if edit.edit.op == "delete":
        return f"Remove: {_unlisted(edit.edit.anchor)}"
    return _unlisted(edit.edit.text)


def headline(edits: Sequence[ProposedEdit]) -> str:
    """`2 rules supported, 1 not proven yet`."""
    counts: dict[str, int] = {}
    for edit in sorted(edits, key=lambda e: list(OUTCOMES).index(e.verdict.outcome)):
        counts[tag(edit)] = counts.get(tag(edit), 0) + 1
    words = [f"{n} {word}" for word, n in counts.items()]
    if not words:
        return "no rule"
    first, rest = words[0].split(" ", 1), words[1:]
    return ", ".join([f"{count(int(first[0]), 'rule')} {first[1]}", *rest])


def next_command(proposal: str | None, edits: Sequence[ProposedEdit]) -> str:
    """What to type next; empty where there is nothing to decide."""
    if proposal is None:
        return ""
    return f"skillopt-sleep {'adopt' if any(map(plain, edits)) else 'review'} {proposal}"


def adoptable(edits: Iterable[ProposedEdit]) -> tuple[ProposedEdit, ...]:
    return tuple(edit for edit in edits if plain(edit))


def waiting(edits: Iterable[ProposedEdit]) -> tuple[ProposedEdit, ...]:
    return tuple(edit for edit in edits if unproven(edit))


def fallen(edits: Iterable[ProposedEdit]) -> tuple[ProposedEdit, ...]:
    """Edits that are shown and never adopted: they hurt, never applied, found no place."""
    return tuple(edit for edit in edits if not plain(edit) and not unproven(edit))


def caveats(edits: Sequence[ProposedEdit]) -> tuple[str, ...]:
    """What the figures cannot show, said where they are shown."""
    said: list[str] = []
    good = adoptable(edits)
    supported = [edit for edit in good if edit.verdict.outcome is Outcome.SUPPORTED]
    if supported:
        which = (
            "Replayed from recordings"
            if len(supported) == len(good)
            else "Supported rules are replayed from recordings"
        )
        said.append(f"{which}: they show what a rule would have met, not that an agent will obey it.")
    measured = [edit.verdict for edit in good if edit.verdict.evidence != "recorded"]
    if len(measured) > 1 and all(verdict == measured[0] for verdict in measured):
        said.append("These edits were measured together: a part of them alone was not.")
    return tuple(said)


def forgotten(proposal: Proposal) -> str:
    """What is to be known of a proposal whose quotes were forgotten, "" for any other."""
    if not proposal.quotes_forgotten:
        return ""
    return "It quoted what you have had forgotten: that no longer speaks for it, and the next night measures anew."


def summary(proposal: Proposal) -> str:
    """A proposal in a line: `2 rules supported, 1 not proven yet; would have saved 31 actions …`."""
    saved = stake_words(total(adoptable(proposal.edits)))
    return headline(proposal.edits) + (f"; would have saved {saved}" if saved else "")


def by(quote: Quote) -> str:
    """Who said it, and when where that is known."""
    return AUTHORS[quote.author] + ("" if quote.at_ms is None else f", {short_day(quote.at_ms)}")


def list_words(found: StandingOut) -> str:
    """`Of 14 recorded rules with five later units or more, 6 stand out of the whole list (e-BH at 0.05)`."""
    kept = len(found.titles)
    of = f"{count(found.listed, 'recorded rule')} with five later units or more"
    return f"Of {of}, {kept or 'none'} would stand out of the list as a whole (e-BH at {found.alpha:g}; information)"


def chance_words(report: NightReport) -> list[str]:
    """What may be believed by chance alone, over all that is on trial."""
    if report.false_adoptions is None:
        return []
    lines = [f"Expected false adoptions, at most: {number(report.false_adoptions)}"]
    if report.false_support:
        lines.append(
            f"Rules that recordings may support by chance, at most: {number(report.false_support)}; "
            "only a person adopts those"
        )
    return lines


def rates(before: float | None, after: float | None, sessions: int) -> str:
    """How often an adopted rule was broken: `broken in 10% of 20 later sessions, 50% before`."""
    shown = "–" if after is None else f"{after:.0%}"
    earlier = "" if before is None else f", {before:.0%} before"
    return f"broken in {shown} of {count(sessions, 'later session')}{earlier}"


def watched_words(seen: Watched) -> str:
    """`31% → 7% broken, 14 sessions; too few sessions yet (14)`, or what was found, which has its own rates."""
    if seen.before is None or seen.after is None or rates(seen.before, seen.after, seen.sessions) in seen.finding:
        return seen.finding
    return f"{seen.before:.0%} → {seen.after:.0%} broken, {count(seen.sessions, 'session')}; {seen.finding}"


def percent(difference: float) -> str:
    """A difference of two shares in points of a hundred: `-40`, `+7`, `0`."""
    points = round(100 * difference)
    return f"{points:+d}" if points else "0"


def trial_words(trial: TrialLine) -> str:
    """`running for 6 nights, E 4.1, needs 3 more sessions`."""
    nights = f"{'for' if trial.state == 'running' else 'after'} {count(trial.nights, 'night')}"
    wanted = f", needs {trial.needs}" if trial.needs else ""
    return f"{trial.state} {nights}, E {number(trial.e_value)}{wanted}"


def day(ms: int | None) -> str:
    """A day in UTC: `4 March 2026`; a dash where it is unknown."""
    if ms is None:
        return "–"
    when = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{when.day} {when:%B %Y}"


def short_day(ms: int | None) -> str:
    """`4 Mar`; a dash where it is unknown."""
    if ms is None:
        return "–"
    of_month, month, _ = day(ms).split()
    return f"{of_month} {month[:3]}"


def outcome_of(document: DocumentResult) -> str:
    if document.error:
        return "failed"
    return OUTCOMES[document.verdict.outcome] if document.verdict else "nothing proposed"


def _recorded(verdict: Verdict) -> str:
    counts = verdict.counts
    parts = []
    if "later_sessions" in counts:
        parts.append(f"came back in {counts.get('recurred', 0):g} of {counts['later_sessions']:g} later sessions")
    if "prevented" in counts:
        prevented, broken, unknown = (counts.get(name, 0) for name in ("prevented", "broken", "unknown"))
        aside = f" ({unknown:g} unknown)" if unknown else ""
        spared = f"would have spared {count(prevented, 'action')}"
        parts.append(f"{spared} and broken {f'{broken:g}' if broken else 'none'}{aside}")
    return ", ".join(parts)


def _unlisted(text: str) -> str:
    """A rule without the bullet or number of its list."""
    return re.sub(r"\A(?:[-*+]|\d{1,9}[.)])[ \t]+", "", text.strip())
