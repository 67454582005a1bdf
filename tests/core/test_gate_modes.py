"""The replaying gates: each verdict, and what may not become one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import EvidenceGate, LookGate, Metric, OffGate, ProofGate, StrictGate, e_value, works
from skillopt_core.protocols import Exhausted, Gate
from skillopt_core.scripted import ScriptedEnvironment
from skillopt_core.seeded import Seeded
from skillopt_core.types import Missing, Outcome, Score, Skill, Task, Trajectory, UnitScore, Verdict

LIVE, NEW = Skill("- old rule, with words"), Skill("- new rule, with more words")
TASKS = [Task(f"t{n}", f"do {n}", began=n) for n in range(12)]
ALL: list[Gate] = [StrictGate(), OffGate(), LookGate(), EvidenceGate(), ProofGate()]


def score(passed: float, **objectives: float) -> Score:
    return Score(passed, passed, objectives=objectives)


def better_on(*ids: str, worse_on: tuple[str, ...] = ()) -> Callable[[Task, Skill, int], Score]:
    """Live passes all of `worse_on` and nothing else; the candidate passes `ids`."""
    return lambda task, skill, _: score(float(task.id in (ids if skill == NEW else worse_on)))


def asked(
    gate: Gate,
    play: Callable[[Task, Skill, int], Score | Trajectory | Missing],
    tasks: list[Task],
    *,
    noisy: bool = False,
) -> Verdict:
    return gate(ScriptedEnvironment(play, deterministic=not noisy), LIVE, NEW, tasks, CountedDraws())


EVERY = better_on(*(task.id for task in TASKS))
NEVER = better_on()


@pytest.mark.parametrize("gate", ALL)
def test_identical_text_costs_nothing(gate: Gate) -> None:
    environment = ScriptedEnvironment(EVERY)
    verdict = gate(environment, LIVE, replace(LIVE, name="other"), TASKS, CountedDraws())
    assert verdict.outcome is Outcome.NO_CHANGE
    assert environment.asked == []


@pytest.mark.parametrize("gate", [StrictGate(), LookGate(), EvidenceGate(), ProofGate()])
def test_without_held_out_tasks_nothing_is_verified(gate: Gate) -> None:
    assert asked(gate, EVERY, []).outcome is Outcome.UNVERIFIED


def test_without_a_gate_nothing_is_measured() -> None:
    environment = ScriptedEnvironment(EVERY)
    assert OffGate()(environment, LIVE, NEW, TASKS, CountedDraws()).outcome is Outcome.UNGATED
    assert environment.asked == []


def test_strict_accepts_any_higher_mean_and_nothing_else() -> None:
    assert asked(StrictGate(), better_on("t1"), TASKS).outcome is Outcome.ACCEPT
    assert asked(StrictGate(), better_on("t1", worse_on=("t2",)), TASKS).outcome is Outcome.REJECT
    assert asked(StrictGate(), NEVER, TASKS).outcome is Outcome.REJECT


def test_strict_is_not_fooled_by_rounding() -> None:
    """Differences of 2/5, 1/5 and -3/5 sum to nothing, whatever floats say."""
    passes = {"t0": 2, "t1": 1, "t2": -3}

    def play(task: Task, skill: Skill, draw: int) -> Score:
        gain = passes[task.id]
        return score(float(draw < gain if skill == NEW else draw < -gain))

    verdict = asked(StrictGate(repeats=5), play, TASKS[:3], noisy=True)
    assert verdict.effect is not None
    assert 0 < verdict.effect < 1e-12
    assert verdict.outcome is Outcome.REJECT


def test_a_look_accepts_what_is_proven() -> None:
    verdict = asked(LookGate(), better_on("t0", "t1", "t2", "t3", "t4"), TASKS)
    assert verdict.outcome is Outcome.ACCEPT
    assert verdict.p == 2**-5
    assert (verdict.before, verdict.after, verdict.effect) == (0, 5 / 12, 5 / 12)
    assert verdict.deterministic
    assert verdict.repeats == 1


def test_a_look_abstains_on_a_gain_that_is_not_proven_and_says_what_is_missing() -> None:
    verdict = asked(LookGate(per_night=3), better_on("t0", "t1", "t2", "t3"), TASKS)
    assert verdict.outcome is Outcome.ABSTAIN
    assert verdict.p == 2**-4
    assert verdict.needs == "1 more task, about 1 more night"


def test_a_look_rejects_what_is_not_better() -> None:
    assert asked(LookGate(), better_on("t0", worse_on=("t1", "t2")), TASKS).outcome is Outcome.REJECT
    assert asked(LookGate(), NEVER, TASKS).outcome is Outcome.REJECT


def test_a_look_that_could_not_prove_anything_is_not_paid_for() -> None:
    environment = ScriptedEnvironment(EVERY)
    verdict = LookGate()(environment, LIVE, NEW, TASKS[:4], CountedDraws())
    assert verdict.outcome is Outcome.ABSTAIN
    assert verdict.needs == "1 more task"
    assert environment.asked == []
    twins = [replace(task, unit="same") for task in TASKS]
    assert LookGate()(environment, LIVE, NEW, twins, CountedDraws()).needs == "4 more tasks"


def test_alpha_is_shared_over_the_planned_looks() -> None:
    five = better_on("t0", "t1", "t2", "t3", "t4")
    assert asked(LookGate(planned=2), five, TASKS).outcome is Outcome.ABSTAIN
    assert asked(LookGate(planned=2), better_on(*(f"t{n}" for n in range(6))), TASKS).outcome is Outcome.ACCEPT


def test_a_clear_case_stops_after_the_first_repeat() -> None:
    environment = ScriptedEnvironment(EVERY, deterministic=False)
    verdict = LookGate()(environment, LIVE, NEW, TASKS, CountedDraws())
    assert verdict.outcome is Outcome.ACCEPT
    assert len(environment.asked) == 2 * len(TASKS)
    assert verdict.counts["stopped_early"] == 1
    assert verdict.e is None  # a comparison that stops when it pleases is no fair bet
    slow = ScriptedEnvironment(EVERY, deterministic=False)
    assert LookGate(early=False)(slow, LIVE, NEW, TASKS, CountedDraws()).e is not None
    assert len(slow.asked) == 6 * len(TASKS)


def test_arms_share_draws_and_rotate() -> None:
    environment = ScriptedEnvironment(NEVER, deterministic=False)
    tasks = [Task(f"n{n}", "") for n in range(20)]
    StrictGate(repeats=2)(environment, LIVE, NEW, tasks, CountedDraws(5))
    blocks = [environment.asked[0], environment.asked[32], environment.asked[40], environment.asked[72]]
    assert [digest == LIVE.digest for _, digest, _ in blocks] == [True, False, False, True]
    for digest in (LIVE.digest, NEW.digest):
        mine = {(task, draw) for task, skill, draw in environment.asked if skill == digest}
        assert mine == {(task.id, draw) for task in tasks for draw in (5, 6)}


def test_a_comparison_takes_fresh_draws_every_time() -> None:
    environment, draws = ScriptedEnvironment(NEVER, deterministic=False), CountedDraws()
    StrictGate()(environment, LIVE, NEW, TASKS, draws)
    StrictGate()(environment, LIVE, NEW, TASKS, draws)
    assert len(set(environment.asked)) == len(environment.asked)


def test_twins_are_one_unit() -> None:
    tasks = [replace(task, unit=f"u{n // 6}") for n, task in enumerate(TASKS)]
    verdict = asked(StrictGate(), EVERY, tasks)
    assert [(unit.unit, unit.d, unit.pairs) for unit in verdict.units] == [("u0", 1.0, 6), ("u1", 1.0, 6)]
    assert verdict.p == 0.25


@pytest.mark.parametrize("gate", [StrictGate(), LookGate(), EvidenceGate(), ProofGate()])
def test_an_outage_is_no_verdict_and_stops_at_the_first_block(gate: Gate) -> None:
    environment = ScriptedEnvironment(lambda *_: Missing("not signed in"))
    tasks = [Task(f"n{n}", "") for n in range(100)]
    verdict = gate(environment, LIVE, NEW, tasks, CountedDraws())
    assert verdict.outcome is Outcome.INFRA_ERROR
    assert verdict.counts["missing: not signed in"] == 32
    assert len(environment.asked) == 32


def failing(live: int, candidate: int) -> Callable[[Task, Skill, int], Score | Missing]:
    """The first `live` and `candidate` tasks fail to run in that arm; else the candidate wins everywhere."""

    def play(task: Task, skill: Skill, draw: int) -> Score | Missing:
        if int(task.id[1:]) < (candidate if skill == NEW else live):
            return Missing("timeout")
        return score(float(skill == NEW))

    return play


@pytest.mark.parametrize("gate", [StrictGate(), LookGate(), EvidenceGate(), ProofGate()])
def test_missing_pairs_are_dropped_and_too_many_make_it_abstain(gate: Gate) -> None:
    tasks = [Task(f"t{n}", "") for n in range(20)]
    verdict = asked(gate, failing(2, 2), tasks)
    assert verdict.outcome is Outcome.ACCEPT
    assert verdict.coverage == 0.9
    assert verdict.pairs == 18
    assert asked(gate, failing(5, 5), tasks).outcome is Outcome.ABSTAIN
    assert asked(gate, failing(0, 3), tasks).outcome is Outcome.ABSTAIN  # one arm failed more often than the other
    assert asked(gate, failing(11, 11), tasks).outcome is Outcome.INFRA_ERROR


@pytest.mark.parametrize("gate", [StrictGate(), LookGate(), EvidenceGate(), ProofGate()])
def test_a_skill_that_was_not_opened_was_not_tested(gate: Gate) -> None:
    def play(task: Task, skill: Skill, draw: int) -> Trajectory:
        opened = int(task.id[1:]) < 5
        return Trajectory(task.id, draw, skill.digest, score(float(skill == NEW)), opened=opened)

    verdict = asked(gate, play, TASKS)
    assert verdict.outcome is Outcome.NO_EXPOSURE
    assert verdict.opened == 5 / 12
    assert asked(gate, play, TASKS[:9]).outcome is Outcome.ACCEPT


def test_evidence_accepts_at_nine_wins() -> None:
    assert asked(EvidenceGate(), EVERY, TASKS[:8]).outcome is Outcome.ABSTAIN
    verdict = asked(EvidenceGate(), EVERY, TASKS[:9])
    assert verdict.outcome is Outcome.ACCEPT
    assert verdict.e == pytest.approx(140, rel=0.01)
    assert verdict.alpha == 0.01


def test_evidence_goes_on_over_nights_and_counts_each_task_once() -> None:
    first = asked(EvidenceGate(per_night=4), EVERY, TASKS[:4])
    assert first.needs == "5 more tasks, about 1 more night"
    environment = ScriptedEnvironment(EVERY)
    second = EvidenceGate(prior=first.units)(environment, LIVE, NEW, TASKS[:7], CountedDraws())
    assert {task for task, *_ in environment.asked} == {"t4", "t5", "t6"}
    assert [unit.unit for unit in second.units] == [f"t{n}" for n in range(7)]
    assert second.e == pytest.approx(e_value([1.0] * 7))
    assert asked(EvidenceGate(prior=second.units), EVERY, TASKS[5:9]).outcome is Outcome.ACCEPT


def test_a_night_without_new_tasks_leaves_the_evidence_as_it_was() -> None:
    first = asked(EvidenceGate(), EVERY, TASKS[:4])
    again = asked(EvidenceGate(prior=first.units), EVERY, TASKS[:4])
    assert again.outcome is Outcome.ABSTAIN
    assert again.e == first.e


def test_a_night_of_failed_calls_leaves_the_evidence_as_it_was() -> None:
    first = asked(EvidenceGate(), EVERY, TASKS[:4])
    verdict = asked(EvidenceGate(prior=first.units), failing(12, 12), TASKS)
    assert verdict.outcome is Outcome.INFRA_ERROR
    assert (verdict.units, verdict.e) == (first.units, first.e)


def test_evidence_of_harm_rejects() -> None:
    worse = better_on(worse_on=tuple(task.id for task in TASKS))
    assert asked(EvidenceGate(), worse, TASKS[:5]).outcome is Outcome.ABSTAIN
    verdict = asked(EvidenceGate(), worse, TASKS[:6])
    assert verdict.outcome is Outcome.REJECT
    assert verdict.e_reverse == pytest.approx(23, rel=0.02)


MANY = [Task(f"m{n}", "") for n in range(40)]


def first_of_many(n: int) -> Callable[[Task, Skill, int], Score]:
    return better_on(*(task.id for task in MANY[:n]))


def test_a_large_night_looks_and_shares_its_alpha() -> None:
    assert asked(ProofGate(), first_of_many(7), MANY).outcome is Outcome.ABSTAIN  # p = .0078, over alpha/2
    looked = asked(ProofGate(), first_of_many(8), MANY)  # p = .0039; E = 75
    assert looked.outcome is Outcome.ACCEPT
    assert looked.p == 2**-8
    assert looked.e is not None
    assert looked.e < 100
    small = asked(ProofGate(), first_of_many(8), MANY[:29])
    assert small.outcome is Outcome.ABSTAIN
    assert small.p is None


def test_evidence_needs_twice_as_much_on_a_night_that_also_looks() -> None:
    prior = tuple(UnitScore(f"p{n}", 0, 1, 1.0, 3) for n in range(7))
    nine = asked(ProofGate(prior=prior), first_of_many(2), MANY)
    assert nine.e == pytest.approx(140, rel=0.01)
    assert nine.outcome is Outcome.ABSTAIN
    assert asked(ProofGate(prior=prior), first_of_many(3), MANY).outcome is Outcome.ACCEPT
    assert asked(ProofGate(prior=prior), first_of_many(2), MANY[:4]).outcome is Outcome.ACCEPT  # no look: E >= 100


def test_a_large_night_runs_every_repeat() -> None:
    environment = ScriptedEnvironment(first_of_many(40), deterministic=False)
    ProofGate()(environment, LIVE, NEW, MANY, CountedDraws())
    assert len(environment.asked) == 2 * 3 * 40


PROTECTED = [Task("old0", "", protected=True), Task("old1", "", protected=True)]
GATES: list[Callable[[int], Gate]] = [
    lambda repeats: LookGate(repeats=repeats, protected=tuple(PROTECTED)),
    lambda repeats: EvidenceGate(repeats=repeats, protected=tuple(PROTECTED)),
    lambda repeats: ProofGate(repeats=repeats, protected=tuple(PROTECTED)),
]


def test_what_passed_five_times_in_a_row_works() -> None:
    assert works([True] * 5)
    assert works([False, *[True] * 5])
    assert not works([True] * 4)
    assert not works([*[True] * 9, False])


def breaking(task_id: str, rate: float) -> Callable[[Task, Skill, int], Score]:
    """The candidate wins on TASKS; of the protected ones it fails `task_id` at the given rate."""

    def play(task: Task, skill: Skill, draw: int) -> Score:
        if not task.protected:
            return score(float(skill == NEW))
        return score(float(skill == LIVE or task.id != task_id or Seeded(draw).uniform() >= rate))

    return play


@pytest.mark.parametrize("gate", GATES)
def test_a_broken_protected_task_vetoes(gate: Callable[[int], Gate]) -> None:
    for noisy in (False, True):
        assert asked(gate(3), breaking("old1", 1.0), TASKS, noisy=noisy).outcome is Outcome.REJECT
        assert asked(gate(3), breaking("none", 1.0), TASKS, noisy=noisy).outcome is Outcome.ACCEPT


def test_protected_tasks_among_the_gates_own_are_checked_too() -> None:
    tasks = [*TASKS, PROTECTED[1]]
    assert asked(LookGate(), breaking("old1", 1.0), tasks, noisy=True).outcome is Outcome.REJECT


def test_one_unlucky_run_gets_more_pairs_and_no_veto() -> None:
    failed: list[int] = []

    def play(task: Task, skill: Skill, draw: int) -> Score:
        if task.protected and skill == NEW and not failed:
            failed.append(draw)
            return score(0.0)
        return score(float(task.protected or skill == NEW))

    environment = ScriptedEnvironment(play, deterministic=False)
    verdict = LookGate(protected=tuple(PROTECTED))(environment, LIVE, NEW, TASKS, CountedDraws())
    assert verdict.outcome is Outcome.ACCEPT
    assert verdict.counts["protected_pairs"] == 3 + 3 + 3


def test_one_repeat_of_a_noisy_agent_cannot_protect_and_says_so() -> None:
    verdict = asked(LookGate(repeats=1, protected=tuple(PROTECTED)), EVERY, TASKS, noisy=True)
    assert verdict.outcome is Outcome.ABSTAIN
    assert "cannot protect" in verdict.why
    assert verdict.needs == "two repeats or more"
    assert asked(LookGate(repeats=1), EVERY, TASKS, noisy=True).outcome is Outcome.ACCEPT


def test_a_protected_task_that_cannot_be_run_leaves_it_open() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score | Missing:
        return Missing("timeout") if task.id == "old1" else score(float(skill == NEW or task.protected))

    assert asked(LookGate(protected=tuple(PROTECTED)), play, TASKS).outcome is Outcome.ABSTAIN


def test_false_and_true_vetoes() -> None:
    """Twenty protected tasks that pass .98 of the time: rarely vetoed; one that falls to .3: nearly always."""

    def vetoed(seed: int, broken: bool) -> bool:
        stream = Seeded(seed)

        def play(task: Task, skill: Skill, draw: int) -> Score:
            if not task.protected:
                return score(float(skill == NEW))
            falls = broken and skill == NEW and task.id == "k0"
            return score(float(stream.uniform() < (0.3 if falls else 0.98)))

        guarded = tuple(Task(f"k{n}", "", protected=True) for n in range(20))
        return asked(LookGate(protected=guarded), play, TASKS, noisy=True).outcome is Outcome.REJECT

    assert sum(vetoed(seed, False) for seed in range(100)) <= 10
    assert sum(vetoed(seed, True) for seed in range(100)) >= 90


def test_a_tie_with_less_text_is_left_to_a_person() -> None:
    environment = ScriptedEnvironment(NEVER)
    verdict = LookGate()(environment, NEW, LIVE, TASKS, CountedDraws())
    assert verdict.outcome is Outcome.ABSTAIN
    assert "characters less" in verdict.why
    assert asked(LookGate(), NEVER, TASKS).outcome is Outcome.REJECT


def test_success_is_not_bought_by_what_it_costs() -> None:
    """One task lost, tokens halved on all others: the saving may not carry it."""
    metric = Metric(costs={"tokens": 0.9})

    def play(task: Task, skill: Skill, draw: int) -> Score:
        lost = task.id == "m0" and skill == NEW
        return score(0.0 if lost else 1.0, tokens=1.0 if skill == NEW else 100.0)

    for gate in (LookGate(metric=metric), EvidenceGate(metric=metric), ProofGate(metric=metric)):
        verdict = asked(gate, play, MANY)
        assert verdict.effect is not None
        assert verdict.effect > 0
        assert verdict.outcome is Outcome.ABSTAIN
        assert (verdict.counts["tokens: before"], verdict.counts["tokens: after"]) == (100, 1)
    saved = asked(LookGate(metric=metric), lambda _t, s, _d: score(1.0, tokens=float(s == LIVE)), MANY)
    assert saved.outcome is Outcome.ACCEPT


def test_costs_speak_only_where_the_scores_are_equal() -> None:
    metric = Metric(costs={"tokens": 0.5, "seconds": 0.5})
    dear, cheap = {"tokens": 100.0, "seconds": 9.0}, {"tokens": 25.0, "seconds": 9.0}
    assert metric.difference(score(1.0, **dear), score(0.0, **cheap)) == -1
    assert metric.difference(score(0.0, **cheap), score(1.0, **dear)) == 1
    assert metric.difference(score(1.0, **dear), score(1.0, **cheap)) == pytest.approx(0.375)
    assert metric.difference(score(1.0), score(1.0, **cheap)) == 0


def test_soft_and_mixed_scores_are_compared_as_asked() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        return Score(0.0, 0.5 if skill == NEW else 0.25)

    assert asked(LookGate(metric=Metric("soft")), play, TASKS).effect == 0.25
    assert asked(LookGate(metric=Metric("mixed", 0.2)), play, TASKS).effect == pytest.approx(0.05)
    assert asked(LookGate(), play, TASKS).effect == 0
    with pytest.raises(ValueError, match="weights"):
        Metric("mixed", 2)


def test_repeats_that_are_identical_to_the_byte_are_reported_as_a_cache() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Trajectory:
        return Trajectory(task.id, draw, skill.digest, score(float(skill == NEW)), transcript=f"did {task.id}")

    assert "cache" in asked(StrictGate(), play, TASKS, noisy=True).why
    assert "cache" not in asked(StrictGate(), play, TASKS).why


def test_one_run_of_a_noisy_agent_bets_less() -> None:
    assert asked(EvidenceGate(repeats=1), EVERY, TASKS, noisy=True).bets[0] == 0.1
    assert asked(EvidenceGate(repeats=1), EVERY, TASKS).bets[0] == 0.2


def test_the_evidence_can_be_computed_again_from_the_rows() -> None:
    verdict = asked(EvidenceGate(), better_on("t0", "t1", worse_on=("t2",)), TASKS)
    assert verdict.e == e_value([unit.d for unit in verdict.units], verdict.bets)


def test_the_budget_ends_a_comparison_by_exhausted() -> None:
    environment = ScriptedEnvironment(EVERY, limit=30)
    with pytest.raises(Exhausted):
        StrictGate()(environment, LIVE, NEW, [*TASKS, *MANY], CountedDraws())


@pytest.mark.parametrize(
    "gate", [StrictGate(keep_cut=True), LookGate(keep_cut=True), EvidenceGate(), ProofGate(), ProofGate(look_from=10)]
)
def test_pairs_that_were_finished_when_the_budget_ended_are_judged_alone(gate: Gate) -> None:
    environment = ScriptedEnvironment(EVERY, deterministic=False, limit=40)
    verdict = gate(environment, LIVE, NEW, [*TASKS, *MANY], CountedDraws())
    assert verdict.pairs == 16, "of the second block one arm alone could be paid for"
    assert {unit.unit for unit in verdict.units} == {task.id for task in [*TASKS, *MANY][:16]}
    assert verdict.counts["cut_short"] == 1.0
    assert verdict.coverage == 1.0
    assert "the budget ended the comparison" in verdict.why


@pytest.mark.parametrize("gate", [StrictGate(keep_cut=True), LookGate(keep_cut=True), EvidenceGate(), ProofGate()])
def test_without_one_finished_pair_the_budgets_end_is_the_answer(gate: Gate) -> None:
    with pytest.raises(Exhausted):
        gate(ScriptedEnvironment(EVERY, limit=20), LIVE, NEW, TASKS, CountedDraws())


def test_a_look_that_the_budget_ends_is_the_last_look() -> None:
    won = better_on("t0", "t1", "t2", "t3", "t4")  # p = 1/32: enough at the end, too little after one of three repeats
    whole = LookGate(early=True)(ScriptedEnvironment(won, deterministic=False, limit=24), LIVE, NEW, TASKS[:5], draws())
    assert whole.outcome is Outcome.ACCEPT
    cut = LookGate(keep_cut=True)(
        ScriptedEnvironment(won, deterministic=False, limit=14), LIVE, NEW, TASKS[:5], draws()
    )
    assert (cut.outcome, cut.repeats, cut.p) == (Outcome.ACCEPT, 1, 1 / 32)
    early = LookGate()(ScriptedEnvironment(won, deterministic=False), LIVE, NEW, TASKS[:5], draws())
    assert early.repeats > 1, "after one repeat alone it is not believed"


def test_bets_are_those_of_the_planned_repeats_wherever_the_budget_ended() -> None:
    cut = EvidenceGate()(ScriptedEnvironment(EVERY, deterministic=False, limit=40), LIVE, NEW, [*TASKS, *MANY], draws())
    assert (cut.repeats, cut.bets) == (1, asked(EvidenceGate(), EVERY, TASKS).bets)


def test_what_works_is_not_protected_by_a_budget_that_is_out() -> None:
    guarded = [replace(task, protected=True) for task in TASKS]
    environment = ScriptedEnvironment(EVERY, limit=24)
    verdict = EvidenceGate()(environment, LIVE, NEW, guarded, draws())
    assert verdict.outcome is Outcome.ABSTAIN
    assert "the budget ended before" in verdict.why


def draws() -> CountedDraws:
    return CountedDraws()


def test_shifted_answers_are_refused() -> None:
    class Shifted(ScriptedEnvironment):
        def attempt(self, tasks, skill, draws):  # type: ignore[no-untyped-def]
            return list(reversed(list(super().attempt(tasks, skill, draws))))

    with pytest.raises(ValueError, match="answered"):
        StrictGate()(Shifted(EVERY), LIVE, NEW, TASKS, CountedDraws())


@pytest.mark.parametrize("gate", [StrictGate(keep_cut=True, block=2), EvidenceGate(block=2), ProofGate(block=2)])
def test_few_tasks_at_a_time_leave_pairs_where_the_budget_ends(gate: Gate) -> None:
    """With all twelve at a time the first arm alone takes all that there is."""
    verdict = gate(ScriptedEnvironment(EVERY, limit=9), LIVE, NEW, TASKS, draws())
    assert (verdict.pairs, verdict.counts["cut_short"]) == (4, 1.0)
    with pytest.raises(Exhausted):
        EvidenceGate()(ScriptedEnvironment(EVERY, limit=9), LIVE, NEW, TASKS, draws())


def test_protected_tasks_are_attempted_a_few_at_a_time_as_well() -> None:
    guarded = [*TASKS, *(Task(name, "x", protected=True) for name in ("one", "two"))]
    environment = ScriptedEnvironment(EVERY)
    EvidenceGate(block=1)(environment, LIVE, NEW, guarded, draws())
    assert [task for task, _, _ in environment.asked][-4:] == ["one", "one", "two", "two"]
