"""Attempts of both texts side by side: the same pairs as one after the other, in blocks that keep everybody busy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import StrictGate
from skillopt_core.gate.pairing import FEW, MANY, WAVES, compare
from skillopt_core.protocols import Asked, Exhausted
from skillopt_core.rollout import each, width_of
from skillopt_core.types import Missing, Score, Skill, Task, Trajectory

LIVE, BETTER = Skill("# Memo\n"), Skill("# Memo\n\nName a source.\n")
TASKS = [Task(f"t{n}", f"matter {n}") for n in range(37)]


@dataclass
class Agent:
    """An agent whose score depends on task, text and draw; where `out` is reached the budget is out."""

    out: int = 10**9
    fails: bool = False
    calls: list[list[Asked]] = field(default_factory=list)
    deterministic: bool = False

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        return self.made([(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)])

    def made(self, asked: Sequence[Asked]) -> list[Trajectory | Missing]:
        if sum(map(len, self.calls)) + len(asked) > self.out:
            raise Exhausted("out", doubtful=[(t.id, s.digest, d) for t, s, d in self.calls[-1]] if self.calls else ())
        self.calls.append(list(asked))
        return [self._one(*one) for one in asked]

    def _one(self, task: Task, skill: Skill, draw: int) -> Trajectory | Missing:
        if self.fails or (int(task.id[1:]) + draw) % 7 == 0:
            return Missing("HTTP 500")
        hard = float((int(task.id[1:]) * 3 + draw) % 5 < 2 + (skill is BETTER) * 2)
        return Trajectory(task.id, draw, skill.digest, Score(hard, hard))


@dataclass
class Wide(Agent):
    """The same, so many at a time."""

    width: int = 4

    def attempt_each(self, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
        return self.made(asked)


@pytest.mark.parametrize("width", [2, 4, 32, 200])
def test_the_pairs_are_those_of_one_after_the_other(width: int) -> None:
    plain = compare(Agent(), LIVE, BETTER, TASKS, CountedDraws(5), 3)
    wide = compare(agent := Wide(width=width), LIVE, BETTER, TASKS, CountedDraws(5), 3)
    by_draw = [sorted(found.pairs, key=lambda pair: (pair.draw, pair.task.id)) for found in (wide, plain)]
    assert by_draw[0] == by_draw[1]
    assert (wide.missing, wide.wanted, wide.answered) == (plain.missing, plain.wanted, plain.answered)
    sizes = [len(call) for call in agent.calls]
    assert sizes[0] == min(2 * max(FEW, width // 2), 6 * len(TASKS))
    waves = WAVES if width <= MANY else 2 * WAVES
    assert all(size == waves * width for size in sizes[1:-1]), "every block but the last keeps all of them busy"
    arms = [[skill for _, skill, _ in call[:2]] for call in agent.calls]
    assert all(set(pair) == {LIVE, BETTER} for pair in arms), "the arms of a pair go out together"
    firsts = [call[at][1] for call in agent.calls for at in range(0, len(call), 2)]
    assert abs(firsts.count(LIVE) - firsts.count(BETTER)) <= 3, "neither goes first more often"


def test_a_verdict_is_the_same_either_way() -> None:
    plain = StrictGate(3)(Agent(), LIVE, BETTER, TASKS, CountedDraws(5))
    wide = StrictGate(3)(Wide(), LIVE, BETTER, TASKS, CountedDraws(5))
    assert (wide.outcome, wide.before, wide.after, wide.p) == (plain.outcome, plain.before, plain.after, plain.p)


def test_looks_between_repeats_are_asked_and_may_end_it() -> None:
    seen: list[int] = []
    agent = Wide(width=32)
    stopped = compare(agent, LIVE, BETTER, TASKS, CountedDraws(5), 3, lambda so_far: not seen.append(so_far.repeats))
    assert seen == [1]
    assert stopped.repeats == 1
    assert sum(map(len, agent.calls)) == 2 * len(TASKS)


def test_where_nothing_comes_back_the_rest_is_not_paid_for() -> None:
    agent = Wide(width=4, fails=True)
    assert not compare(agent, LIVE, BETTER, TASKS, CountedDraws(5), 3).pairs
    assert sum(map(len, agent.calls)) == 2 * FEW


def test_a_block_that_the_budget_ends_counts_for_nothing_nor_does_the_one_before() -> None:
    agent = Wide(width=4, out=100)
    with pytest.raises(Exhausted):
        compare(agent, LIVE, BETTER, TASKS, CountedDraws(5), 3)
    agent = Wide(width=4, out=100)
    cut = compare(agent, LIVE, BETTER, TASKS, CountedDraws(5), 3, keep_cut=True)
    assert cut.cut == "out"
    counted = {(task.id, skill.digest, draw) for call in agent.calls[:-1] for task, skill, draw in call}
    assert {(arm.task, arm.skill, arm.draw) for pair in cut.pairs for arm in (pair.live, pair.candidate)} <= counted
    assert cut.pairs


def test_any_environment_can_be_asked_for_attempts_with_texts_of_their_own() -> None:
    asked = [(TASKS[1], LIVE, 1), (TASKS[2], BETTER, 1), (TASKS[3], BETTER, 2)]
    plain, wide = Agent(), Wide()
    assert each(plain, asked) == each(wide, asked)
    assert [len(call) for call in plain.calls] == [1, 2]
    assert (width_of(plain), width_of(wide)) == (1, 4)
