"""What a run plans before it sees a score: steps, looks, and the share of alpha that each look has (gate.md, looks)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.gate import LookGate, OffGate, StrictGate, boundaries, least_units
from skillopt_core.gate.table import unit_of
from skillopt_core.protocols import Gate
from skillopt_core.schedule import Schedule
from skillopt_core.types import TaskSet
from skillopt_sleep.domain.reports import Evidence
from skillopt_sleep.review import words
from skillopt_sleep.train.recipe import Recipe

LEAST_TRAIN: Final = 3
"""Train tasks that are left when gate tasks are made of them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Schedule and gate of a run. `looks` share alpha; `alpha` is one look's part, None where the gate has none.

    `notes` say what was planned otherwise than the recipe says, and what these tasks cannot show.
    """

    schedule: Schedule
    gate: Gate
    looks: int
    alpha: float | None
    notes: tuple[str, ...] = ()


def planned(recipe: Recipe, tasks: TaskSet, evidence: Evidence, *, deterministic: bool) -> Plan:
    """The plan for these tasks.

    The looks of one run share alpha. Where so many looks share it that these gate tasks could prove nothing even if all
    of them went better, fewer are planned: first without slow updates, then in fewer epochs.
    """
    schedule, train = recipe.schedule(), len(tasks.train)
    if recipe.gate == "off":
        return Plan(schedule, OffGate(evidence), schedule.looks(train), None)
    if recipe.gate == "strict":
        strict = StrictGate(recipe.repeats, recipe.reward(), recipe.seed, evidence)
        return Plan(schedule, strict, schedule.looks(train), None)
    repeats = 1 if deterministic else recipe.repeats
    fitting, notes = _fitting(schedule, tasks, recipe, repeats)
    looks = max(fitting.looks(train), 1)
    gate = LookGate(
        recipe.alpha, looks, recipe.repeats, recipe.reward(), recipe.seed, recipe.early_stopping, evidence=evidence
    )
    return Plan(fitting, gate, looks, recipe.alpha / looks, notes)


def _fitting(schedule: Schedule, tasks: TaskSet, recipe: Recipe, repeats: int) -> tuple[Schedule, tuple[str, ...]]:
    """The longest schedule whose looks these gate tasks can pass, and what to say about it."""

    train, units = len(tasks.train), len({unit_of(task) for task in tasks.gate})

    def wanted(of: Schedule) -> int:
        """Gate tasks that must go better, all of them, for one look to prove anything."""
        share = recipe.alpha / max(of.looks(train), 1)
        return least_units(boundaries(repeats, share, early=recipe.early_stopping).last)

    if wanted(schedule) <= units:
        return schedule, ()
    plain = replace(schedule, slow_update=0)
    shorter = [plain, *(replace(plain, epochs=n) for n in range(schedule.epochs - 1, 0, -1))]
    fitting = next((one for one in shorter if wanted(one) <= units), None)
    if fitting is None:
        more = wanted(shorter[-1]) - units
        said = f"{units} gate tasks can prove nothing, even if all of them go better; {_remedy(tasks, more)}"
        return shorter[-1], (said,)
    looks = words.count(fitting.looks(train), "look")
    why = f"{units} gate tasks cannot pass {schedule.looks(train)} looks that share alpha {recipe.alpha:g}"
    epochs = words.count(fitting.epochs, "epoch")
    return fitting, (f"{why}: {epochs} without slow updates, {looks}, are planned instead",)


def _remedy(tasks: TaskSet, more: int) -> str:
    """Where `more` gate tasks could come from."""
    train, gate, audit = len(tasks.train) - more, len(tasks.gate) + more, len(tasks.audit)
    shift = f"share them out anew (--set split={train}:{gate}:{audit}), " if train >= LEAST_TRAIN else ""
    return f"{shift}write {more} more, or take --set gate=strict, which believes any higher mean"
