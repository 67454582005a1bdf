"""Attempts that are written down: no draw is paid for twice, a failed one may be tried again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate.pairing import compare
from skillopt_core.protocols import Exhausted
from skillopt_core.scripted import ScriptedEnvironment
from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.redact import Redactor
from skillopt_sleep.replay.journal import Journal
from skillopt_sleep.store.engine import open_store
from skillopt_sleep.store.ledgers import Attempts

AGENT = {"name": "scripted", "version": "1"}
LIVE, CANDIDATE = Skill("live"), Skill("candidate")


class Book:
    """An attempt ledger in memory that counts how often a key was written."""

    def __init__(self) -> None:
        self.kept: dict[str, Trajectory] = {}
        self.written: list[str] = []
        self.calls = 0

    def known(self, keys: Sequence[AttemptKey]) -> Mapping[str, Trajectory]:
        return {key.digest: self.kept[key.digest] for key in keys if key.digest in self.kept}

    def save(self, rows: Sequence[tuple[AttemptKey, Trajectory | str]]) -> None:
        self.calls += 1
        for key, answer in rows:
            self.written.append(key.digest)
            if isinstance(answer, Trajectory):
                self.kept[key.digest] = answer


def tasks(n: int) -> list[Task]:
    return [Task(f"t{i}", "do it") for i in range(n)]


def well(task: Task, skill: Skill, draw: int) -> Score:
    return Score(float(skill is CANDIDATE), 0.5, objectives={"draw": draw})


def test_an_attempt_that_is_known_is_not_made_again() -> None:
    inner, book = ScriptedEnvironment(well), Book()
    first = Journal(inner, book, "c", AGENT).attempt(tasks(3), LIVE, [1, 1, 1])
    again = Journal(inner, book, "c", AGENT).attempt(tasks(4), LIVE, [1, 1, 1, 1])
    assert list(again[:3]) == list(first)
    assert inner.asked == [
        ("t0", LIVE.digest, 1),
        ("t1", LIVE.digest, 1),
        ("t2", LIVE.digest, 1),
        ("t3", LIVE.digest, 1),
    ]


@pytest.mark.parametrize(
    ("comparison", "skill", "draw", "agent"),
    [
        ("another", LIVE, 1, AGENT),
        ("c", CANDIDATE, 1, AGENT),
        ("c", LIVE, 2, AGENT),
        ("c", LIVE, 1, {"name": "scripted", "version": "2"}),
        ("c", LIVE, 1, {**AGENT, "model": "m"}),
        ("c", LIVE, 1, {**AGENT, "settings": "temperature 1"}),
    ],
)
def test_whatever_an_attempt_depends_on_makes_it_another(
    comparison: str, skill: Skill, draw: int, agent: Mapping[str, str]
) -> None:
    inner, book = ScriptedEnvironment(well), Book()
    Journal(inner, book, "c", AGENT).attempt(tasks(1), LIVE, [1])
    Journal(inner, book, comparison, agent).attempt(tasks(1), skill, [draw])
    assert len(inner.asked) == 2


def test_a_failed_attempt_is_missing_and_tried_again_another_time() -> None:
    replies: Iterator[Score | Missing] = iter([Missing("timed out"), Score(1, 1)])
    inner, book = ScriptedEnvironment(lambda *_: next(replies)), Book()
    journal = Journal(inner, book, "c", AGENT)
    assert journal.attempt(tasks(1), LIVE, [1]) == [Missing("timed out")]
    (answer,) = journal.attempt(tasks(1), LIVE, [1])
    assert isinstance(answer, Trajectory)


def test_what_was_done_before_the_budget_was_out_is_kept() -> None:
    inner, book = ScriptedEnvironment(well, limit=4), Book()
    with pytest.raises(Exhausted):
        Journal(inner, book, "c", AGENT, batch=2).attempt(tasks(7), LIVE, [1] * 7)
    assert len(book.kept) == 4
    inner.limit = None
    assert len(Journal(inner, book, "c", AGENT, batch=2).attempt(tasks(7), LIVE, [1] * 7)) == 7
    assert len(inner.asked) == 7


def test_what_was_attempted_since_the_budget_last_had_enough_for_a_whole_batch_is_doubtful() -> None:
    inner, book = ScriptedEnvironment(well, limit=6), Book()
    with pytest.raises(Exhausted) as out:
        Journal(inner, book, "c", AGENT, batch=2).attempt(tasks(9), LIVE, [1] * 9)
    assert [answer.task for answer in out.value.finished if isinstance(answer, Trajectory)] == ["t0", "t1", "t2", "t3"]
    assert out.value.doubtful == {("t4", LIVE.digest, 1), ("t5", LIVE.digest, 1)}
    journal = Journal(ScriptedEnvironment(well, limit=3), Book(), "c", AGENT, batch=2)
    journal.attempt(tasks(3), LIVE, [1] * 3)
    with pytest.raises(Exhausted) as out:
        journal.attempt(tasks(3), CANDIDATE, [1] * 3)
    assert out.value.finished == ()
    assert out.value.doubtful == {("t0", LIVE.digest, 1), ("t1", LIVE.digest, 1), ("t2", LIVE.digest, 1)}


class Paid:
    """Attempts that cost by table, out of a budget: as much is set aside as the dearest one so far, and a quarter."""

    deterministic = False

    def __init__(self, costs: Mapping[tuple[str, str, int], int], budget: int) -> None:
        self.costs = costs
        self.left = float(budget)
        self.dearest = 0

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory]:
        if 1.25 * self.dearest * len(tasks) > self.left:
            raise Exhausted("out")
        for task, draw in zip(tasks, draws, strict=True):
            cost = self.costs[task.id, skill.digest, draw]
            self.left, self.dearest = self.left - cost, max(self.dearest, cost)
        return [Trajectory(task.id, draw, skill.digest, Score(1, 1)) for task, draw in zip(tasks, draws, strict=True)]


A_PAIR = st.tuples(st.integers(1, 9), st.integers(1, 9))


@settings(max_examples=300)
@given(st.lists(st.tuples(A_PAIR, A_PAIR), min_size=3, max_size=9), st.integers(8, 120))
def test_which_pairs_are_finished_does_not_depend_on_which_arm_an_outcome_fell_to(
    costs: list[tuple[tuple[int, int], tuple[int, int]]], budget: int
) -> None:
    """The ground on which pairs are judged that the budget ended: swap any that counts, and the same ones count."""
    table = {
        (task.id, skill.digest, draw): cost[draw][arm]
        for task, cost in zip(tasks(len(costs)), costs, strict=True)
        for draw in (0, 1)
        for arm, skill in enumerate((LIVE, CANDIDATE))
    }
    kept = finished(table, budget, len(costs))
    for task, draw in kept:
        live, new = (task, LIVE.digest, draw), (task, CANDIDATE.digest, draw)
        swapped = table | {live: table[new], new: table[live]}
        assert finished(swapped, budget, len(costs)) == kept


def finished(costs: Mapping[tuple[str, str, int], int], budget: int, n: int) -> set[tuple[str, int]]:
    journal = Journal(Paid(costs, budget), Book(), "c", AGENT, batch=2)
    try:
        found = compare(journal, LIVE, CANDIDATE, tasks(n), CountedDraws(), 2, block=4, keep_cut=True)
    except Exhausted:
        return set()
    return {(pair.task.id, pair.draw) for pair in found.pairs} if found.cut else set()


def test_a_free_agent_is_stored_in_one_transaction_and_a_paid_one_in_small_ones() -> None:
    for batch, calls in ((None, 1), (3, 3)):
        book = Book()
        Journal(ScriptedEnvironment(well), book, "c", AGENT, batch=batch).attempt(tasks(7), LIVE, [1] * 7)
        assert book.calls == calls


def test_nothing_asked_is_nothing_done() -> None:
    book = Book()
    assert Journal(ScriptedEnvironment(well), book, "c", AGENT).attempt([], LIVE, []) == []
    assert book.written == []


def test_it_is_as_deterministic_as_what_it_wraps() -> None:
    for deterministic in (True, False):
        inner = ScriptedEnvironment(well, deterministic=deterministic)
        assert Journal(inner, Book(), "c", AGENT).deterministic is deterministic


Calls = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), unique=True, max_size=8), st.booleans()),
    max_size=6,
)


@given(calls=Calls, batch=st.none() | st.integers(1, 4))
def test_no_key_is_written_twice_and_every_answer_is_in_its_place(
    calls: list[tuple[list[tuple[int, int]], bool]], batch: int | None
) -> None:
    inner, book, every = ScriptedEnvironment(well), Book(), tasks(6)
    for asked, live in calls:
        skill = LIVE if live else CANDIDATE
        journal = Journal(inner, book, "c", AGENT, batch=batch)
        answers = journal.attempt([every[n] for n, _ in asked], skill, [draw for _, draw in asked])
        for (n, draw), answer in zip(asked, answers, strict=True):
            assert isinstance(answer, Trajectory)
            assert (answer.task, answer.draw, answer.skill) == (f"t{n}", draw, skill.digest)
    assert len(book.written) == len(set(book.written)) == len(inner.asked)


def test_the_store_answers_as_the_agent_did(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", FixedClock(1)) as store:
        ledger = Attempts(store, "n-1", Redactor(engine=False).redact)
        inner = ScriptedEnvironment(
            lambda task, skill, draw: Trajectory(
                task.id, draw, skill.digest, Score(0.0, 0.25, ("it failed",), {"prevented": 1.0}), "said", prompt="p"
            )
        )
        first = Journal(inner, ledger, "c", AGENT).attempt(tasks(2), LIVE, [3, 3])
        again = Journal(inner, ledger, "c", AGENT).attempt(tasks(2), LIVE, [3, 3])
        assert list(first) == list(again)
        assert len(inner.asked) == 2
