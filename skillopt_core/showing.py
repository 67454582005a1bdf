"""What the optimizer is shown: attempts by minibatch, edits, notes (method.md, reflect). All of it fenced as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from skillopt_core.memory import Memory
from skillopt_core.prompting import clipped, fenced
from skillopt_core.types import Edit, Step, Trajectory

_LEAST: Final = 300
_REJECTED: Final = 12
_CONTRASTS: Final = 1
_FAILED: Final = 2


@dataclass(frozen=True, slots=True)
class Shown:
    """One minibatch as it is shown. `aliases` are the short names that stand for task ids in it."""

    about: Literal["failures", "successes"]
    text: str
    aliases: Mapping[str, str]


def batches(seen: Sequence[Trajectory], minibatch: int, characters: int) -> list[Shown]:
    """Failures and successes apart, `minibatch` tasks each, in the order in which the tasks were attempted.

    A task with a failed attempt is a failure, shown with up to two failed attempts and, where it has one, a passed
    one for contrast. A task that always passed is shown by its first attempt.
    """
    by_task: dict[str, list[Trajectory]] = {}
    for attempt in seen:
        by_task.setdefault(attempt.task, []).append(attempt)
    failures = {task: _contrast(runs) for task, runs in by_task.items() if any(run.score.hard < 1 for run in runs)}
    successes = {task: runs[:1] for task, runs in by_task.items() if task not in failures}
    return [
        *_cut("failures", failures, minibatch, characters),
        *_cut("successes", successes, minibatch, characters),
    ]


def show_edits(edits: Sequence[Edit], whys: Sequence[str] = ()) -> str:
    """Edits numbered from 1, with how many tasks support each."""
    return fenced("edits", "\n".join(_edit(n, edit, whys[n - 1 : n]) for n, edit in enumerate(edits, 1)))


def show_notes(memory: Memory) -> str:
    """What the optimizer knows beside the evidence: preferences, its own notes, what was rejected. Empty if nothing."""
    parts: list[str] = []
    if memory.preferences:
        parts.append("The person's preferences, never to be contradicted:")
        parts.append(fenced("preferences", "\n".join(f"- {text}" for text in memory.preferences)))
    if memory.meta:
        parts += ["Your notes from earlier epochs:", fenced("notes", memory.meta)]
    rejected = [row for row in memory.rows if row.text or row.anchor][-_REJECTED:]
    if rejected:
        lines = (f"- {row.op} at {row.anchor!r}: {row.text!r} ({row.outcome}: {row.reason})" for row in rejected)
        parts += ["Tried before and not kept, do not propose again:", fenced("rejected", "\n".join(lines))]
    return "\n".join(["", *parts, ""]) if parts else ""


def show_drift(drift: Mapping[str, Sequence[Trajectory]], characters: int) -> str:
    """Attempts by what became of their task."""
    total = sum(len(attempts) for attempts in drift.values())
    each = max(characters // max(total, 1), _LEAST)
    parts = [f"{kind.replace('_', ' ')}:\n{_asked(run, each)}" for kind, runs in drift.items() for run in runs]
    return fenced("tasks", "\n\n".join(parts))


def show_requests(prompts: Sequence[str], characters: int) -> str:
    """Requests numbered from 1."""
    each = max(characters // max(len(prompts), 1), _LEAST)
    return fenced("requests", "\n\n".join(f"{n}. {clipped(text, each)}" for n, text in enumerate(prompts, 1)))


def show_steps(steps: Sequence[Step]) -> str:
    """What was tried in an epoch, and what the gate said."""
    lines: list[str] = []
    for step in steps:
        said = f"{step.verdict.outcome}: {step.verdict.why}" if step.verdict else "not measured"
        lines += [f"- {edit.op} at {edit.anchor!r}: {edit.text!r} -> {said}" for edit in step.patch.edits]
        lines += [f"- {one.edit.op} {one.edit.text!r} -> {one.kind}: {one.why}" for one in step.patch.refused]
    return fenced("steps", "\n".join(lines))


def _contrast(runs: Sequence[Trajectory]) -> list[Trajectory]:
    failed = [run for run in runs if run.score.hard < 1]
    passed = [run for run in runs if run.score.hard >= 1]
    return failed[:_FAILED] + passed[:_CONTRASTS]


def _cut(
    about: Literal["failures", "successes"],
    tasks: Mapping[str, Sequence[Trajectory]],
    minibatch: int,
    characters: int,
) -> list[Shown]:
    names = list(tasks)
    shown: list[Shown] = []
    for at in range(0, len(names), minibatch):
        aliases = {f"T{n}": name for n, name in enumerate(names[at : at + minibatch], 1)}
        each = max(characters // sum(len(tasks[name]) for name in aliases.values()), _LEAST)
        parts = [_task(alias, tasks[name], each) for alias, name in aliases.items()]
        shown.append(Shown(about, fenced("attempts", "\n\n".join(parts)), aliases))
    return shown


def _task(alias: str, runs: Sequence[Trajectory], each: int) -> str:
    contrast = ", with a run that passed for contrast" if len({run.score.hard >= 1 for run in runs}) > 1 else ""
    head = f"== {alias}{contrast}\nrequest: {clipped(runs[0].prompt, each)}"
    return "\n".join([head, *(_attempt(run, each) for run in runs)])


def _asked(run: Trajectory, each: int) -> str:
    return f"request: {clipped(run.prompt, each)}\n{_attempt(run, each)}"


def _attempt(run: Trajectory, each: int) -> str:
    verdict = "PASSED" if run.score.hard >= 1 else f"FAILED (score {run.score.soft:.2f})"
    checks = "".join(f"\nfailed check: {clipped(check, _LEAST)}" for check in run.score.failed)
    return f"-- {verdict}{checks}\n{clipped(run.transcript, each)}"


def _edit(number: int, edit: Edit, why: Sequence[str]) -> str:
    reason = f" [{why[0]}]" if why else ""
    label = f" {edit.label}" if edit.label != "SKILL_DEFECT" else ""
    return f"{number}. {edit.op} at {edit.anchor!r}: {edit.text!r} ({len(edit.support)} tasks{label}){reason}"
