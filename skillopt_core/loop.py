"""The optimizer's loop: rollout, reflect, aggregate, select, update, gate (method.md). Read this first."""

from __future__ import annotations

from skillopt_core.aggregate import aggregate
from skillopt_core.consolidate import consolidate
from skillopt_core.defaults import AdmitAll, CountedDraws, Silent
from skillopt_core.dreams import dream
from skillopt_core.memory import Memory
from skillopt_core.protocols import Critic, Draws, Environment, Exhausted, Gate, Observer, Screen, Updater
from skillopt_core.recall import batch_of
from skillopt_core.reflect import reflect
from skillopt_core.rewrite import by_edits
from skillopt_core.rollout import Seen, rollout
from skillopt_core.run import Run
from skillopt_core.schedule import PlannedStep, Schedule
from skillopt_core.select import select
from skillopt_core.types import Evolution, Patch, Skill, TaskSet
from skillopt_core.update import update


def evolve(
    skill: Skill,
    tasks: TaskSet,
    environment: Environment,
    critic: Critic,
    gate: Gate,
    schedule: Schedule,
    *,
    memory: Memory | None = None,
    screen: Screen | None = None,
    observer: Observer | None = None,
    draws: Draws | None = None,
    updater: Updater = by_edits,
) -> Evolution:
    """Improve one skill under a bounded edit budget, keeping only what the gate proves (method.md, the six stages).

    The critic sees train tasks alone; held-out tasks that overlap them are left out (`TaskSet.disjoint`). `memory` is
    extended in place and outlives the run. When the budget is out, the result is what was reached by then. `updater`
    is the update mode: edit by edit, or one of the rewrites (`rewrite.UPDATERS`).
    """
    run = Run(skill, memory or Memory(), observer or Silent())
    tasks, screen, draws = tasks.disjoint(), screen or AdmitAll(), draws or CountedDraws()
    try:
        tasks = dream(critic, run, tasks, schedule.dreams)
        for step in run.planned(schedule, tasks.train):
            seen = rollout(environment, run.skill, batch_of(step, tasks), draws, step.rollouts)
            patches = reflect(critic, run, seen, step.edit_budget)
            patch = select(critic, run, aggregate(critic, run, patches), step)
            candidate = updater(critic, run, screen, patch, step, seen)
            run.record(step, seen, candidate, gate(environment, run.skill, candidate.skill, tasks.gate, draws))
            consolidate(run, step, environment, critic, gate, screen, tasks, draws)  # where the step ends an epoch
    except Exhausted:
        run.stop("budget")
    return run.freeze()


def weigh(
    skill: Skill,
    patch: Patch,
    tasks: TaskSet,
    environment: Environment,
    gate: Gate,
    *,
    memory: Memory | None = None,
    screen: Screen | None = None,
    observer: Observer | None = None,
    draws: Draws | None = None,
) -> Evolution:
    """Take one given patch straight to the gate (method.md, update and gate): a preference, a trial's edit.

    The same memory, screen, update and gate as in `evolve`, without rollouts and critic. `evolution.verdict` is the
    answer, `evolution.skill` the text with the patch if the gate let it through.
    """
    run = Run(skill, memory or Memory(), observer or Silent())
    step = PlannedStep(epoch=0, number=0, edit_budget=len(patch.edits), first=0, size=0)
    try:
        candidate = update(skill, run.admit(screen or AdmitAll(), patch))
        held_out = tasks.disjoint().gate
        verdict = gate(environment, skill, candidate.skill, held_out, draws or CountedDraws())
        run.record(step, Seen(), candidate, verdict, "prior")
    except Exhausted:
        run.stop("budget")
    return run.freeze()
