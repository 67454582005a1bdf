"""The tables of a run's page: task by task, and what it took. Everything of others is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from skillopt_core.types import UnitScore
from skillopt_sleep.review import words
from skillopt_sleep.review.plain import escaped
from skillopt_sleep.train.meter import STAGES

if TYPE_CHECKING:
    from skillopt_sleep.train import Training

MOST_ROWS: Final = 12
"""Rows of a table that is not folded away."""


def task_tables(training: Training) -> str:
    """Audit tasks, and gate tasks as the last look that counts saw them."""
    looks = [step.verdict for step in training.evolution.steps if step.verdict is not None and step.verdict.units]
    kept = [s.verdict for s in training.evolution.steps if s.kept and s.verdict is not None and s.verdict.units]
    gate = (kept or looks)[-1:]
    parts = []
    if training.audit is not None and training.audit.units:
        parts.append("<h3>Audit: the text that training began with, and the one that it reached</h3>"
                     + _long(training.audit.units))  # fmt: skip
    if gate:
        which = "the last candidate that was kept" if kept else "the last candidate"
        parts.append(f"<h3>Gate: before and after {which}</h3>" + _long(gate[0].units))
    return "".join(parts)


def _long(units: Sequence[UnitScore]) -> str:
    table = unit_table(units)
    return table if len(units) <= MOST_ROWS else folded(words.count(len(units), "task"), table)


def unit_table(units: Iterable[UnitScore]) -> str:
    """One row a unit: before, after, d and how many pairs."""
    rows = "".join(
        f'<tr><td>{_name(unit)}</td><td class="figure">{unit.before:.2f}</td>'
        f'<td class="figure">{unit.after:.2f}</td>'
        f'<td class="figure {"plus" if unit.d > 0 else "minus" if unit.d < 0 else ""}">{words.signed(unit.d)}</td>'
        f'<td class="figure">{unit.pairs}</td></tr>'
        for unit in units
    )
    head = (
        '<tr><th>Task</th><th class="figure">Before</th><th class="figure">After</th>'
        '<th class="figure">d</th><th class="figure">Pairs</th></tr>'
    )
    return f'<div class="scroll"><table>{head}{rows}</table></div>'


def _name(unit: UnitScore) -> str:
    return escaped(", ".join(unit.tasks) or unit.unit)


def cost_table(training: Training, lines: Sequence[Mapping[str, Any]]) -> str:
    """What each stage took, from the lines of the log, and what was spent in all."""
    steps = [line for line in lines if line["kind"] == "step"]
    rows = ""
    for stage in STAGES:
        seconds = sum(line["stages"][stage]["seconds"] for line in steps)
        tokens = sum(line["stages"][stage]["tokens"] for line in steps)
        rows += f'<tr><td>{stage}</td><td class="figure">{seconds:,.2f}</td><td class="figure">{tokens:,}</td></tr>'
    head = '<tr><th>Stage</th><th class="figure">Seconds</th><th class="figure">Tokens</th></tr>'
    spent = training.budget
    total = f"{_spent(spent, 'tokens')} tokens, {_spent(spent, 'calls')} calls"
    usd = spent.get("usd")
    money = f", ${usd['spent']:,.4f}" if isinstance(usd, dict) and usd.get("spent") else ""
    return (
        f'<div class="scroll"><table>{head}{rows}</table></div>'
        f'<p class="caveat">In all {escaped(total + money)}, the audit included. Rollout: attempts at train tasks; '
        "gate: at held-out ones; optimizer: all that lies between.</p>"
        + "".join(f'<p class="caveat">{escaped(one)}.</p>' for one in training.warnings)
    )


def _spent(budget: Mapping[str, object], name: str) -> str:
    row = budget.get(name)
    if not isinstance(row, dict):
        return "0"
    about = "about " if row.get("exact") is False else ""
    limit = f" of {row['limit']:,.0f}" if row.get("limit") is not None else ""
    return f"{about}{row.get('spent') or 0:,.0f}{limit}"


def folded(title: str, inner: str) -> str:
    """What is opened by whoever wants it."""
    return f"<details><summary>{escaped(title)}</summary>{inner}</details>"


def section(title: str, body: str) -> str:
    """A part of the page; nothing where there is no body."""
    return f"<section>\n<h2>{title}</h2>\n{body}\n</section>" if body else ""
