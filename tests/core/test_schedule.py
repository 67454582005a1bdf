"""Edit budgets and batches over a run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_core.schedule import Schedule
from skillopt_core.seeded import Seeded
from skillopt_core.types import Task


def budgets(schedule: Schedule, train: int) -> list[int]:
    return [step.edit_budget for step in schedule.steps(train)]


def test_the_schedules_are_those_of_the_method() -> None:
    eight = {"epochs": 4, "batch": 20}
    assert budgets(Schedule("constant", **eight), 40) == [4] * 8  # type: ignore[arg-type]
    assert budgets(Schedule("linear", **eight, most=9, least=1), 40) == [9, 8, 7, 6, 5, 4, 3, 2]  # type: ignore[arg-type]
    assert budgets(Schedule("cosine", **eight, most=9, least=1), 40) == [9, 9, 8, 7, 5, 3, 2, 1]  # type: ignore[arg-type]
    assert budgets(Schedule("cosine", **eight), 40) == [4, 4, 4, 3, 3, 3, 2, 2]  # type: ignore[arg-type]


def test_an_epoch_has_as_many_steps_as_the_batches_need() -> None:
    assert Schedule(batch=40).steps_per_epoch(41) == 2
    assert Schedule(batch=10, accumulation=2).steps_per_epoch(41) == 3
    assert list(Schedule().steps(0)) == []


@settings(deadline=None)
@given(st.integers(1, 50), st.integers(1, 12), st.integers(1, 3), st.integers(0, 9))
def test_every_train_task_is_seen_once_an_epoch(train: int, batch: int, epochs: int, seed: int) -> None:
    tasks = [Task(str(n), "") for n in range(train)]
    seen: dict[int, list[str]] = {}
    for step in Schedule(batch=batch, epochs=epochs, seed=seed).steps(train):
        seen.setdefault(step.epoch, []).extend(task.id for task in step.batch(tasks))
        assert step.ends_epoch == (len(seen[step.epoch]) == train)
    assert all(sorted(ids) == sorted(task.id for task in tasks) for ids in seen.values())
    assert len(seen) == epochs


def test_batches_depend_on_the_seed_and_the_epoch() -> None:
    tasks = [Task(str(n), "") for n in range(30)]
    firsts = [step.batch(tasks) for step in Schedule(batch=10, epochs=2, seed=1).steps(30) if step.first == 0]
    again = [step.batch(tasks) for step in Schedule(batch=10, epochs=2, seed=1).steps(30) if step.first == 0]
    assert firsts == again
    assert firsts[0] != firsts[1]


def test_a_night_is_one_step_over_all_tasks() -> None:
    (step,) = Schedule.night(edit_budget=3, rollouts=2).steps(17)
    assert (step.edit_budget, step.rollouts, step.size, step.ends_epoch) == (3, 2, 17, True)
    assert Schedule.night().looks(17) == 1


def test_alpha_is_shared_over_slow_updates_too() -> None:
    assert Schedule(epochs=4, batch=20).looks(40) == 8 + 3
    assert Schedule(epochs=4, batch=20, slow_update=0).looks(40) == 8


def test_a_schedule_without_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="schedule"):
        Schedule(batch=0)


def test_the_generator_is_uniform_enough_and_repeatable() -> None:
    stream = Seeded(7)
    counts = [0] * 10
    for _ in range(10_000):
        counts[stream.below(10)] += 1
    assert all(850 < count < 1150 for count in counts)
    assert Seeded(1).bits() == Seeded(1).bits() != Seeded(2).bits()
    assert sorted(Seeded(3).shuffled(range(20))) == list(range(20))
    assert Seeded(3).sample("abcdef", 3) == sorted(Seeded(3).sample("abcdef", 3))
    with pytest.raises(ValueError, match="below"):
        stream.below(0)
