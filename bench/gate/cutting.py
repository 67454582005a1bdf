"""Comparisons that the budget ends: what an edit without effect comes to where the finished pairs are judged.

An attempt costs what its outcome says (a failed one three times a passed one, or a third), so that where the budget
ends depends on what came out; attempts are paid for two at a time, as much being set aside as the dearest one so far
has taken and a quarter more. The gates and the journal are the product's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from gate.cells import Cell, mean, share, stream
from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import EvidenceGate, LookGate, StrictGate
from skillopt_core.protocols import Exhausted
from skillopt_core.types import Outcome, Score, Skill, Task, Trajectory, Verdict
from skillopt_sleep.calibrate.coins import BETTER, CATASTROPHE, PLACEBO, POPULATIONS, Edit, rates, sparse
from skillopt_sleep.replay.journal import Journal, Passing

ALPHA, REPEATS, BATCH = 0.05, 3, 2
LIVE, CANDIDATE = Skill("live"), Skill("candidate")
COSTS = {"failing is dear": (1.0, 3.0), "failing is cheap": (3.0, 1.0)}
"""Of an attempt that passes and of one that fails."""


@dataclass(frozen=True)
class Asked:
    """One edit on sets of one size of one population, with a budget for about so much of the comparison."""

    edit: Edit
    population: str
    tasks: int
    budget: float
    costs: str
    seeds: int


def budgets(seeds: int) -> Iterator[Asked]:
    """Edits without effect wherever the budget ends, a catastrophe, and one that helps."""
    for population in POPULATIONS:
        for tasks in (8, 20):
            for budget in (0.3, 0.6, 0.9):
                for costs in COSTS:
                    for edit in (PLACEBO, sparse(PLACEBO)):
                        yield Asked(edit, population, tasks, budget, costs, seeds)
        for budget in (0.3, 0.6, 0.9):
            yield Asked(BETTER, population, 20, budget, "failing is dear", seeds)
            yield Asked(CATASTROPHE, population, 20, budget, "failing is dear", seeds)


def cut(asked: Asked) -> list[Cell]:
    """How often each rule believes the edit, and the share of the planned pairs that it had."""
    where = {"edit": asked.edit.effect, "shape": asked.edit.shape, "population": asked.population,
             "tasks": asked.tasks, "budget": asked.budget, "costs": asked.costs}  # fmt: skip
    look, strict, evidence, pairs, ended = 0, 0, 0, [], 0
    for seed in range(asked.seeds):
        one = stream(asked, seed)
        known = rates(asked.population, asked.edit, asked.tasks, one)
        found = _judged(LookGate(ALPHA, repeats=REPEATS, keep_cut=True), asked, known, one)
        look += found is not None and found.outcome is Outcome.ACCEPT
        ended += found is not None and bool(found.counts.get("cut_short"))
        whole = _judged(StrictGate(REPEATS, keep_cut=True), asked, known, one)
        strict += whole is not None and whole.p is not None and whole.p <= ALPHA
        pairs.append(whole.pairs / asked.tasks / REPEATS if whole else 0.0)
        bet = _judged(EvidenceGate(ALPHA, REPEATS), asked, known, one)
        evidence += bet is not None and bet.outcome is Outcome.ACCEPT
    name = f"cut short: {asked.edit.name}"
    return [
        share(name, "look", "accepted", look, asked.seeds, **where),
        share(name, "look", "ended by the budget", ended, asked.seeds, **where),
        share(name, "p of all pairs", "accepted", strict, asked.seeds, **where),
        share(name, "evidence", "accepted", evidence, asked.seeds, **where),
        mean(name, "p of all pairs", "pairs of those planned", pairs, **where),
    ]


def _judged(
    gate: LookGate | StrictGate | EvidenceGate, asked: Asked, known: Sequence[tuple[float, float]], random: Random
) -> Verdict | None:
    """The gate's answer, None where the budget was out before the first pair."""
    passing, failing = COSTS[asked.costs]
    full = sum(passing * rate + failing * (1 - rate) for task in known for rate in task) * REPEATS
    paid = _Paid(known, (passing, failing), full * asked.budget, random)
    environment = Journal(paid, Passing(), "simulated", {"name": "coins"}, batch=BATCH)
    tasks = [Task(str(n), "") for n in range(len(known))]
    try:
        return gate(environment, LIVE, CANDIDATE, tasks, CountedDraws())
    except Exhausted:
        return None


@dataclass
class _Paid:
    """Coins that cost by their outcome, out of a budget."""

    known: Sequence[tuple[float, float]]
    costs: tuple[float, float]
    left: float
    random: Random
    dearest: float = field(default=0.0)
    deterministic: bool = False

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory]:
        if 1.25 * self.dearest * len(tasks) > self.left:
            raise Exhausted("out")
        return [self._one(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def _one(self, task: Task, skill: Skill, draw: int) -> Trajectory:
        passed = self.random.random() < self.known[int(task.id)][skill is CANDIDATE]
        cost = self.costs[not passed]
        self.left, self.dearest = self.left - cost, max(self.dearest, cost)
        return Trajectory(task.id, draw, skill.digest, Score(float(passed), float(passed)))
