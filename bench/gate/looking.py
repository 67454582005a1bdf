"""Looks: what an edit without effect, a harmful one and a good one come to on a fixed set of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gate.cells import Cell, mean, share, stream
from skillopt_core.gate import boundaries
from skillopt_sleep.calibrate.coins import BETTER, CATASTROPHE, HARMFUL, PLACEBO, POPULATIONS, Edit, rates, sparse
from skillopt_sleep.calibrate.simulated import look, strict

ALPHA = 0.05
SIZES, REPEATS = (4, 8, 12, 20, 30, 40), (1, 2, 3, 4, 5)
MCNEMAR = "exact McNemar, one run each"
"""A look with one repeat is that test (tests/core/test_gate_exact.py)."""


@dataclass(frozen=True)
class Asked:
    """One kind of edit on sets of one size of one population."""

    experiment: str
    edit: Edit
    population: str
    tasks: int
    repeats: int
    seeds: int
    plain: bool = False  # also what other rules would say


def everywhere(seeds: int) -> Iterator[Asked]:
    """Placebo and harm in every cell, the catastrophe, and +.15 where the targets are."""
    for population in POPULATIONS:
        for tasks in SIZES:
            for repeats in REPEATS:
                for edit in (PLACEBO, sparse(PLACEBO), HARMFUL, sparse(HARMFUL)):
                    yield Asked(edit.name, edit, population, tasks, repeats, seeds, plain=repeats in {1, 3})
        for tasks in (8, 12, 20, 40):
            yield Asked("catastrophe", CATASTROPHE, population, tasks, 3, seeds, plain=True)
        for tasks in (30, 40):
            for edit in (BETTER, sparse(BETTER)):
                yield Asked("+.15", edit, population, tasks, 3, seeds, plain=True)
        for edit in (BETTER, sparse(BETTER)):
            yield Asked("+.15 in training", edit, population, 40, 3, seeds)


def looked(asked: Asked) -> list[Cell]:
    """The cells of one such set: the look as it is, and where wanted without early stopping, strict, McNemar."""
    where = {"edit": asked.edit.effect, "shape": asked.edit.shape, "population": asked.population,
             "tasks": asked.tasks, "repeats": asked.repeats}  # fmt: skip
    cells: list[Cell] = []

    def add(rule: str, repeats: int, alpha: float = ALPHA, *, early: bool = True) -> None:
        plan = boundaries(repeats, alpha, early=early)
        seen = []
        for seed in range(asked.seeds):
            random = stream(asked, seed)  # the same tasks for every rule
            tasks = rates(asked.population, asked.edit, asked.tasks, random)
            seen.append(look(tasks, plan, random, early=early))
        hits = sum(one.accepted for one in seen)
        cells.append(share(asked.experiment, rule, "accepted", hits, asked.seeds, **where))
        full = 2 * asked.tasks * repeats
        cells.append(mean(asked.experiment, rule, "saved", [1 - one.rollouts / full for one in seen], **where))

    if asked.experiment == "+.15 in training":
        add("look, alpha .05/8", asked.repeats, ALPHA / 8)
        return cells
    add("look", asked.repeats)
    if asked.plain:
        add("look, every repeat", asked.repeats, early=False)
        add(MCNEMAR, 1)
        cells.extend(_strict(asked, where))
    return cells


def _strict(asked: Asked, where: dict[str, object]) -> list[Cell]:
    """One candidate, and the best of three that are measured against one run of the live text."""
    one = three = 0
    for seed in range(asked.seeds):
        random = stream(asked, seed)
        tasks = rates(asked.population, asked.edit, asked.tasks, random)
        one += strict(tasks, asked.repeats, random).accepted
        live, *others = (
            sum(random.random() < task[arm] for task in tasks for _ in range(asked.repeats)) for arm in (0, 1, 1, 1)
        )
        three += max(others) > live
    return [
        share(asked.experiment, "strict", "accepted", one, asked.seeds, **where),
        share(asked.experiment, "strict, best of three", "accepted", three, asked.seeds, **where),
    ]


@dataclass(frozen=True)
class Fixed:
    """How often a comparison that runs all repeats finds +.15 with so many tasks."""

    tasks: int
    seeds: int


def fixed_sizes(seeds: int) -> Iterator[Fixed]:
    """Sizes around the one that finds as much as a look on 40 tasks that stops early."""
    yield from (Fixed(tasks, seeds) for tasks in range(34, 41))


def fixed(asked: Fixed) -> list[Cell]:
    """Pooled over populations."""
    plan = boundaries(3, ALPHA, early=False)
    hits = 0
    for population in POPULATIONS:
        for seed in range(asked.seeds):
            random = stream("fixed", population, asked.tasks, seed)
            hits += look(rates(population, BETTER, asked.tasks, random), plan, random, early=False).accepted
    n = asked.seeds * len(POPULATIONS)
    return [share("equal power", "every repeat", "accepted", hits, n, tasks=asked.tasks, edit=0.15)]
