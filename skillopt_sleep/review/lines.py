"""Lines of a night that Markdown, the page and the terminal share. Plain text, not yet escaped."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.domain.reports import NightReport, Recurring, Spent
from skillopt_sleep.review import words


def in_order(recurring: Sequence[Recurring]) -> list[Recurring]:
    """By what is at stake; what mends itself comes last."""
    return sorted(recurring, key=lambda seen: (seen.self_healing, -(seen.stake.output_share if seen.stake else 0.0)))


def read_line(report: NightReport) -> str:
    """`111 sessions of 214 files (12 new), 5 January 2026 to 3 March 2026; 38 patterns, 164 tasks`."""
    harvest, tasks = report.harvest, report.tasks
    span = ""
    if report.first_session_ms is not None:
        span = f", {words.day(report.first_session_ms)} to {words.day(report.last_session_ms)}"
    read = f"{words.count(harvest.sessions, 'session')} of {words.count(harvest.files, 'file')} ({harvest.new:,} new)"
    return f"{read}{span}; {words.count(tasks.patterns, 'pattern')}, {words.count(tasks.mined, 'task')}"


def spent_line(report: NightReport) -> str:
    """What the night cost: tokens against their limit, calls, money, wall time."""
    budget = report.budget
    parts = [f"{amount(budget.tokens)} tokens", f"{amount(budget.calls)} calls"]
    if budget.usd.spent:
        parts.append(f"${budget.usd.spent:,.2f}")
    seconds = round((report.ended_ms - report.began_ms) / 1000)
    asked = "".join(f" ({use.model} at {use.host})" for use in report.models if use.host)
    return f"Backend {report.backend}{asked}; {', '.join(parts)}; {words.count(seconds, 'second')}"


def amount(spent: Spent) -> str:
    """`12,300 of 200,000`, with `about` before it where a provider did not say exactly."""
    about = "about " if spent.exact is False else ""
    limit = f" of {spent.limit:,.0f}" if spent.limit is not None else ""
    return f"{about}{spent.spent or 0:,.0f}{limit}"
