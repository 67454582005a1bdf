"""What `training_log.jsonl` says: one line a step, one an epoch's end, one at the end (method.md, outputs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from skillopt_core.health import Signal
from skillopt_core.types import Edit, Evolution, Step, Verdict
from skillopt_sleep.review.documents import Json, evidence_document, finite

VOLATILE: Final = frozenset({"stages", "spent"})
"""Keys that say what a run took; all others are the same for a run that was killed and one that was not."""


def step_line(n: int, step: Step, stages: Mapping[str, object], spent: Json) -> Json:
    """One optimizer step, or one slow update. `n` counts lines of this kind from 1 and names the candidate's file.

    `proposed` edits were `kept` (the gate let them through), `tried` (it did not), `missed` (no place), `refused`
    (screen or memory) or `dropped` (budget). Epochs and steps count from 1.
    """
    tried = len(step.patch.edits) if step.candidate is not None else 0
    fallen = [refused.kind for refused in step.patch.refused]
    verdict = step.verdict
    return {
        "kind": "step",
        "n": n,
        "stage": step.stage,
        "epoch": step.epoch + 1,
        "step": step.number + 1,
        "edit_budget": step.edit_budget,
        "proposed": step.proposed,
        "kept": tried if step.kept else 0,
        "tried": 0 if step.kept else tried,
        "missed": fallen.count("missed"),
        "refused": fallen.count("refused"),
        "dropped": fallen.count("dropped"),
        "verdict": str(verdict.outcome) if verdict else None,
        "why": verdict.why if verdict else None,
        "needs": (verdict.needs or None) if verdict else None,
        "before": finite(verdict.before) if verdict else None,
        "after": finite(verdict.after) if verdict else None,
        "train": finite(step.train),
        "skill": f"skills/{n:04d}.md" if step.candidate is not None else None,
        "digest": step.candidate.digest if step.candidate is not None else None,
        "edits": [*_edits(step), *_fallen(step)],
        "evidence": evidence_document(verdict) if verdict else None,
        "events": dict(step.events),
        "stages": dict(stages),
        "spent": spent,
    }


def epoch_line(epoch: int, steps: Sequence[Step], skill: str, signals: Iterable[Signal], spent: Json) -> Json:
    """The end of an epoch, counted from 0: `steps` are those of the epoch, `skill` the digest reached."""
    train = [step.train for step in steps if step.train is not None and step.stage == "step"]
    tried = [step for step in steps if step.candidate is not None]
    return {
        "kind": "epoch",
        "epoch": epoch + 1,
        "train": finite(sum(train) / len(train)) if train else None,
        "gate": finite(reached(steps)),
        "candidates": len(tried),
        "accepted": sum(step.kept for step in tried),
        "skill": skill,
        "signals": signal_rows(signals),
        "spent": spent,
    }


def end_line(evolution: Evolution, audit: Verdict | None, signals: Iterable[Signal], spent: Json) -> Json:
    """The end of a run, with the one look at the audit tasks."""
    return {
        "kind": "end",
        "stopped": evolution.stopped,
        "skill": evolution.skill.digest,
        "audit": evidence_document(audit) if audit else None,
        "signals": signal_rows(signals),
        "spent": spent,
    }


def reached(steps: Iterable[Step]) -> float | None:
    """The held-out score of the text that training stands at: of the last look, its candidate's if that was kept."""
    score = None
    for step in steps:
        if step.verdict is not None and step.verdict.before is not None:
            score = step.verdict.after if step.kept else step.verdict.before
    return score


def signal_rows(signals: Iterable[Signal]) -> list[dict[str, str]]:
    return [{"name": one.name, "finding": one.finding, "meaning": one.meaning} for one in signals]


def lasting(line: Mapping[str, object]) -> dict[str, object]:
    """A line without what it took."""
    return {key: value for key, value in line.items() if key not in VOLATILE}


def _edits(step: Step) -> list[Json]:
    status = "kept" if step.kept else "tried"
    why = step.verdict.why if step.verdict and not step.kept else ""
    return [_edit(edit, status, edit.why or why) for edit in step.patch.edits]


def _fallen(step: Step) -> list[Json]:
    return [_edit(refused.edit, refused.kind, refused.why) for refused in step.patch.refused]


def _edit(edit: Edit, status: str, why: str) -> Json:
    return {
        "op": edit.op,
        "anchor": edit.anchor,
        "text": edit.text,
        "label": str(edit.label),
        "status": status,
        "why": why,
        "support": sorted(edit.support),
    }
