"""The JSON documents of cli.md for `train` and `eval`. What was not computed is null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from skillopt_core.gate.modes import CUT
from skillopt_core.types import Step, Verdict
from skillopt_sleep.review.documents import Json, evidence_document, finite
from skillopt_sleep.train import Training
from skillopt_sleep.train.account import reached, signal_rows
from skillopt_sleep.train.curve import start
from skillopt_sleep.train.evaluate import Row

_STEP: Final = (
    "epoch", "step", "stage", "edit_budget", "proposed", "kept", "tried", "missed", "refused", "dropped", "verdict",
    "before", "after", "why", "needs", "skill",
)  # fmt: skip


def train_document(training: Training, folder: Path, lines: Sequence[Mapping[str, Any]], *, simulated: bool) -> Json:
    """`train`: `lines` are those of the training log."""
    evolution, tasks, plan = training.evolution, training.tasks, training.plan
    return {
        "run": str(folder),
        "best_skill": str(folder / "best_skill.md"),
        "report": str(folder / "report.html"),
        "evidence": "simulated" if simulated else "replayed",
        "stopped": evolution.stopped,
        "changed": evolution.changed,
        "steps": [{key: line[key] for key in _STEP} for line in lines if line["kind"] == "step"],
        "train": {"n": len(tasks.train), **_first_and_last(evolution.steps)},
        "gate": {
            "n": len(tasks.gate),
            "before": finite(start(evolution.steps)),
            "after": finite(reached(evolution.steps)),
            "looks": plan.looks,
            "alpha": finite(plan.alpha),
        },
        "audit": {"n": len(tasks.audit), **_compared(training.audit)},
        "judge": None if training.judge is None else training.judge.as_json(),
        "signals": signal_rows(training.signals),
        "notes": list(plan.notes),
        "warnings": list(training.warnings),
        "budget": training.budget,
    }


def eval_document(rows: Sequence[Row], budget: Json | None, *, simulated: bool, warnings: Sequence[str] = ()) -> Json:
    """`eval`: one row a target. With one skill `before` is its score and `interval` that of the score."""
    return {
        "evidence": "simulated" if simulated else "replayed",
        "rows": [
            {
                "target": row.target,
                "n": len(row.verdict.units),
                **_compared(row.verdict),
                "metric": row.verdict.metric,
                "repeats": row.verdict.repeats,
                "cut": bool(row.verdict.counts.get(CUT)),
                "coverage": finite(row.verdict.coverage),
                "judge": None if row.judge is None else row.judge.as_json(),
                "preferred": None if row.preferred is None else row.preferred.as_json(),
                "tasks": evidence_document(row.verdict)["units"],
            }
            for row in rows
        ],
        "warnings": list(warnings),
        "budget": budget,
    }


def _first_and_last(steps: Sequence[Step]) -> Json:
    """Mean train score of the first step and of the last: under the text that each began with."""
    scores = [step.train for step in steps if step.train is not None and step.stage == "step"]
    return {"before": finite(scores[0]) if scores else None, "after": finite(scores[-1]) if scores else None}


def _compared(verdict: Verdict | None) -> Json:
    if verdict is None:
        return dict.fromkeys(("before", "after", "effect", "interval", "p"))
    return {
        "before": finite(verdict.before),
        "after": finite(verdict.after),
        "effect": finite(verdict.effect),
        "interval": None if verdict.interval is None else [finite(bound) for bound in verdict.interval],
        "p": finite(verdict.p),
    }
