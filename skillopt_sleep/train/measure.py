"""Two texts measured on tasks, or one: the audit at a run's end, and `eval`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillopt_core.gate import HARD, Metric, StrictGate, interval
from skillopt_core.gate.table import unit_of
from skillopt_core.protocols import Draws, Environment
from skillopt_core.rollout import rollout
from skillopt_core.types import Outcome, Skill, Task, UnitScore, Verdict
from skillopt_sleep.domain.reports import Evidence


def compared(
    environment: Environment, a: Skill, b: Skill, tasks: Sequence[Task], draws: Draws, *,
    repeats: int, metric: Metric = HARD, seed: int = 0, evidence: Evidence = "replayed", keep_cut: bool = False,
) -> Verdict:  # fmt: skip
    """`b` against `a` on fresh pairs of all tasks, every repeat run: means, effect, interval, p; no boundary is asked.

    Raises `Exhausted`; with `keep_cut` only where no pair was finished.
    """
    verdict = StrictGate(repeats, metric, seed, evidence, keep_cut)(environment, a, b, tasks, draws)
    return replace(verdict, e=None, e_reverse=None)


def scored(
    environment: Environment, skill: Skill, tasks: Sequence[Task], draws: Draws, *,
    repeats: int, metric: Metric = HARD, evidence: Evidence = "replayed",
) -> Verdict:  # fmt: skip
    """One text alone: `before` is its mean over units, `interval` that mean's. Failed attempts are left out.

    Raises `Exhausted`.
    """
    seen = rollout(environment, skill, tasks, draws, repeats)
    by_task = {task.id: task for task in tasks}
    groups: dict[str, list[float]] = {}
    members: dict[str, dict[str, None]] = {}
    for one in seen.trajectories:
        unit = unit_of(by_task[one.task])
        groups.setdefault(unit, []).append(metric.of(one.score))
        members.setdefault(unit, {})[one.task] = None
    units = tuple(
        UnitScore(
            unit, sum(scores) / len(scores), sum(scores) / len(scores), 0.0, len(scores), tasks=tuple(members[unit])
        )
        for unit, scores in groups.items()
    )
    means = [unit.before for unit in units]
    wanted = len(seen.trajectories) + sum(seen.missing.values())
    return Verdict(
        outcome=Outcome.INFRA_ERROR if seen.silent else Outcome.UNGATED,
        why="no attempt came back" if seen.silent else "one text, compared with nothing",
        metric=metric.kind,
        before=sum(means) / len(means) if means else None,
        interval=_around(means),
        pairs=len(seen.trajectories),
        coverage=len(seen.trajectories) / wanted if wanted else None,
        evidence=evidence,
        deterministic=environment.deterministic,
        units=units,
        counts={f"missing: {reason}": float(n) for reason, n in seen.missing.items()},
        repeats=repeats,
    )


def _around(means: Sequence[float]) -> tuple[float, float] | None:
    """A two-sided 95 % interval for a mean of scores in [0, 1], by the gate's own interval, which is for [-1, 1]."""
    found = interval([2 * mean - 1 for mean in means])
    return None if found is None else ((found[0] + 1) / 2, (found[1] + 1) / 2)
