"""The gate of recorded replays: precision and recurrence, and never more than `supported`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from scipy import stats

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import RecordedGate, Recurrence, standing_out
from skillopt_core.scripted import ScriptedEnvironment
from skillopt_core.types import Missing, Outcome, Score, Skill, Task, UnitScore, Verdict

LIVE, NEW = Skill("- old"), Skill("- old\n- new")
COMES_BACK = Recurrence(k=8, n=20, background=0.1)


def told(outcomes: Sequence[Mapping[str, float]], **gate: object) -> Verdict:
    """One task a session, one session a unit; outcome n is what the rule did in session n."""
    tasks = [Task(f"t{n}", "", unit=f"u{n}", source=f"s{n}", began=n) for n in range(len(outcomes))]
    return told_of(tasks, dict(zip((task.id for task in tasks), outcomes, strict=True)), **gate)


def told_of(tasks: Sequence[Task], outcomes: Mapping[str, Mapping[str, float]], **gate: object) -> Verdict:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        done = outcomes[task.id] if skill == NEW else {}
        applied = sum(done.get(name, 0.0) for name in ("prevented", "broken", "unknown"))
        hard = float(done.get("prevented", 0) > 0)
        return Score(hard, hard, objectives={"applied": applied, **done})

    settings = {"recurrence": COMES_BACK, **gate}
    return RecordedGate(**settings)(ScriptedEnvironment(play), LIVE, NEW, tasks, CountedDraws())  # type: ignore[arg-type]


WIN, LOSS, BLANK = {"prevented": 1.0}, {"broken": 1.0}, dict[str, float]()
UNKNOWN = {"unknown": 1.0}
NEUTRAL = {"applied": 1.0}


def test_six_sessions_that_it_mends_are_supported() -> None:
    verdict = told([WIN] * 6 + [BLANK] * 4)
    assert verdict.outcome is Outcome.SUPPORTED
    assert verdict.e == pytest.approx(23.3, rel=0.01)
    assert (verdict.before, verdict.after, verdict.effect) == (0, 1, 1)
    assert verdict.interval is not None
    assert verdict.evidence == "recorded"
    assert verdict.deterministic
    assert verdict.counts["applicable"] == verdict.counts["prevented"] == 6
    assert verdict.counts["sessions"] == 10
    assert verdict.needs == ""


def test_recorded_evidence_is_never_more_than_supported() -> None:
    assert told([WIN] * 200).outcome is Outcome.SUPPORTED


def test_four_wins_are_not_enough_and_it_says_what_is_missing() -> None:
    verdict = told([WIN] * 4, per_week=1.0)
    assert verdict.outcome is Outcome.ABSTAIN
    assert verdict.needs == "2 more sessions in which it applies, about 2 more weeks at the rate seen"
    assert told([WIN] * 5).needs == "1 more session in which it applies"


def test_a_loss_costs_three_wins() -> None:
    assert told([WIN] * 8 + [LOSS]).outcome is Outcome.ABSTAIN
    assert told([WIN] * 9 + [LOSS]).outcome is Outcome.SUPPORTED


def test_at_least_five_applicable_units_are_needed_whatever_the_evidence() -> None:
    assert told([WIN] * 4, least_e=5.0).outcome is Outcome.ABSTAIN
    assert told([WIN] * 5, least_e=5.0).outcome is Outcome.SUPPORTED


@pytest.mark.parametrize("recurrence", [None, Recurrence(2, 20, 0.1), Recurrence(0, 0, 0.1)])
def test_without_recurrence_nothing_is_supported(recurrence: Recurrence | None) -> None:
    verdict = told([WIN] * 9, recurrence=recurrence)
    assert verdict.outcome is Outcome.ABSTAIN
    assert "comes back" in verdict.needs or "came back in" in verdict.needs


def test_recurrence_is_the_exact_binomial_tail() -> None:
    assert COMES_BACK.p == pytest.approx(stats.binomtest(8, 20, 0.1, "greater").pvalue)
    verdict = told([WIN] * 6)
    assert verdict.counts["recurrence_p"] == COMES_BACK.p
    assert verdict.counts["recurred"] == 8


def test_a_rule_that_breaks_as_much_as_it_mends_is_rejected() -> None:
    assert told([WIN, LOSS]).outcome is Outcome.REJECT
    assert told([LOSS]).outcome is Outcome.REJECT
    assert told([WIN] * 3 + [LOSS] * 4).outcome is Outcome.REJECT
    assert told([WIN] * 4 + [LOSS] * 3).outcome is Outcome.ABSTAIN


def test_preventions_alone_do_not_support_a_rule_that_also_breaks() -> None:
    verdict = told([WIN, LOSS] * 40)
    assert verdict.outcome is Outcome.REJECT
    assert verdict.counts["prevented"] == verdict.counts["broken"] == 40


def test_a_rule_that_never_applies_has_no_exposure() -> None:
    verdict = told([BLANK] * 5)
    assert verdict.outcome is Outcome.NO_EXPOSURE
    assert verdict.units == ()


def test_without_later_sessions_nothing_is_verified() -> None:
    verdict = told([])
    assert verdict.outcome is Outcome.UNVERIFIED
    assert verdict.evidence == "recorded"


def test_unknown_outcomes_are_shown_and_count_for_nothing() -> None:
    known, mixed = told([WIN] * 5), told([WIN] * 5 + [UNKNOWN] * 10)
    assert mixed.e == known.e
    assert mixed.counts["unknown"] == 10
    assert mixed.counts["applicable"] == 5
    only = told([UNKNOWN] * 10)
    assert only.outcome is Outcome.ABSTAIN
    assert "unknown" in only.why


def test_an_outcome_that_stays_the_same_is_an_applicable_tie() -> None:
    verdict = told([WIN] * 6 + [NEUTRAL] * 3)
    assert verdict.counts["ties"] == 3
    assert verdict.counts["applicable"] == 9
    assert verdict.effect == pytest.approx(6 / 9)
    assert told([NEUTRAL] * 3).outcome is Outcome.ABSTAIN  # it broke nothing


def joined(*sessions: Mapping[str, float]) -> Verdict:
    """All sessions are of one day, person and pattern."""
    tasks = [Task(f"t{n}", "", unit="day", source=f"s{n}") for n in range(len(sessions))]
    return told_of(tasks, dict(zip((task.id for task in tasks), sessions, strict=True)))


def test_one_success_does_not_wash_out_a_break_of_the_same_day() -> None:
    many = {"prevented": 9.0}
    assert [unit.d for unit in joined(many, WIN).units] == [1.0]
    assert [unit.d for unit in joined(many, LOSS).units] == [0.0]
    assert [unit.d for unit in joined(WIN, {"broken": 3.0}).units] == [-1.0]
    assert [unit.d for unit in joined(WIN, UNKNOWN).units] == [1.0]
    assert joined(many, LOSS).outcome is Outcome.REJECT  # mean d is 0, and a session broke


def test_tasks_of_one_session_are_summed_before_the_sign_is_taken() -> None:
    tasks = [Task(name, "", unit="day", source="same") for name in ("a", "b")]
    assert [unit.d for unit in told_of(tasks, {"a": {"prevented": 2.0}, "b": LOSS}).units] == [1.0]
    assert [unit.d for unit in told_of(tasks, {"a": WIN, "b": {"broken": 2.0}}).units] == [-1.0]


def test_only_what_the_candidate_adds_to_the_live_text_counts() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        return Score(1.0, 1.0, objectives={"applied": 1.0, "prevented": 1.0})

    tasks = [Task(f"t{n}", "") for n in range(9)]
    verdict = RecordedGate(COMES_BACK)(ScriptedEnvironment(play), LIVE, NEW, tasks, CountedDraws())
    assert verdict.outcome is Outcome.NO_EXPOSURE


def test_taking_a_useful_rule_away_is_rejected() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score:
        return Score(1.0, 1.0, objectives={"applied": 1.0, "prevented": 1.0} if skill == LIVE else {})

    tasks = [Task(f"t{n}", "") for n in range(9)]
    verdict = RecordedGate(COMES_BACK)(ScriptedEnvironment(play), LIVE, NEW, tasks, CountedDraws())
    assert verdict.outcome is Outcome.REJECT


def test_identical_text_and_failed_replays() -> None:
    environment = ScriptedEnvironment(lambda *_: Missing("gone"))
    tasks = [Task("a", "")]
    assert RecordedGate()(environment, LIVE, LIVE, tasks, CountedDraws()).outcome is Outcome.NO_CHANGE
    assert RecordedGate()(environment, LIVE, NEW, tasks, CountedDraws()).outcome is Outcome.INFRA_ERROR


def test_some_failed_replays_do_not_stop_it() -> None:
    def play(task: Task, skill: Skill, draw: int) -> Score | Missing:
        if int(task.id) < 20:
            return Missing("not readable")
        return Score(1.0, 1.0, objectives={"applied": 1.0, "prevented": 1.0} if skill == NEW else {})

    tasks = [Task(str(n), "") for n in range(26)]
    verdict = RecordedGate(COMES_BACK)(ScriptedEnvironment(play), LIVE, NEW, tasks, CountedDraws())
    assert verdict.outcome is Outcome.SUPPORTED
    assert verdict.coverage == pytest.approx(6 / 26)


def test_the_stake_is_summed_for_the_review() -> None:
    verdict = told([{"prevented": 1.0, "actions_saved": 2.0, "output_saved": 300.0}] * 6)
    assert verdict.counts["actions_saved"] == 12
    assert verdict.counts["output_saved"] == 1800
    assert verdict.units[0].note == "prevented 1, broken 0, unknown 0"


def test_what_stands_out_of_a_list_of_rules_is_information() -> None:
    """e-BH over rules with five applicable units: 4/(.05 * 1) = 80 for the first of four."""

    def rule(e: float, units: int = 5) -> Verdict:
        rows = tuple(UnitScore(str(n), 0.0, 1.0, 1.0, 1) for n in range(units))
        return Verdict(Outcome.ABSTAIN, "", e=e, units=rows)

    four = {"a": rule(81), "b": rule(1), "c": rule(1), "d": rule(1)}
    assert standing_out(four) == ("a",)
    assert standing_out(four | {"e": rule(1)}) == ()
    assert standing_out(four | {"e": rule(500, units=4)}) == ("a",)
