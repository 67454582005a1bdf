"""Which edits carry a patch, what a task set could show, and what a run's health looks like."""

from __future__ import annotations

import pytest

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate.attribution import attribute, carried
from skillopt_core.gate.power import power, units_for
from skillopt_core.health import health, shift
from skillopt_core.scripted import ScriptedEnvironment
from skillopt_core.types import Edit, Evolution, Missing, Outcome, Patch, Score, Skill, Step, Task, Verdict

BASE = Skill("# T\n")
GOOD, IDLE, BAD = (Edit("add", "", f"- {name}") for name in ("good", "idle", "bad"))
TASKS = [Task(f"t{n}", "") for n in range(8)]


def play(task: Task, skill: Skill, draw: int) -> Score:
    passed = float("good" in skill.text and ("bad" not in skill.text or task.id != "t0"))
    return Score(passed, passed)


def test_leaving_one_out_tells_what_carries_a_patch() -> None:
    environment = ScriptedEnvironment(play)
    shares = attribute(environment, BASE, Patch((GOOD, IDLE, BAD)), TASKS, CountedDraws())
    assert [(share.edit, share.says) for share in shares] == [(GOOD, "carries"), (IDLE, "nothing"), (BAD, "nothing")]
    assert [share.effect for share in shares] == [7 / 8, 0, -1 / 8]
    assert len(environment.asked) == 3 * 2 * len(TASKS)
    assert carried(BASE, Patch((GOOD, IDLE, BAD)), shares).skill.text == "# T\n\n- good\n"


def test_a_patch_of_one_edit_costs_nothing_to_attribute() -> None:
    environment = ScriptedEnvironment(play)
    (share,) = attribute(environment, BASE, Patch((GOOD,)), TASKS, CountedDraws())
    assert share.says == "carries"
    assert environment.asked == []


def test_what_could_not_be_measured_stays_open_and_is_kept() -> None:
    patch = Patch((GOOD, IDLE))
    shares = attribute(ScriptedEnvironment(lambda *_: Missing("timeout")), BASE, patch, TASKS, CountedDraws())
    assert [share.says for share in shares] == ["open", "open"]
    assert carried(BASE, patch, shares).patch.edits == (GOOD, IDLE)
    idle = attribute(ScriptedEnvironment(lambda *_: Score(1.0, 1.0)), BASE, patch, TASKS, CountedDraws())
    assert carried(BASE, patch, idle).patch.edits == (GOOD, IDLE)  # an accepted patch is never emptied


def test_the_power_of_a_look_is_what_gate_md_says() -> None:
    assert [units_for(effect) for effect in (0.4, 0.25, 0.15, 0.1)] == [9, 17, 40, 86]
    assert units_for(0.9) == 5
    found = power(39)
    assert found.detectable_effect == pytest.approx(0.15, abs=0.005)
    assert (found.discordant_needed, found.attempts, found.least_p) == (5, 234, 2.0**-39)
    assert power(4).detectable_effect is None
    assert power(39, alpha=0.01).discordant_needed == 7
    with pytest.raises(ValueError, match="above zero"):
        units_for(0)


def step(n: int, train: float, before: float, effect: float, *, kept: bool = False) -> Step:
    verdict = Verdict(Outcome.ACCEPT if kept else Outcome.REJECT, "", before=before, effect=effect)
    return Step(0, n, 4, 1, Patch((GOOD,)), Skill("x"), verdict, train, kept)


def named(*steps: Step, gate_tasks: int = 60, **more: object) -> list[str]:
    evolution = Evolution(BASE, BASE, steps)
    return [signal.name for signal in health(evolution, gate_tasks, **more)]  # type: ignore[arg-type]


def test_a_healthy_run_raises_nothing() -> None:
    assert named(step(0, 0.5, 0.5, 0.1, kept=True), step(1, 0.6, 0.6, 0.02)) == []
    assert named() == []


def test_each_signal_is_raised_at_its_threshold() -> None:
    assert named(step(0, 0.5, 0.5, -0.1), step(1, 0.5, 0.5, 0.05)) == ["acceptance"]
    assert named(step(0, 0.5, 0.5, 0.0), step(1, 0.5, 0.5, 0.005)) == ["acceptance", "contamination"]
    assert named(step(0, 0.5, 0.5, 0.1, kept=True), step(1, 0.8, 0.5, 0.1, kept=True)) == ["overfitting"]
    assert named(step(0, 0.39, 0.5, 0.1, kept=True)) == ["baseline"]
    assert named(gate_tasks=49) == ["gate_tasks"]
    assert named(tokens_per_epoch=100_001) == ["tokens"]
    assert named(patterns=6) == ["patterns"]
    assert named(mix_before={"a": 10}, mix_now={"a": 6, "b": 4}) == ["shift"]
    assert named(tokens_per_epoch=100_000, patterns=5, mix_before={"a": 10}, mix_now={"a": 7, "b": 3}) == []


def test_the_shift_is_the_share_that_would_have_to_change() -> None:
    assert shift({"a": 1}, {"b": 1}) == 1
    assert shift({"a": 1, "b": 1}, {"a": 3, "b": 1}) == pytest.approx(0.25)
    assert shift({}, {"a": 1}) == 0
