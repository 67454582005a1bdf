"""The simulations decide as the gates do, and a small seeded set of what bench/gate_simulations.py shows in full."""

from __future__ import annotations

from random import Random

import pytest

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import EvidenceGate, LookGate, StrictGate, boundaries, protect, trial_over
from skillopt_core.scripted import ScriptedEnvironment
from skillopt_core.types import Outcome, Score, Skill, Task, UnitScore
from skillopt_sleep.calibrate.coins import (
    BETTER,
    CATASTROPHE,
    HARMFUL,
    PLACEBO,
    POPULATIONS,
    Edit,
    rates,
    sparse,
)
from skillopt_sleep.calibrate.simulated import Season, look, strict, trial

LIVE, NEW = Skill("live"), Skill("candidate, and longer")
EDITS = (PLACEBO, sparse(PLACEBO), HARMFUL, sparse(HARMFUL), BETTER, sparse(BETTER), CATASTROPHE)


class Remembered(Random):
    """Random numbers that can be read again in the order in which they were drawn."""

    def __init__(self, seed: object) -> None:
        super().__init__(str(seed))
        self.drawn: list[float] = []

    def random(self) -> float:
        self.drawn.append(super().random())
        return self.drawn[-1]


class SameCoins:
    """A noisy agent whose coins are those of a simulation: by repeat and task, the candidate's coin first."""

    deterministic = False

    def __init__(self, tasks: list[tuple[float, float]], coins: list[float]) -> None:
        self.environment = ScriptedEnvironment(self._play, deterministic=False)
        self.tasks, self.coins = tasks, coins
        self.attempt = self.environment.attempt

    def _play(self, task: Task, skill: Skill, draw: int) -> Score:
        live = int(skill == LIVE)
        at = 2 * (draw * len(self.tasks) + int(task.id)) + live
        passed = float(self.coins[at] < self.tasks[int(task.id)][1 - live])
        return Score(passed, passed)


@pytest.mark.parametrize("n", [4, 8, 30])
@pytest.mark.parametrize("repeats", [1, 2, 3, 5])
@pytest.mark.parametrize("early", [True, False])
def test_a_simulated_look_is_a_look(n: int, repeats: int, early: bool) -> None:
    seen = set()
    for seed in range(40):
        edit = EDITS[seed % len(EDITS)]
        tasks = rates("spread", edit, n, Random(f"tasks {seed}"))
        random = Remembered(seed)
        simulated = look(tasks, boundaries(repeats, 0.05, early=early), random, early=early)
        agent = SameCoins(tasks, random.drawn)
        gate = LookGate(repeats=repeats, early=early)
        verdict = gate(agent, LIVE, NEW, [Task(str(i), "") for i in range(n)], CountedDraws())
        assert simulated.accepted == (verdict.outcome is Outcome.ACCEPT)
        assert simulated.rollouts == len(agent.environment.asked)
        seen.add(simulated.accepted)
    assert n < 30 or seen == {True, False}


def test_a_simulated_strict_gate_is_the_strict_gate() -> None:
    for seed in range(40):
        tasks = rates("even", PLACEBO, 12, Random(f"tasks {seed}"))
        random = Remembered(seed)
        simulated = strict(tasks, 3, random)
        gate = StrictGate()
        verdict = gate(SameCoins(tasks, random.drawn), LIVE, NEW, [Task(str(i), "") for i in range(12)], CountedDraws())
        assert simulated.accepted == (verdict.outcome is Outcome.ACCEPT)


@pytest.mark.parametrize("edit", [PLACEBO, BETTER, HARMFUL])
def test_a_simulated_trial_is_a_trial(edit: Edit) -> None:
    for seed in range(6):
        simulated = trial(Season("even"), edit, (100,), Random(f"trial {seed}"))
        random = Remembered(f"trial {seed}")
        prior: tuple[UnitScore, ...] = ()
        for night in range(1, 61):
            tasks = rates("even", edit, 4, random)
            at = len(random.drawn)
            coins = [random.random() for _ in range(24)]
            assert len(random.drawn) == at + 24
            batch = [Task(str(i), "", unit=f"{night}.{i}") for i in range(4)]
            verdict = EvidenceGate(prior=prior)(SameCoins(tasks, coins), LIVE, NEW, batch, CountedDraws())
            prior = verdict.units
            e, reverse = verdict.e or 0.0, verdict.e_reverse or 0.0
            if verdict.outcome is Outcome.ACCEPT or trial_over(e, reverse, night, others_wait=False):
                break
        assert simulated.nights == night
        assert simulated.reached == ((night,) if verdict.outcome is Outcome.ACCEPT else (None,))


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("edit", EDITS)
def test_the_true_effect_of_an_edit_is_what_its_name_says(population: str, edit: Edit) -> None:
    pairs = rates(population, edit, 40_000, Random("effect"))
    assert sum(live for live, _ in pairs) / len(pairs) == pytest.approx(0.55, abs=0.01)
    assert sum(candidate - live for live, candidate in pairs) / len(pairs) == pytest.approx(edit.effect, abs=0.01)
    assert all(0 <= rate <= 1 for pair in pairs for rate in pair)


def share(edit: Edit, tasks: int, repeats: int, seeds: int = 160) -> float:
    plan, hits = boundaries(repeats, 0.05), 0
    for population in POPULATIONS:
        for seed in range(seeds):
            random = Random(f"{edit} {population} {tasks} {repeats} {seed}")
            hits += look(rates(population, edit, tasks, random), plan, random).accepted
    return hits / seeds / len(POPULATIONS)


def test_a_look_believes_good_edits_and_little_else() -> None:
    """640 runs a figure, a standard error of .009 at .05 and .016 at .80."""
    assert share(PLACEBO, 40, 3) <= 0.06
    assert share(sparse(PLACEBO), 20, 3) <= 0.06
    assert share(HARMFUL, 40, 3) <= 0.005
    assert share(BETTER, 40, 3) >= 0.75
    assert share(sparse(BETTER), 40, 3) >= 0.65


def test_evidence_finds_good_edits_in_weeks_and_little_else() -> None:
    def found(edit: Edit, seeds: int = 40) -> list[int | None]:
        return [
            trial(Season(population), edit, (100,), Random(f"{edit} {population} {seed}")).reached[0]
            for population in POPULATIONS
            for seed in range(seeds)
        ]

    good = found(BETTER)
    assert sum(night is not None for night in good) >= 0.96 * len(good)
    assert sorted(night or 99 for night in good)[len(good) // 2] <= 20
    for edit in (PLACEBO, sparse(PLACEBO), CATASTROPHE, HARMFUL):
        assert sum(night is not None for night in found(edit)) <= 5


@pytest.mark.parametrize(("k", "repeats"), [(10, 3), (20, 3), (20, 2)])
def test_tasks_that_passed_five_times_are_rarely_broken_by_luck(k: int, repeats: int) -> None:
    """Tasks of .85 on average: what five passes in a row let through where pass rates are spread from .1 to 1."""

    def vetoed(seed: int, *, broken: bool) -> bool:
        random = Random(f"guard {seed}")
        passes = [max(random.random() for _ in range(6)) for _ in range(k)]

        def play(task: Task, skill: Skill, draw: int) -> Score:
            rate = passes[int(task.id)]
            if broken and task.id == "0":
                rate = 1.0 if skill is LIVE else 0.3
            passed = float(random.random() < rate)
            return Score(passed, passed)

        tasks = [Task(str(n), "", protected=True) for n in range(k)]
        agent = ScriptedEnvironment(play, deterministic=False)
        return bool(protect(agent, LIVE, NEW, tasks, CountedDraws(), repeats).broken)

    assert sum(vetoed(seed, broken=False) for seed in range(120)) <= 0.12 * 120
    assert sum(vetoed(seed, broken=True) for seed in range(120)) >= (0.85 if repeats == 3 else 0.75) * 120
