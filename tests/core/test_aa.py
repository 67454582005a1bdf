"""The gate asked about a text and itself: pseudo-arms out of repeats, fresh twins, and when it halts."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import (
    Calibration,
    EvidenceGate,
    LookGate,
    StrictGate,
    against_itself,
    against_repeats,
    cache_fault,
    calibrated,
    pseudo_pairs,
    unless_halted,
)
from skillopt_core.gate.aa import accepted
from skillopt_core.scripted import ScriptedEnvironment
from skillopt_core.seeded import Seeded
from skillopt_core.types import Missing, Outcome, Score, Skill, Task, Trajectory

LIVE = Skill("- a rule")
TASKS = [Task(f"t{n}", "") for n in range(8)]


def run(task: str, draw: int, passed: float, said: str = "") -> Trajectory:
    return Trajectory(task, draw, LIVE.digest, Score(passed, passed), said)


def repeats(passed: Sequence[Sequence[float]]) -> list[Trajectory]:
    return [run(f"t{n}", draw, one) for n, of in enumerate(passed) for draw, one in enumerate(of)]


def test_repeats_are_dealt_to_two_arms_in_turn() -> None:
    runs = repeats([[0, 1], [1, 0]] * 4)  # the second attempt passes on even tasks, the first on odd ones
    assert pseudo_pairs(runs) == 1
    verdict = against_repeats(StrictGate(1), LIVE, TASKS, runs)
    assert [unit.d for unit in verdict.units] == [1.0] * 8  # which arm has the first attempt changes with the task
    assert verdict.outcome is Outcome.ACCEPT
    assert accepted(verdict) is True
    assert accepted(against_repeats(StrictGate(1), LIVE, TASKS, repeats([[1, 1]] * 8))) is False


def test_no_attempt_is_used_twice_and_tasks_without_two_are_left_out() -> None:
    runs = repeats([[0, 1, 1, 0], [1, 1, 1, 1, 0], [1]])
    assert pseudo_pairs(runs) == 2
    verdict = against_repeats(StrictGate(2), LIVE, TASKS, runs)
    assert [(unit.unit, unit.before, unit.after, unit.pairs) for unit in verdict.units] == [
        ("t0", 0.5, 0.5, 2),
        ("t1", 1.0, 1.0, 2),
    ]
    too_many = against_repeats(StrictGate(3), LIVE, TASKS, runs)
    assert too_many.coverage == 4 / 6


def test_without_repeats_there_is_nothing_to_compare() -> None:
    assert pseudo_pairs([]) == pseudo_pairs(repeats([[1], [0]])) == 0
    assert accepted(against_repeats(StrictGate(1), LIVE, TASKS, [])) is None


def test_fresh_twins_are_the_same_text_with_draws_of_their_own() -> None:
    environment = ScriptedEnvironment(lambda *_: Score(1.0, 1.0), deterministic=False)
    verdict = against_itself(StrictGate(), environment, LIVE, TASKS, CountedDraws())
    assert {skill for _, skill, _ in environment.asked} == {LIVE.digest}
    assert len(set(environment.asked)) == len(environment.asked) == 2 * 3 * len(TASKS)
    assert accepted(verdict) is False
    failing = ScriptedEnvironment(lambda *_: Missing("not signed in"), deterministic=False)
    assert accepted(against_itself(EvidenceGate(), failing, LIVE, TASKS, CountedDraws())) is None


def test_an_agent_that_remembers_its_draws_is_no_excuse() -> None:
    """Where an answer depends on the draw alone, twins that shared draws would never differ."""
    environment = ScriptedEnvironment(
        lambda task, _, draw: Score(*[float(Seeded(draw).split(len(task.id)).uniform() < 0.5)] * 2), deterministic=False
    )
    ds = [unit.d for unit in against_itself(StrictGate(), environment, LIVE, TASKS, CountedDraws()).units]
    assert any(ds)


def test_repeats_that_are_identical_to_the_byte_are_a_cache_at_work() -> None:
    assert cache_fault([run("t0", 0, 1, "did it"), run("t0", 1, 1, "did it"), run("t1", 0, 0, "alone")])
    assert not cache_fault([run("t0", 0, 1, "did it"), run("t0", 1, 1, "did it!")])
    assert not cache_fault([run("t0", 0, 1), run("t0", 1, 1)])  # nothing was kept to compare
    assert not cache_fault([run("t0", 0, 1, "a"), run("t1", 0, 1, "a")])


def test_the_gate_halts_at_twenty_and_stays_halted() -> None:
    sound = calibrated([False] * 400, 0.05)
    assert (sound.comparisons, sound.accepted, sound.halted_at) == (400, 0, None)
    assert sound.e < 1
    halted = calibrated([True] * 3 + [False] * 400, 0.05)
    assert halted.halted_at == 2
    assert halted.e < 1
    assert Calibration(0.05).after(accepted=True).halted_at is None


def test_a_halted_gate_proves_nothing() -> None:
    gate = StrictGate()
    assert unless_halted(gate, calibrated([False] * 9, 0.05)) is gate
    environment = ScriptedEnvironment(lambda *_: Score(1.0, 1.0))
    halted = unless_halted(gate, calibrated([True] * 9, 0.05))
    verdict = halted(environment, LIVE, Skill("- a better rule"), TASKS, CountedDraws())
    assert verdict.outcome is Outcome.ABSTAIN
    assert "9 of 9 comparisons of a text with itself" in verdict.why
    assert halted(environment, LIVE, LIVE, TASKS, CountedDraws()).outcome is Outcome.NO_CHANGE
    assert environment.asked == []


def test_a_strict_gate_is_found_within_days_and_a_look_is_not() -> None:
    def year(gate_is_strict: bool, seed: int) -> int | None:
        stream, state = Seeded(seed), Calibration(0.05)
        for _ in range(40):
            runs = repeats([[float(stream.uniform() < 0.55) for _ in range(3)] for _ in TASKS])
            gate = StrictGate(1) if gate_is_strict else LookGate(repeats=1)
            state = state.after(accepted=bool(accepted(against_repeats(gate, LIVE, TASKS, runs))))
            if state.halted_at:
                break
        return state.halted_at

    strict = sorted(year(True, seed) or 99 for seed in range(15))
    assert strict[7] <= 10
    assert sum(year(False, seed) is not None for seed in range(15)) <= 1
