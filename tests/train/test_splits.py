"""Splits: by ratio, by whole twin groups, given by the files; disjoint whatever comes."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_core.types import Score
from skillopt_sleep.errors import UsageError
from skillopt_sleep.train.rows import LoadedTask
from skillopt_sleep.train.splits import Tasks, split, twins


def task(name: str, prompt: str = "", **given: object) -> LoadedTask:
    return LoadedTask(name, prompt or f"do {name}", lambda _: Score(1, 1), where=f"tasks.jsonl:{name}", **given)  # type: ignore[arg-type]


def many(n: int) -> list[LoadedTask]:
    return [task(str(number)) for number in range(n)]


def sizes(tasks: Tasks) -> tuple[int, int, int]:
    return len(tasks.train), len(tasks.gate), len(tasks.audit)


def ids(tasks: Iterable[LoadedTask]) -> set[str]:
    return {one.id for one in tasks}


@pytest.mark.parametrize(
    ("n", "wanted"), [(100, (20, 10, 70)), (1000, (200, 100, 700)), (99, (40, 39, 20)), (10, (4, 4, 2)), (3, (1, 1, 1))]
)
def test_the_ratio_is_the_papers_from_a_hundred_on_and_favours_the_gate_below(n, wanted):
    got = sizes(split(many(n)))
    assert sum(got) == n
    assert all(abs(a - b) <= 1 for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_tasks_are_said_to_prove_nothing(n):
    tasks = split(many(n))
    assert sizes(tasks)[1] == 1, "the gate comes first"
    assert any("no audit tasks" in line for line in tasks.warnings)
    assert any("can prove no effect at all" in line for line in tasks.warnings)


def test_what_the_gate_could_detect_is_said():
    (line,) = split(many(90), repeats=3, alpha=0.05).warnings
    assert "train 36, gate 36, audit 18" in line
    assert "an effect of +0.16 or more (power 80 %, α 0.05, 3 repeats)" in line


def test_a_ratio_of_ones_own_and_a_split_that_gets_nothing():
    assert sizes(split(many(30), ratio=(1, 2, 0))) == (10, 20, 0)


def test_the_seed_decides_and_the_order_of_the_lines_does_not():
    tasks = many(50)
    shuffled = random.Random(3).sample(tasks, len(tasks))
    assert ids(split(tasks, seed=1).gate) == ids(split(shuffled, seed=1).gate)
    assert ids(split(tasks, seed=1).gate) != ids(split(tasks, seed=2).gate)


def test_twins_are_one_unit_whatever_case_and_spacing_they_are_written_in():
    tasks = [task("a", "Say  hello"), task("b", "say HELLO\n"), task("c", group="g"), task("d", group="g"), task("e")]
    tasks += [task("f", "Say hello", files={"x": b"1"}), task("g", "Add 3*4"), task("h", "Add 3+4")]
    assert [sorted(ids(group)) for group in twins(tasks).values()] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
        ["f"],
        ["g"],
        ["h"],
    ]


ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40)


@given(ROWS, st.integers(0, 2**32), st.lists(st.integers(0, 12), max_size=5))
def test_no_split_shares_a_unit_with_another_and_no_task_is_lost(rows, seed, audit):
    tasks = [task(f"t{n}", f"prompt {a}", group=f"g{b}") for n, (a, b) in enumerate(rows)]
    held_out = [task(f"a{n}", f"prompt {100 + a}", group="") for n, a in enumerate(audit)]
    got = split(tasks, seed=seed, audit=held_out)
    assert ids(got.all) == ids([*tasks, *held_out])
    assert len(got.all) == len(tasks) + len(held_out)
    core = got.task_set()
    assert core.disjoint() == core
    seen: set[str] = set()
    for part in (core.train, core.gate, core.audit):
        units = {one.unit for one in part}
        assert not units & seen
        seen |= units
    assert len(seen) == len(twins([*tasks, *held_out]))


def test_splits_that_the_files_give_are_kept_and_the_rest_is_shared_over_the_others():
    got = split([*many(15), task("x", split="audit"), task("y", split="audit")])
    assert ids(got.audit) == {"x", "y"}
    assert sizes(got) == (7, 8, 2)
    assert sizes(split(many(15), audit=[task("x")])) == (7, 8, 1)


@pytest.mark.parametrize(
    "tasks",
    [
        [task("a", "same", split="train"), task("b", "Same", split="audit")],
        [task("a", group="g", split="train"), task("b", group="g", split="gate")],
        [task("a", "same", split="audit"), task("b", "same"), task("c")],
    ],
)
def test_twins_in_two_splits_are_refused_with_both_lines(tasks):
    with pytest.raises(UsageError, match=r"twin of tasks\.jsonl:a") as caught:
        split(tasks)
    assert caught.value.where == "tasks.jsonl:b"


def test_a_task_of_the_audit_file_may_not_be_a_train_task_too():
    with pytest.raises(UsageError, match="audit task too"):
        split([task("a")], audit=[task("a", "another")])
    with pytest.raises(UsageError, match="twin"):
        split([task("a", "same"), task("b")], audit=[task("c", "same")])


def test_an_open_task_beside_three_given_splits_is_refused():
    given_all = [task(name, split=name) for name in ("train", "gate", "audit")]
    with pytest.raises(UsageError, match="names no split"):
        split([*given_all, task("x")])


def test_the_core_gets_the_loaded_task_as_payload():
    got = split(many(3)).task_set()
    (one,) = got.gate
    assert isinstance(one.payload, LoadedTask)
    assert (one.payload.id, one.payload.prompt) == (one.id, one.prompt)
