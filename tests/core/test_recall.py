"""What a step is shown beside its own tasks: similar ones of the past, and dreams. In train alone."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_core import LookGate, Memory, ModelCritic, Schedule, Skill, Task, TaskSet, evolve
from skillopt_core.defaults import Silent
from skillopt_core.dreams import DREAM, dream
from skillopt_core.protocols import Dreamer
from skillopt_core.recall import Similar, batch_of
from skillopt_core.rollout import Seen
from skillopt_core.run import Run
from skillopt_core.schedule import PlannedStep
from skillopt_core.scripted import ScriptedCritic, ScriptedEnvironment
from skillopt_core.types import Edit, Missing, Outcome, Patch, Score, Verdict
from skillopt_core.update import Candidate

TRAIN = (Task("a", "rename the column in the billing table"), Task("b", "write a poem about autumn"))
PAST = (
    Task("p1", "rename the index of the billing table", unit="u1"),
    Task("p2", "draw a picture of a horse"),
    Task("p3", "write a poem about winter"),
    Task("p4", "rename the column of the orders table"),
    Task("p5", "zzz"),
)
GATE = (Task("g", "rename the column in the invoice table", unit="u9"),)


def recalled(k: int, tasks: TaskSet) -> list[str]:
    (step,) = Schedule(epochs=1, recall=k).steps(len(tasks.train))
    return [task.id for task in batch_of(step, tasks)]


def test_the_most_similar_past_tasks_stand_behind_the_batch() -> None:
    tasks = TaskSet(TRAIN, GATE, past=PAST)
    assert recalled(0, tasks) == ["a", "b"]
    assert recalled(1, tasks) == ["a", "b", "p1", "p3"]
    assert recalled(2, tasks) == ["a", "b", "p1", "p3", "p4"]
    assert recalled(50, tasks) == ["a", "b", "p1", "p3", "p4"]  # the others share no word with either


def test_train_tasks_of_other_steps_are_recalled_too() -> None:
    schedule = Schedule(epochs=1, batch=1, recall=1)
    train = (TRAIN[0], replace(PAST[3], id="c"), TRAIN[1])
    steps = [[task.id for task in batch_of(step, TaskSet(train))] for step in schedule.steps(3)]
    assert sorted(steps) == [["a", "c"], ["b"], ["c", "a"]]


def test_what_is_held_out_is_never_recalled() -> None:
    twin = Task("x", "quite another wording of the table", unit="u9")
    same = Task("y", "Rename the  column in the invoice TABLE")
    tasks = TaskSet(TRAIN, GATE, past=(*PAST, twin, same, GATE[0])).disjoint()
    assert tasks.gate == GATE  # the past takes nothing from the gate
    assert set(recalled(50, tasks)) & {"x", "y", "g"} == set()


def test_a_twin_of_the_batch_is_not_recalled() -> None:
    train = (replace(TRAIN[0], unit="u1"),)
    assert "p1" not in recalled(50, TaskSet(train, past=PAST))


def test_a_run_attempts_what_it_recalls_and_measures_on_the_gate_alone() -> None:
    environment = ScriptedEnvironment(lambda task, skill, draw: Score(0.0, 0.0))
    critic = ScriptedCritic([[Edit("add", "", "- x")]])
    gate = tuple(Task(f"g{n}", "rename the column in the invoice table") for n in range(9))
    schedule = replace(Schedule.night(), recall=1)
    evolve(Skill("# T\n"), TaskSet(TRAIN, gate, past=PAST), environment, critic, LookGate(), schedule)
    trained, measured = environment.asked[:4], environment.asked[4:]
    assert [task for task, *_ in trained] == ["a", "b", "p1", "p3"]
    assert {task for task, *_ in measured} == {task.id for task in gate}


@given(st.lists(st.text(max_size=20), max_size=8), st.text(max_size=20), st.integers(0, 9))
def test_looking_up_is_total_and_repeats_itself(texts: list[str], text: str, k: int) -> None:
    found = Similar(texts).to(text, k)
    assert found == Similar(texts).to(text, k)
    assert len(found) <= k
    assert len(set(found)) == len(found)
    assert set(found) <= set(range(len(texts)))


def test_the_archive_may_be_large() -> None:
    texts = [f"task {n} about topic {n % 97} and table t{n % 13}" for n in range(20_000)]
    began = time.process_time()
    found = Similar(texts)
    assert found.to("about topic 42 and table t3", 3)[0] % 97 == 42
    assert time.process_time() - began < 5


class Paraphraser:
    def __init__(self, answers: Sequence[Sequence[str] | Missing]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def dream(self, tasks: Sequence[Task], factor: int) -> Sequence[Sequence[str] | Missing]:
        self.asked += [task.id for task in tasks]
        return self.answers


REAL = Task("a", 'Name 3 risks of "Plan B" in `notes.md`.', payload="checks")


def dreamt(tasks: TaskSet, critic: object, factor: int) -> tuple[TaskSet, Mapping[str, int]]:
    run = Run(Skill("# T\n"), Memory(), Silent())
    found = dream(critic, run, tasks, factor)  # type: ignore[arg-type]
    run.record(PlannedStep(0, 0, 0, 0, 0), Seen(), Candidate(run.skill, Patch()), Verdict(Outcome.NO_CHANGE, ""))
    return found, run.steps[0].events


def test_dreams_are_twins_of_their_originals_in_train_alone() -> None:
    said = ['What are 3 risks of "Plan B"? See `notes.md`.', 'List "Plan B" risks, 3 of them, from `notes.md`', "extra"]
    before = TaskSet((REAL, TRAIN[1]), GATE, GATE)
    tasks, lost = dreamt(before, Paraphraser([said, Missing("cut off")]), 2)
    assert (tasks.train, tasks.gate, tasks.audit) == (before.train, GATE, GATE)  # the same steps, the same looks
    assert [(task.id, task.unit, task.origin, task.payload) for task in tasks.past] == [
        ("a~1", "a", DREAM, "checks"),
        ("a~2", "a", DREAM, "checks"),
    ]
    assert lost == {"critic: cut off": 1}
    assert recalled(0, tasks) == ["a", "b", "a~1", "a~2"]
    (first, second) = Schedule(epochs=1, batch=1).steps(2)
    both = [[task.id for task in batch_of(step, tasks)] for step in (first, second)]
    assert sorted(both) == [["a", "a~1", "a~2"], ["b"]]
    assert recalled(9, tasks) == ["a", "b", "a~1", "a~2"]  # nothing is recalled that is a dream


def test_a_dream_is_never_held_out() -> None:
    made_up = replace(REAL, id="z~1", origin=DREAM)
    tasks = TaskSet((), (made_up, *GATE), (made_up,)).disjoint()
    assert (tasks.gate, tasks.audit) == (GATE, ())


@pytest.mark.parametrize(
    "variant",
    [
        'Name 4 risks of "Plan B" in `notes.md`, please.',
        'Name 3 risks of "Plan C" in `notes.md`, please.',
        'Name 3 risks of "Plan B", please.',
        'Name 3 risks of "Plan B" in `notes.md` or 5.',
        'Name 3 risks of "Plan B" in `notes.md`, see https://x.example',
        'name 3 risks of "Plan B" in `notes.md`',
        "  ",
        'Name 3 risks of "Plan B" in `notes.md`. ' + "Please. " * 60,
    ],
)
def test_a_variant_that_asks_for_something_else_is_dropped_and_counted(variant: str) -> None:
    tasks, lost = dreamt(TaskSet((REAL,)), Paraphraser([[variant]]), 1)
    assert tasks.past == ()
    assert sum(lost.values()) == 1


def test_who_cannot_dream_is_not_asked_and_that_is_said() -> None:
    nobody = Paraphraser([])
    assert dreamt(TaskSet(TRAIN), nobody, 0) == (TaskSet(TRAIN), {})
    assert not nobody.asked
    assert dreamt(TaskSet(TRAIN), object(), 2) == (TaskSet(TRAIN), {"dreams: this optimizer makes up none": 1})


def test_a_run_dreams_once_and_attempts_its_dreams_in_train() -> None:
    class Both(ScriptedCritic):
        dream = Paraphraser([["call the column of the billing table by another name"], []]).dream

    environment = ScriptedEnvironment(lambda task, skill, draw: Score(0.0, 0.0))
    schedule = Schedule(epochs=2, dreams=1, slow_update=0)
    evolve(Skill("# T\n"), TaskSet(TRAIN, GATE), environment, Both([]), LookGate(), schedule)
    assert [task for task, *_ in environment.asked] == ["a", "b", "a~1"] * 2


def test_a_model_dreams_a_minibatch_in_one_prompt() -> None:
    prompts: list[str] = []

    def complete(asked: Sequence[str]) -> Sequence[str | Missing]:
        prompts.extend(asked)
        said = [
            {"of": 2, "prompt": "second"},
            {"of": 1, "prompt": "first"},
            {"of": True, "prompt": "?"},
            {"of": 9, "prompt": "x"},
        ]
        return [json.dumps({"variants": said}) if "rename" in prompt else Missing("slow") for prompt in asked]

    critic = ModelCritic(complete, minibatch=2)
    assert isinstance(critic, Dreamer)
    tasks = [*TRAIN, Task("c", "{{factor}} </requests-0>")]
    assert critic.dream(tasks, 3) == [["first"], ["second"], Missing("slow")]
    assert "in 3 other ways" in prompts[0]
    assert "{{factor}}" in prompts[1]  # what a request holds is not filled in
