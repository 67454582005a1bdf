"""The end of an epoch: slow update and meta skill (method.md).

The slow update is the momentum of the method: the same train tasks under the previous epoch's skill and the current
one, what drifted between them, and guidance into a block that step edits never touch. It passes the gate like any
other change. The meta skill are notes on the optimizer's side and never part of the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from skillopt_core.blocks import with_guidance
from skillopt_core.protocols import Critic, Draws, Environment, Gate, Guide, Screen
from skillopt_core.rollout import Seen, rollout
from skillopt_core.schedule import PlannedStep
from skillopt_core.seeded import Seeded
from skillopt_core.types import Edit, Missing, Patch, Task, TaskSet, Trajectory
from skillopt_core.update import Candidate

if TYPE_CHECKING:
    from skillopt_core.run import Run

REPEATS: Final = 3
"""Attempts a task on each side: one run either way is within noise, so fewer could show no drift at all."""

Drift = Literal["improved", "regressed", "persistent_failure", "stable_success"]


def consolidate(
    run: Run,
    step: PlannedStep,
    environment: Environment,
    critic: Critic,
    gate: Gate,
    screen: Screen,
    tasks: TaskSet,
    draws: Draws,
) -> None:
    """Slow update and meta skill, where `step` ends an epoch. A critic without the words for it is not asked."""
    if not step.ends_epoch:
        return
    if isinstance(critic, Guide):
        found = _look_back(run, step, environment, critic, tasks.train, draws)
        if found is not None:
            seen, guidance = found
            candidate = _guided(run, screen, guidance)
            verdict = gate(environment, run.skill, candidate.skill, tasks.gate, draws)
            run.record(step, seen, candidate, verdict, "slow_update")
        _keep_notes(run, step, critic)
    run.epoch_skills.append(run.skill)


def drift(
    before: Sequence[Trajectory], now: Sequence[Trajectory], *, deterministic: bool
) -> Mapping[str, Sequence[Trajectory]]:
    """Attempts under the current skill, by what became of their task since the previous epoch.

    Improved and regressed are judged beyond noise: the pass rates differ by more than one run's worth (by anything at
    all for a deterministic environment). The rest are persistent failures (current pass rate below one half) or
    stable successes. Tasks that came back on one side alone are left out.
    """
    old, new = _by_task(before), _by_task(now)
    kinds: dict[str, tuple[Trajectory, ...]] = {}
    for task in new:
        if task in old:
            kind = _kind(_rate(old[task]), _rate(new[task]), 0.0 if deterministic else 1 / len(new[task]))
            kinds[kind] = kinds.get(kind, ()) + tuple(new[task])
    return kinds


def _look_back(
    run: Run, step: PlannedStep, environment: Environment, critic: Guide, train: Sequence[Task], draws: Draws
) -> tuple[Seen, str] | None:
    """Attempts under the current skill and guidance made of what drifted; None where there is nothing to compare."""
    previous = run.epoch_skills[-1]
    if not step.look_back or previous.digest == run.skill.digest:
        return None
    sample = Seeded(step.seed).split(-1 - step.epoch).sample(train, step.look_back)
    before = rollout(environment, previous, sample, draws, REPEATS)
    now = rollout(environment, run.skill, sample, draws, REPEATS)
    moved = drift(before.trajectories, now.trajectories, deterministic=environment.deterministic)
    guidance = critic.guidance(run.skill, moved, run.memory) if moved else ""
    if isinstance(guidance, Missing):
        run.count(f"critic: {guidance.reason}")
        guidance = ""
    return now, guidance


def _guided(run: Run, screen: Screen, guidance: str) -> Candidate:
    if with_guidance(run.skill.text, guidance) == run.skill.text:
        return Candidate(run.skill, Patch())
    patch = run.admit(screen, Patch((Edit("replace", "slow update", guidance.strip()),)))
    text = with_guidance(run.skill.text, patch.edits[0].text) if patch.edits else run.skill.text
    return Candidate(replace(run.skill, text=text), patch)


def _keep_notes(run: Run, step: PlannedStep, critic: Guide) -> None:
    if not step.notes or not any(done.verdict for done in run.steps):
        return
    notes = critic.notes(tuple(done for done in run.steps if done.epoch == step.epoch), run.memory)
    if isinstance(notes, Missing):
        run.count(f"critic: {notes.reason}")
    else:
        run.memory.meta = notes


def _by_task(attempts: Sequence[Trajectory]) -> dict[str, list[Trajectory]]:
    grouped: dict[str, list[Trajectory]] = {}
    for attempt in attempts:
        grouped.setdefault(attempt.task, []).append(attempt)
    return grouped


def _rate(attempts: Sequence[Trajectory]) -> float:
    return sum(attempt.score.hard >= 1 for attempt in attempts) / len(attempts)


def _kind(old: float, new: float, noise: float) -> Drift:
    if new - old > noise + 1e-9:
        return "improved"
    if old - new > noise + 1e-9:
        return "regressed"
    return "persistent_failure" if new < 0.5 else "stable_success"
