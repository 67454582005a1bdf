"""Trials over nights: E is the product over units, each counted once; harm ends one, a new live text restarts it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt_core.gate import BETS, e_reverse, e_value
from skillopt_core.types import Outcome, Verdict
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.domain.trials import Trial
from skillopt_sleep.night.plan import Subject, documents, preferred, rule_id
from skillopt_sleep.night.records import end_adopted, keep_trial, keep_verdict, trials_of
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.evidence import trial_steps, trials
from skillopt_sleep.store.nights import begin_night
from skillopt_sleep.store.verdicts import comparisons, verdict_of
from tests.review.made import units

NOW = 1_795_953_600_000
PROJECT = "/home/kim/shop"
LIVE, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db", FixedClock(NOW)) as opened:
        yield opened


def subject(wish: str = "use pnpm, never npm") -> Subject:
    sentence: Sentence = preferred([wish], PROJECT)[0].sentence
    return Subject(rule_id(PROJECT, sentence), documents(PROJECT)["skill"], sentence, wish, 0)


def measured(ds: list[int], outcome: Outcome = Outcome.ABSTAIN) -> Verdict:
    return Verdict(
        outcome, "why", "recorded", e=e_value(ds), e_reverse=e_reverse(ds), alpha=0.05, effect=sum(ds) / len(ds),
        evidence="recorded", units=units(ds), bets=BETS, needs="more",
    )  # fmt: skip


def night(store: Store, date: str) -> str:
    return begin_night(store, "manual", "", date=date, zone="UTC", pid=1, boot="b").id


def kept(store: Store, ds: list[int], live: str = LIVE, date: str = "2026-11-29", **more: Outcome) -> Trial | None:
    return keep_trial(store, night(store, date), subject(), live, "c" * 64, measured(ds, **more), NOW)


def test_e_is_the_product_over_the_units_of_all_nights(store: Store) -> None:
    first = kept(store, [1, 1, -1])
    second = kept(store, [1, 1, -1, 1, 1], date="2026-11-30")
    assert first is not None
    assert second is not None
    assert second.id == first.id
    assert second.nights == 2
    steps = trial_steps(store, second.id)
    by_hand = [math.prod(1 + bet * step.d for step in steps) for bet in BETS]
    assert second.e == pytest.approx(sum(by_hand) / len(BETS)) == pytest.approx(steps[-1].e_after)
    reverse = [math.prod(1 - bet * step.d for step in steps) for bet in BETS]
    assert second.e_reverse == pytest.approx(sum(reverse) / len(BETS)) == pytest.approx(steps[-1].e_reverse_after)


def test_a_unit_is_scored_once_over_nights(store: Store) -> None:
    kept(store, [1, 1])
    trial = kept(store, [1, 1, 1], date="2026-11-30")
    assert trial is not None
    steps = trial_steps(store, trial.id)
    assert [step.task for step in steps] == ["s00", "s01", "s02"]
    assert len({step.night for step in steps[:2]}) == 1
    assert steps[2].night != steps[0].night


def test_a_change_of_the_live_text_restarts_it_with_all_its_units(store: Store) -> None:
    first, second = kept(store, [1, 1]), kept(store, [1, 1, 1], live=OTHER, date="2026-11-30")
    assert first is not None
    assert second is not None
    assert second.id != first.id
    states = {trial.id: trial.state for trial in trials(store)}
    assert states == {first.id: "restarted", second.id: "running"}
    assert second.cut_ms == first.cut_ms
    assert len(trial_steps(store, second.id)) == 3
    assert trials_of(store, PROJECT) == [second]


def test_it_is_dropped_when_the_reversed_e_reaches_twenty(store: Store) -> None:
    five, six = [-1] * 5, [-1] * 6
    assert e_reverse(five) < 20 <= e_reverse(six)
    going_on = kept(store, five)
    assert going_on is not None
    assert going_on.state == "running"
    ended = kept(store, six, date="2026-11-30", outcome=Outcome.REJECT)
    assert ended is not None
    assert (ended.state, ended.ended_ms) == ("dropped", NOW)
    assert "harm" in ended.why
    assert trials_of(store, PROJECT) == []


def test_it_is_dropped_after_ten_nights_below_a_fifth(store: Store) -> None:
    ds = [-1, -1, -1, -1]
    assert e_value(ds) < 0.2
    states = [trial.state for n in range(10) if (trial := kept(store, ds, date=f"2026-11-{n + 10}")) is not None]
    assert states == ["running"] * 9 + ["dropped"]


def test_what_is_accepted_is_no_longer_on_trial(store: Store) -> None:
    trial = kept(store, [1] * 9, outcome=Outcome.ACCEPT)
    assert trial is not None
    assert (trial.state, trial.ended_ms) == ("accepted", NOW)
    assert trials_of(store, PROJECT) == []


def test_what_stands_in_the_live_text_is_no_longer_on_trial(store: Store) -> None:
    trial = kept(store, [1, 1])
    assert trial is not None
    end_adopted(store, PROJECT, {"r-another"}, NOW)
    assert trials_of(store, PROJECT) == [trial]
    end_adopted(store, "/another/project", {trial.rule}, NOW)
    assert trials_of(store, PROJECT) == [trial]
    end_adopted(store, PROJECT, {trial.rule}, NOW)
    assert [one.state for one in trials(store)] == ["adopted"]


@pytest.mark.parametrize("outcome", [Outcome.NO_CHANGE, Outcome.UNVERIFIED, Outcome.INFRA_ERROR, Outcome.UNGATED])
def test_what_was_not_measured_is_no_trial(outcome: Outcome, store: Store) -> None:
    assert kept(store, [1, 1], outcome=outcome) is None
    assert not trials(store)


def test_a_verdict_is_kept_with_its_units_one_a_rule_and_night(store: Store) -> None:
    name, one, verdict = night(store, "2026-11-29"), subject(), measured([1, -1])
    keep_verdict(store, name, one, LIVE, "c" * 64, verdict)
    keep_verdict(store, name, one, LIVE, "c" * 64, verdict)
    keep_verdict(store, name, subject("never run `make all`"), LIVE, "c" * 64, verdict)
    rows = comparisons(store, name)
    assert len(rows) == 2
    assert {row.family for row in rows} == {one.rule, subject("never run `make all`").rule}
    assert all(verdict_of(store, row.id) == verdict for row in rows)
