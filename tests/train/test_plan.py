"""What a run plans: looks share alpha, and no more are planned than its gate tasks can pass."""

from __future__ import annotations

import pytest

from skillopt_core.gate import LookGate, OffGate, StrictGate, boundaries, sign_flip_p
from skillopt_core.types import Task, TaskSet
from skillopt_sleep.train.plan import Plan, planned
from skillopt_sleep.train.recipe import Recipe


def tasks(train: int, gate: int, audit: int = 2) -> TaskSet:
    def made(n: int, of: str) -> tuple[Task, ...]:
        return tuple(Task(f"{of}{k}", of, unit=f"{of}{k}") for k in range(n))

    return TaskSet(made(train, "train"), made(gate, "gate"), made(audit, "audit"))


def plan(train: int, held_out: int, **recipe: object) -> Plan:
    return planned(Recipe.model_validate(recipe), tasks(train, held_out), "simulated", deterministic=False)


def test_all_looks_of_a_run_share_alpha_slow_updates_included() -> None:
    found = plan(200, 100, epochs=4, batch_size=40)
    assert found.looks == 4 * 5 + 3
    assert found.alpha == pytest.approx(0.05 / 23)
    assert isinstance(found.gate, LookGate)
    assert found.gate.planned == found.looks
    assert found.notes == ()


@pytest.mark.parametrize("gate", range(5, 12))
def test_a_look_that_is_planned_can_be_passed_if_everything_goes_better(gate: int) -> None:
    found = plan(8, gate)
    assert found.alpha is not None
    assert sign_flip_p([1.0] * gate) <= boundaries(3, found.alpha).last


def test_slow_updates_go_first_then_epochs() -> None:
    assert (plan(8, 8).schedule.slow_update, plan(8, 8).schedule.epochs) == (20, 4)
    shorter = plan(8, 7)
    assert (shorter.schedule.slow_update, shorter.schedule.epochs) == (0, 4)
    assert "7 gate tasks cannot pass 7 looks" in shorter.notes[0]
    assert plan(8, 5).schedule.epochs == 1


def test_gate_tasks_that_can_prove_nothing_are_said_with_what_would_be_enough() -> None:
    found = plan(4, 4)
    assert "4 gate tasks can prove nothing" in found.notes[0]
    assert "--set split=3:5:2" in found.notes[0]
    assert "write 1 more" in found.notes[0]
    assert found.schedule.epochs == 1, "nothing is spent on steps that cannot end well"
    assert "split" not in plan(3, 4).notes[0], "there must be something left to learn from"


def test_twins_count_once() -> None:
    twins = TaskSet((Task("a", "p"),), tuple(Task(f"g{n}", "q", unit=f"u{n % 4}") for n in range(40)))
    assert "4 gate tasks" in planned(Recipe(), twins, "simulated", deterministic=False).notes[0]


def test_the_other_modes_plan_as_the_recipe_says() -> None:
    assert isinstance(plan(4, 4, gate="strict").gate, StrictGate)
    assert isinstance(plan(4, 4, gate="off").gate, OffGate)
    for mode in ("strict", "off"):
        found = plan(4, 4, gate=mode)
        assert (found.alpha, found.notes, found.schedule.epochs) == (None, (), 4)


def test_a_deterministic_agent_needs_no_repeats_and_keeps_all_of_alpha() -> None:
    found = planned(Recipe(), tasks(8, 7), "simulated", deterministic=True)
    assert sign_flip_p([1.0] * 7) <= boundaries(1, found.alpha or 0).last
