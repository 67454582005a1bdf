"""`report.html`: a run on one page, without a script or an outside resource, everything of others escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from skillopt_core.types import Outcome, Step
from skillopt_sleep.review import charts, words
from skillopt_sleep.review.diffs import diff_lines
from skillopt_sleep.review.page import TONES, frame
from skillopt_sleep.review.plain import escaped, escaped_lines, escaped_rule
from skillopt_sleep.train.curve import curve
from skillopt_sleep.train.report_tables import cost_table, folded, section, task_tables, unit_table

if TYPE_CHECKING:
    from skillopt_sleep.train import Training

_SIMULATED: Final = (
    "Simulated: the agent is a program that obeys what the skill's text orders, and the critic is simulated too or was "
    "shown simulated work. These figures say that the loop and its gate work, not that an agent will obey."
)
_INTERVALS: Final = (
    "The intervals hold at whatever time one stops to look, and are wider for it than a single test's: a p below alpha "
    "may stand beside an interval that reaches below 0."
)
_TAGS: Final = {Outcome.REJECT: "not better", Outcome.ABSTAIN: "not proven"}
"""Where a run has words of its own for an outcome."""
_STATUS: Final = {
    "kept": "good",
    "tried": "bad",
    "missed": "none",
    "refused": "none",
    "dropped": "none",
}


@dataclass(frozen=True, slots=True)
class Head:
    """What the page says of the run beside its results: names for a person, all of it plain text."""

    run: str
    skill: str
    tasks: str
    target: str
    optimizer: str
    simulated: bool
    recipe: Mapping[str, object] = field(default_factory=dict)


def report_page(training: Training, head: Head, lines: Sequence[Mapping[str, Any]]) -> str:
    """The whole page. `lines` are those of the training log, for what each stage took."""
    body = [
        _head(training, head),
        _figures(training),
        _curve(training),
        _change(training),
        _audit(training),
        section("Step by step", _steps(training.evolution.steps)),
        section("Task by task", task_tables(training)),
        section("The judge", _judge(training)),
        section("Health signals", _signals(training)),
        section("What it took", cost_table(training, lines)),
        section("How it was run", _how(training, head)),
    ]
    return frame(f"Training of {head.skill}", "\n".join(part for part in body if part))


def headline(training: Training) -> str:
    """What came of it, in a sentence that is true whatever came of it."""
    evolution, audit = training.evolution, training.audit
    if evolution.stopped == "budget":
        return "The budget ended the run before it was done"
    if not evolution.steps:
        return "There was nothing to do"
    if not evolution.changed:
        return _unchanged(training)
    if audit is not None and audit.before is not None and audit.after is not None:
        n = words.count(len(audit.units), "audit task")
        if audit.after > audit.before:
            return f"From {audit.before:.2f} to {audit.after:.2f} on {n} that nothing was made from"
        return f"Not better on {n}: {audit.before:.2f} before, {audit.after:.2f} after"
    return "The skill was changed; no audit task says how good it is"


def _unchanged(training: Training) -> str:
    if training.evolution.stopped == "no_headroom":
        return "Every train task passed: there was nothing to learn"
    tried = [step.verdict for step in training.evolution.steps if step.verdict and step.candidate]
    if any(verdict.outcome is Outcome.INFRA_ERROR for verdict in tried):
        return "Too many calls failed: nothing was measured"
    if not tried:
        return "No edit came up: the skill is as it was"
    return "No edit was proven better: the skill is as it was"


def _head(training: Training, head: Head) -> str:
    leads = []
    audit = training.audit
    if audit is not None and audit.effect is not None and training.evolution.changed:
        leads.append(f"{words.METRICS.get(audit.metric, audit.metric).capitalize()}: {words.signed(audit.effect)}, "
                     f"{words.figures(audit)}. Looked at once, at the end.")  # fmt: skip
    leads += training.plan.notes
    if wanted := needs(training):
        leads.append(f"What would change that: {wanted}.")
    simulated = f'<p class="simulated">{escaped(_SIMULATED)}</p>' if head.simulated else ""
    label = " · simulated" if head.simulated else ""
    return (
        f'<header>\n<p class="eyebrow">Training run {escaped(head.run)} · {escaped(head.skill)}{label}</p>\n'
        f"<h1>{escaped(headline(training))}</h1>\n"
        + "\n".join(f'<p class="lead">{escaped(text)}</p>' for text in leads)
        + f"\n{simulated}\n</header>"
    )


def needs(training: Training) -> str:
    """What the last candidate that was not kept lacked, where nothing was kept."""
    if training.evolution.changed:
        return ""
    found = [step.verdict.needs for step in training.evolution.steps if step.verdict and step.verdict.needs]
    return found[-1] if found else ""


def _figures(training: Training) -> str:
    tasks, plan, steps = training.tasks, training.plan, training.evolution.steps
    kept = sum(step.kept for step in steps)
    tried = sum(step.candidate is not None for step in steps)
    share = f"alpha {plan.alpha:.2g} each" if plan.alpha is not None else "no test"
    figures = [
        ("train tasks", f"{len(tasks.train):,}", ""),
        ("gate tasks", f"{len(tasks.gate):,}", ""),
        ("audit tasks", f"{len(tasks.audit):,}", ""),
        ("planned looks", f"{plan.looks:,}", share),
        ("candidates kept", f"{kept:,}", f"of {tried:,}"),
    ]
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value} <small>{escaped(more)}</small></dd></div>" for name, value, more in figures
    )
    return f'<dl class="figures">{cells}</dl>'


def _curve(training: Training) -> str:
    picture = curve(training.evolution.steps)
    if not picture:
        return ""
    legend = (
        '<p class="legend"><span class="held">held-out score of the skill</span>'
        '<span class="seen">mean score on train tasks</span>'
        '<span class="refused">a candidate that was not kept</span></p>'
    )
    return section("Learning curve", legend + picture + '<p class="caveat">Steps of the optimizer from left to right; '
                    "a dotted line is the end of an epoch.</p>")  # fmt: skip


def _change(training: Training) -> str:
    evolution = training.evolution
    marks = {"+": "ins", "-": "del", "@": "span", " ": "span"}
    lines = [
        f"<{marks[line.kind]}>{line.kind if line.kind in '+-' else ' '} {escaped_lines(line.text)}</{marks[line.kind]}>"
        + ("\n" if line.kind in " @" else "")
        for line in diff_lines(evolution.base.text, evolution.skill.text)
        if line.kind != "@"
    ]
    if not lines:
        return ""
    return section("What changed in the skill", f"<pre>{''.join(lines)}</pre>")


def _audit(training: Training) -> str:
    audit = training.audit
    if audit is None or audit.before is None:
        return ""
    said = f'<p class="soft">{escaped(words.figures(audit))}.</p>'
    once = "Attempted once, after the last step, with the text that training began with and the one that it reached."
    return section("Audit", charts.before_and_after(audit) + said + f'<p class="caveat">{once}</p>')


def _steps(steps: Iterable[Step]) -> str:
    """Steps with something to tell: a candidate, edits that fell out, or calls that failed."""
    told = [step for step in steps if step.candidate is not None or step.proposed or step.events]
    measured = any(step.verdict is not None and step.verdict.interval is not None for step in told)
    caveat = f'<p class="caveat">{_INTERVALS}</p>' if measured else ""
    return "\n".join(map(_step, told)) + caveat


def _step(step: Step) -> str:
    verdict = step.verdict
    guided = step.stage == "slow_update"
    what = "Slow update" if guided else f"Step {step.number + 1}"
    tag, tone = _tag(step)
    edits = [("kept" if step.kept else "tried", edit, "") for edit in step.patch.edits]
    edits += [(refused.kind, refused.edit, refused.why) for refused in step.patch.refused]
    rows = "".join(
        f'<li><span class="tag {_STATUS[status]}">{escaped(status)}</span> '
        f"{escaped_rule(edit.text if guided else words_of(edit.op, edit.anchor, edit.text))}"
        + (f' <span class="soft">{escaped(why)}</span>' if why else "")
        + "</li>"
        for status, edit, why in edits
    )
    lost = ", ".join(f"{n} × {reason}" for reason, n in step.events.items())
    facts = [
        f'<ul class="edits">{rows}</ul>' if rows else "",
        charts.before_and_after(verdict) if verdict else "",
        f'<p class="soft">{escaped(words.figures(verdict))}.</p>' if verdict and verdict.pairs else "",
        f"<p>{escaped(verdict.why)}.</p>" if verdict and step.candidate is not None else "",
        f'<p class="soft">Lost on the way: {escaped(lost)}.</p>' if lost else "",
        folded("Task by task", unit_table(verdict.units)) if verdict and verdict.units else "",
    ]
    return (
        f'<article class="edit">\n<p class="rule"><span class="text">Epoch {step.epoch + 1} · {what}</span>'
        f'<span class="tag {tone}">{escaped(tag)}</span></p>\n<div class="facts">{"".join(facts)}</div>\n</article>'
    )


def words_of(op: str, anchor: str, text: str) -> str:
    """An edit in a line: the rule, or what is done to its anchor."""
    if op == "delete":
        return f"Remove: {anchor}"
    rule = text.strip().removeprefix("- ")
    return rule if op != "replace" else f"{rule} (in place of: {anchor})"


def _tag(step: Step) -> tuple[str, str]:
    if step.verdict is None or step.candidate is None:
        failed = step.verdict is not None and step.verdict.outcome is Outcome.INFRA_ERROR
        return ("could not be run", "bad") if failed else ("nothing to try", "none")
    outcome = step.verdict.outcome
    return ("kept" if step.kept else _TAGS.get(outcome, words.OUTCOMES[outcome])), TONES.get(outcome, "none")


def _signals(training: Training) -> str:
    rows = "".join(
        f'<li><div class="top"><span>{escaped(one.finding.capitalize())}</span><span>{escaped(one.meaning)}</span>'
        "</div></li>"
        for one in training.signals
    )
    return f'<ul class="rows">{rows}</ul>' if rows else '<p class="caveat">None was raised.</p>'


def _judge(training: Training) -> str:
    """How far the judge agrees with rules, and the four counts; nothing where no task has a rubric."""
    if training.judge is None:
        return ""
    found, said = training.judge.agreement, training.judge.said()
    rows = (
        ("rubrics and rules pass", found.both),
        ("rubrics pass, rules do not", found.rubric_alone),
        ("rules pass, rubrics do not", found.rules_alone),
        ("neither pass", found.neither),
    )
    cells = "".join(f'<tr><td>{what}</td><td class="figure">{n:,}</td></tr>' for what, n in rows)
    head = '<tr><th>Attempts in which</th><th class="figure">n</th></tr>'
    table = f'<div class="scroll"><table>{head}{cells}</table></div>' if found.attempts else ""
    readings = words.count(training.judge.readings, "reading")
    caveat = f"The median of {readings} of each answer; a judge is shown neither the skill nor who made the answer."
    return f'<p>{escaped(said[0].upper() + said[1:])}.</p>{table}<p class="caveat">{escaped(caveat)}</p>'


def _how(training: Training, head: Head) -> str:
    rows = [
        ("tasks", head.tasks),
        ("target", head.target),
        ("optimizer", head.optimizer),
        *([("judge", training.judge.model)] if training.judge else []),
        ("ended", training.evolution.stopped.replace("_", " ")),
        *((key, "–" if value is None else str(value)) for key, value in head.recipe.items()),
    ]
    cells = "".join(f"<tr><td>{escaped(key)}</td><td>{escaped(value)}</td></tr>" for key, value in rows)
    table = f'<div class="scroll"><table>{cells}</table></div>'
    return folded("Tasks, models and recipe", table)
