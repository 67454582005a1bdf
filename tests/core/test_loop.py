"""The loop with a scripted target and optimizer: every way that a run can go."""

from __future__ import annotations

import ast
import inspect
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

import skillopt_core
from skillopt_core import LookGate, Memory, ProofGate, Schedule, evolve, loop, weigh
from skillopt_core.consolidate import drift
from skillopt_core.gate import EvidenceGate, OffGate, RecordedGate, Recurrence, StrictGate
from skillopt_core.protocols import Gate
from skillopt_core.scripted import ScriptedCritic, ScriptedEnvironment
from skillopt_core.types import (
    Edit,
    Evolution,
    Missing,
    Outcome,
    Patch,
    Refused,
    Score,
    Skill,
    Step,
    Task,
    TaskSet,
    Trajectory,
)

BASE = Skill("# Demo\n\n- Be brief.\n")
GOOD, BAD = Edit("add", "", "- good"), Edit("add", "", "- bad")
TASKS = TaskSet(
    train=tuple(Task(f"train{n}", f"do {n}") for n in range(6)),
    gate=tuple(Task(f"gate{n}", f"do other {n}") for n in range(12)),
)
NIGHT = Schedule.night()


def obedient(task: Task, skill: Skill, draw: int) -> Score:
    """Fails without "good", and with "bad"; even gate tasks only, so that nothing is ever trivial."""
    passed = float("good" in skill.text and "bad" not in skill.text)
    return Score(passed, passed, failed=() if passed else ("an answer without good",))


def run(
    *proposals: Sequence[Edit] | Missing,
    gate: Gate | None = None,
    play: Callable[[Task, Skill, int], Score | Trajectory | Missing] = obedient,
    tasks: TaskSet = TASKS,
    schedule: Schedule = NIGHT,
    **more: object,
) -> Evolution:
    critic = ScriptedCritic(proposals)
    return evolve(BASE, tasks, ScriptedEnvironment(play), critic, gate or ProofGate(), schedule, **more)  # type: ignore[arg-type]


def test_a_good_edit_is_accepted() -> None:
    evolution = run([GOOD])
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.ACCEPT
    assert evolution.verdict.proven
    assert evolution.verdict.e is not None
    assert evolution.verdict.e >= 100
    assert evolution.skill.text == "# Demo\n\n- Be brief.\n- good\n"
    assert evolution.changed
    (step,) = evolution.steps
    assert step.kept
    assert step.train == 0
    assert step.patch.edits == (GOOD,)
    assert evolution.stopped == "done"


def test_a_harmful_edit_is_rejected_and_remembered() -> None:
    memory = Memory()

    def play(task: Task, skill: Skill, draw: int) -> Score:
        return Score(0.0, 0.0) if "bad" in skill.text or task.id == "train0" else Score(1.0, 1.0)

    evolution = run([BAD], gate=LookGate(), play=play, memory=memory)
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.REJECT
    assert evolution.skill == BASE
    row = memory.remembered(BAD, BASE.digest)
    assert row is not None
    assert row.reason == evolution.verdict.why


def test_an_unproven_edit_abstains_and_leaves_the_skill_alone() -> None:
    tasks = replace(TASKS, gate=TASKS.gate[:5])
    evolution = run([GOOD], tasks=tasks)
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.ABSTAIN
    assert evolution.skill == BASE
    assert evolution.steps[0].candidate is not None


def test_a_skill_that_is_not_opened_ends_as_no_exposure() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Trajectory:
        return Trajectory(task.id, draw, skill.digest, obedient(task, skill, draw), opened=False)

    assert run([GOOD], play=play).verdict.outcome is Outcome.NO_EXPOSURE  # type: ignore[union-attr]


def test_without_disjoint_tasks_nothing_is_verified() -> None:
    assert run([GOOD], tasks=replace(TASKS, gate=())).verdict.outcome is Outcome.UNVERIFIED  # type: ignore[union-attr]


@pytest.mark.parametrize("key", ["id", "unit", "source"])
@pytest.mark.parametrize("gate", [ProofGate(), LookGate(), StrictGate(), EvidenceGate(), RecordedGate()])
def test_held_out_tasks_that_overlap_the_train_tasks_are_no_evidence(key: str, gate: Gate) -> None:
    def same(task: Task) -> Task:
        return replace(task, **{key: "same"})  # type: ignore[arg-type]

    tasks = TaskSet((same(TASKS.train[0]),), tuple(map(same, TASKS.gate)))
    evolution = run([GOOD], tasks=tasks, gate=gate)
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.UNVERIFIED


def test_an_outage_of_the_target_is_not_called_no_improvement() -> None:
    evolution = run([GOOD], play=lambda *_: Missing("not signed in"))
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.INFRA_ERROR
    assert evolution.steps[0].events == {"attempt: not signed in": 6}


def test_an_outage_of_the_optimizer_is_not_called_no_improvement() -> None:
    evolution = run(Missing("rate limit"))
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.INFRA_ERROR
    assert evolution.steps[0].events == {"critic: rate limit": 1}


def test_an_optimizer_without_proposals_is_no_change() -> None:
    evolution = run([])
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.NO_CHANGE


@pytest.mark.parametrize("limit", [0, 6, 20])
def test_the_budget_stops_a_run_with_what_it_has(limit: int) -> None:
    environment = ScriptedEnvironment(obedient, limit=limit)
    evolution = evolve(BASE, TASKS, environment, ScriptedCritic([[GOOD]]), ProofGate(), NIGHT)
    assert evolution.stopped == "budget"
    assert evolution.skill == BASE
    assert len(environment.asked) <= limit


def test_what_was_accepted_before_the_budget_ran_out_stays() -> None:
    schedule = Schedule("constant", epochs=2, slow_update=0)
    environment = ScriptedEnvironment(lambda t, s, d: Score(0.5, 0.5) if "good" in s.text else Score(0, 0), limit=31)
    critic = ScriptedCritic([[GOOD], [BAD]])
    evolution = evolve(BASE, TASKS, environment, critic, ProofGate(alpha=0.5), schedule)
    assert evolution.stopped == "budget"
    assert "- good" in evolution.skill.text


def test_without_headroom_the_optimizer_is_not_asked() -> None:
    critic = ScriptedCritic([[GOOD]])
    environment = ScriptedEnvironment(lambda *_: Score(1.0, 1.0))
    evolution = evolve(BASE, TASKS, environment, critic, ProofGate(), NIGHT)
    assert evolution.stopped == "no_headroom"
    assert critic.asked == {}
    assert len(environment.asked) == len(TASKS.train)


def test_without_train_tasks_there_is_nothing_to_do() -> None:
    assert run([GOOD], tasks=TaskSet()).stopped == "nothing_to_do"


def test_an_identical_retry_is_refused_before_any_spend() -> None:
    """Three nights with the same proposal: it is paid for once."""
    memory = Memory()
    environment = ScriptedEnvironment(lambda t, s, d: Score(0.0, 0.0))
    spent = []
    for _ in range(3):
        critic = ScriptedCritic([[replace(GOOD, text="*  GOOD")]])
        evolution = evolve(BASE, TASKS, environment, critic, ProofGate(alpha=0.05), NIGHT, memory=memory)
        spent.append(len(environment.asked))
    assert spent[1] - spent[0] == spent[2] - spent[1] == len(TASKS.train)
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.NO_CHANGE
    assert evolution.steps[0].patch.refused[0].why.startswith("tried before")


def test_a_screen_may_refuse_an_edit() -> None:
    class NoBad:
        def admit(self, patch: Patch, skill: Skill) -> Patch:
            bad = tuple(Refused(edit, "leaks") for edit in patch.edits if "bad" in edit.text)
            return replace(
                patch, edits=tuple(e for e in patch.edits if "bad" not in e.text), refused=patch.refused + bad
            )

    evolution = run([GOOD, BAD], screen=NoBad())
    assert "- good" in evolution.skill.text
    assert [refused.why for refused in evolution.steps[0].patch.refused] == ["leaks"]


def test_the_edit_budget_holds_whatever_the_optimizer_proposes() -> None:
    edits = [Edit("add", "", f"- good {n}") for n in range(9)]
    evolution = run(edits, schedule=Schedule.night(edit_budget=2))
    (step,) = evolution.steps
    assert len(step.patch.edits) == 2
    assert [refused.kind for refused in step.patch.refused] == ["dropped"] * 7
    assert step.proposed == 9
    assert run(edits, schedule=Schedule.night(edit_budget=0)).skill == BASE


def test_support_is_counted_from_what_was_shown() -> None:
    evolution = run([replace(GOOD, support=frozenset({"train1", "gate1", "made up"}))])
    assert evolution.steps[0].patch.edits[0].support == {"train1"}


def test_patience_ends_a_run_that_keeps_nothing() -> None:
    schedule = Schedule("constant", epochs=9, patience=2, slow_update=0)
    never = lambda t, s, d: Score(0.0, 0.0)  # noqa: E731
    evolution = run(
        *([Edit("add", "", f"- try {n}")] for n in range(9)), play=never, gate=LookGate(), schedule=schedule
    )
    assert evolution.stopped == "patience"
    assert len(evolution.steps) == 2


def test_the_next_step_starts_from_what_was_kept() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        return Score(float("good" in skill.text) / 2 + float("two" in skill.text) / 2, 0.0)

    two = Edit("insert_after", "- good", "- two")
    evolution = run([GOOD], [two], play=play, gate=StrictGate(), schedule=Schedule("constant", epochs=2, slow_update=0))
    assert evolution.skill.text.endswith("- good\n- two\n")
    assert [step.kept for step in evolution.steps] == [True, True]


def test_without_a_gate_a_bad_edit_gets_through_and_with_it_not() -> None:
    worse = lambda t, s, d: Score(0.2 if "bad" in s.text else 0.6, 0.0)  # noqa: E731
    assert "bad" in run([BAD], play=worse, gate=OffGate()).skill.text
    for gate in (LookGate(), ProofGate(), StrictGate()):
        assert run([BAD], play=worse, gate=gate).skill == BASE


def test_independent_rollouts_of_a_noisy_target_have_draws_of_their_own() -> None:
    environment = ScriptedEnvironment(lambda *_: Score(0.0, 0.0), deterministic=False)
    evolve(BASE, TASKS, environment, ScriptedCritic([[]]), ProofGate(), Schedule.night(rollouts=3))
    assert len(set(environment.asked)) == len(environment.asked) == 3 * len(TASKS.train)
    once = ScriptedEnvironment(lambda *_: Score(0.0, 0.0))
    evolve(BASE, TASKS, once, ScriptedCritic([[]]), ProofGate(), Schedule.night(rollouts=3))
    assert len(once.asked) == len(TASKS.train)


def test_the_optimizer_sees_train_tasks_only_with_their_prompts() -> None:
    seen: list[Trajectory] = []

    class Watching(ScriptedCritic):
        def reflect(
            self, skill: Skill, shown: Sequence[Trajectory], edit_budget: int, memory: Memory
        ) -> Sequence[Patch | Missing]:
            seen.extend(shown)
            return super().reflect(skill, shown, edit_budget, memory)

    evolve(BASE, TASKS, ScriptedEnvironment(obedient), Watching([[GOOD]]), ProofGate(), NIGHT)
    assert {one.task for one in seen} == {task.id for task in TASKS.train}
    assert {one.prompt for one in seen} == {task.prompt for task in TASKS.train}


@dataclass
class Mending(ScriptedCritic):
    """Corrects what found no place."""

    corrected: Sequence[Edit] = ()
    told: list[Refused] = field(default_factory=list)

    def mend(self, skill: Skill, missed: Sequence[Refused], memory: Memory) -> Patch | Missing:
        self.told += missed
        return Patch(tuple(self.corrected))


def test_a_missed_edit_goes_back_to_the_optimizer_once() -> None:
    lost = Edit("replace", "no such line", "- good", support=frozenset({"train0"}))
    found = Edit("replace", "Be brief.", "good", support=frozenset({"train0", "train5"}))
    critic = Mending([[lost]], corrected=[found, BAD])
    evolution = evolve(BASE, TASKS, ScriptedEnvironment(obedient), critic, ProofGate(), NIGHT)
    assert evolution.skill.text == "# Demo\n\n- good\n"
    assert [refused.why for refused in critic.told] == ["the anchor is not in the document"]
    (step,) = evolution.steps
    assert step.patch.edits == (replace(found, support=frozenset({"train0"})),)
    assert [refused.kind for refused in step.patch.refused] == ["missed"]


def test_one_given_edit_goes_straight_to_the_gate() -> None:
    environment = ScriptedEnvironment(obedient)
    evolution = weigh(BASE, Patch((GOOD,)), TASKS, environment, ProofGate())
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.ACCEPT
    assert "- good" in evolution.skill.text
    assert evolution.steps[0].stage == "prior"
    assert {task for task, *_ in environment.asked} == {task.id for task in TASKS.gate}
    assert weigh(BASE, Patch((GOOD,)), TASKS, ScriptedEnvironment(obedient, limit=3), ProofGate()).stopped == "budget"


def test_a_recorded_rule_ends_supported_and_is_kept() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        applied = "good" in skill.text and task.id != "gate0"
        return Score(float(applied), float(applied), objectives={"applied": 1, "prevented": 1} if applied else {})

    evolution = run([GOOD], play=play, gate=RecordedGate(Recurrence(9, 20, 0.1)))
    assert evolution.verdict is not None
    assert evolution.verdict.outcome is Outcome.SUPPORTED
    assert "- good" in evolution.skill.text
    assert not evolution.verdict.proven


@dataclass
class Guiding(ScriptedCritic):
    """Also looks back at an epoch's end."""

    drifts: list[Mapping[str, Sequence[Trajectory]]] = field(default_factory=list)

    def guidance(self, skill: Skill, drift: Mapping[str, Sequence[Trajectory]], memory: Memory) -> str | Missing:
        self.drifts.append(drift)
        return "- good guidance, once more good"

    def notes(self, steps: Sequence[Step], memory: Memory) -> str | Missing:
        return f"{len(steps)} steps seen; before: {memory.meta or 'nothing'}"


def test_the_slow_update_is_written_into_its_block_and_gated_like_any_other_change() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        passed = {"train0": 0.0, "train1": float("good" not in skill.text)}.get(task.id, float("good" in skill.text))
        bonus = 1.0 if "guidance" in skill.text else 0.5
        return Score(passed * (bonus if task.id.startswith("gate") else 1.0), passed)

    critic = Guiding([[], [GOOD]])
    environment = ScriptedEnvironment(play)
    evolution = evolve(BASE, TASKS, environment, critic, StrictGate(), Schedule("constant", epochs=2))
    assert [step.stage for step in evolution.steps] == ["step", "step", "slow_update"]
    assert "SLOW_UPDATE_START -->\n- good guidance, once more good\n<!-- SLOW" in evolution.skill.text
    (moved,) = critic.drifts
    assert {kind: sorted(run.task for run in runs) for kind, runs in moved.items()} == {
        "improved": ["train2", "train3", "train4", "train5"],
        "regressed": ["train1"],
        "persistent_failure": ["train0"],
    }
    assert evolution.meta == "2 steps seen; before: 1 steps seen; before: nothing"


def test_a_slow_update_that_does_not_help_is_not_kept() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        return Score(0.0 if "guidance" in skill.text else float("good" in skill.text), 0.0)

    critic = Guiding([[], [GOOD]])
    play_train_fails = lambda t, s, d: Score(0.0, 0.0) if t.id == "train0" else play(t, s, d)  # noqa: E731
    environment = ScriptedEnvironment(play_train_fails)
    evolution = evolve(BASE, TASKS, environment, critic, StrictGate(), Schedule("constant", epochs=2))
    assert [step.kept for step in evolution.steps] == [False, True, False]
    assert "SLOW_UPDATE" not in evolution.skill.text


def test_drift_is_judged_beyond_noise() -> None:
    def runs(passes: int) -> list[Trajectory]:
        return [Trajectory("a", n, "", Score(float(n < passes), 0.0)) for n in range(3)]

    assert list(drift(runs(1), runs(2), deterministic=False)) == ["stable_success"]
    assert list(drift(runs(0), runs(2), deterministic=False)) == ["improved"]
    assert list(drift(runs(3), runs(1), deterministic=False)) == ["regressed"]
    assert list(drift(runs(1), runs(2), deterministic=True)) == ["improved"]
    assert drift(runs(1), [], deterministic=True) == {}


def test_the_observer_is_told_of_every_step_and_of_the_end() -> None:
    told: list[object] = []

    class Listening:
        def step(self, step: Step) -> None:
            told.append(step.number)

        def done(self, evolution: Evolution) -> None:
            told.append(evolution.stopped)

    run([GOOD], [], observer=Listening(), schedule=Schedule("constant", epochs=2, slow_update=0))
    assert told == [0, 1, "done"]


def test_a_run_repeats_itself_exactly() -> None:
    schedule = Schedule(batch=2, epochs=3, seed=5, slow_update=0)
    proposals = [[Edit("add", "", f"- good {n}")] for n in range(9)]
    first, second = (run(*proposals, gate=StrictGate(), schedule=schedule) for _ in range(2))
    assert first == second


def test_a_thousand_tasks_with_three_repeats_take_little_of_the_loop() -> None:
    tasks = TaskSet(tuple(Task(f"a{n}", "x") for n in range(500)), tuple(Task(f"b{n}", "x") for n in range(1000)))
    environment = ScriptedEnvironment(obedient, deterministic=False)
    began = time.perf_counter()
    evolve(BASE, tasks, environment, ScriptedCritic([[GOOD]]), LookGate(early=False), NIGHT)
    assert time.perf_counter() - began < 4.5  # measured under .5 s; three times the promise


def test_evolve_is_short_and_flat() -> None:
    """At most about 40 lines and two levels: a newcomer reads the method there."""
    source = inspect.getsource(loop.evolve)
    assert len(source.splitlines()) <= 42
    (function,) = ast.parse(source).body

    def depth(node: ast.AST) -> int:
        nested = (ast.For, ast.While, ast.If, ast.With, ast.Try)
        inner = max((depth(child) for child in ast.iter_child_nodes(node)), default=0)
        return inner + isinstance(node, nested)

    assert depth(function) <= 2


def test_the_public_names_are_sorted_and_true() -> None:
    assert list(skillopt_core.__all__) == sorted(skillopt_core.__all__, key=str)
    assert len(skillopt_core.__all__) == 12


def test_the_public_names_say_what_they_take_and_where_it_comes_from() -> None:
    for name in skillopt_core.__all__:
        promised = inspect.getdoc(getattr(skillopt_core, name)) or ""
        assert re.search(r"\((?:method|gate)\.md", promised), name
        assert len(promised.splitlines()) > 2, name
