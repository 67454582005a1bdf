"""Whole nights: accepted, adopted without a person, day by day as at once, a skill that fails, a budget that ends."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillopt_core.protocols import Exhausted, Gate
from skillopt_core.types import Outcome
from skillopt_sleep.cli.night import what_it_wants
from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.config import Config
from skillopt_sleep.domain.proposals import ProposalState
from skillopt_sleep.domain.trials import Trial
from skillopt_sleep.errors import BudgetTooSmall, NightFailed
from skillopt_sleep.night import sleep
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.evidence import trial_steps, trials
from skillopt_sleep.store.nights import nights
from skillopt_sleep.store.proposals import proposals
from skillopt_sleep.world import LocalWorld
from tests.night.worlds import THREE, Place, ReplayedWorld


@pytest.fixture
def replayed(tmp_path: Path) -> Place:
    return Place(tmp_path, kind=ReplayedWorld)


def with_auto(config: Config) -> Config:
    return config.model_copy(update={"adopt": config.adopt.model_copy(update={"auto": True})})


def test_an_agent_that_follows_a_rule_and_does_well_takes_it_through_accept(replayed: Place) -> None:
    report = replayed.night()
    assert report.evidence == "replayed"
    (learned,) = [one for one in report.documents if one.document.kind == "learned"]
    assert learned.verdict is not None
    accepted = [edit for edit in learned.edits if edit.verdict.outcome is Outcome.ACCEPT]
    assert accepted
    for edit in accepted:
        assert (edit.verdict.e or 0) >= 100
        assert len(edit.verdict.units) >= 9
    with replayed.open() as world:
        assert not Adoptions(world.store).all()
        (staged,) = [one for one in proposals(world.store) if one.document.kind == "learned"]
        assert staged.state is ProposalState.STAGED
        states = {trial.rule: trial.state for trial in trials(world.store)}
        assert all(states[edit.rule] == "accepted" for edit in accepted)
    assert not list(replayed.project.iterdir()), "a live skill is never touched unasked"


def test_automatic_adoption_writes_what_was_accepted_and_says_who_did_it(replayed: Place) -> None:
    with replayed.open(config=with_auto(replayed.config)) as world:
        replayed.record(world.store)
        report = sleep(world)
        written = Adoptions(world.store).all()
        assert {one.by for one in written} == {"auto"}
        assert {one.state for one in written} == {"written"}
        learned = next(one for one in report.documents if one.document.kind == "learned")
        live = world.live(learned.document) or ""
        for edit in learned.edits:
            assert (edit.edit.text in live) is (edit.verdict.outcome is Outcome.ACCEPT)
        decided = next(one for one in proposals(world.store) if one.id == learned.proposal)
        assert decided.state is ProposalState.ADOPTED
    after = replayed.night(replayed.end_ms + DAY_MS, config=with_auto(replayed.config))
    with replayed.open(replayed.end_ms + DAY_MS) as world:
        assert len(Adoptions(world.store).all()) == len(written), "it is not adopted twice"
    assert after.watch


def test_automatic_adoption_outside_the_recorded_folders_is_refused_and_told(replayed: Place) -> None:
    report = replayed.night(config=with_auto(replayed.config))
    assert report.state == "done"
    assert any("was not adopted by itself" in warning for warning in report.warnings)
    assert not list(replayed.project.iterdir())
    with replayed.open() as world:
        assert {one.state for one in proposals(world.store)} <= {ProposalState.STAGED, ProposalState.ON_TRIAL}


def test_what_is_only_supported_is_never_adopted_without_a_person(place: Place) -> None:
    with place.open(config=with_auto(place.config)) as world:
        place.record(world.store)
        report = sleep(world)
        assert Outcome.SUPPORTED in {one.verdict.outcome for one in report.documents if one.verdict}
        assert not Adoptions(world.store).all()
    assert not list(place.project.iterdir())


def ends(place: Place, state: str) -> dict[str, Trial]:
    with place.open(state=state) as world:
        return {trial.rule: trial for trial in trials(world.store)}


def test_nights_day_by_day_end_where_one_night_over_everything_does(place: Place) -> None:
    for day in [*range(place.days.start + 2, place.days.stop + 1, 7), place.days.stop + 1]:
        place.night(day * DAY_MS + THREE, "slowly")
    place.night(state="at once")
    slowly, at_once = ends(place, "slowly"), ends(place, "at once")
    assert set(slowly) == set(at_once)
    assert len(slowly) >= 4
    for rule, trial in slowly.items():
        one = at_once[rule]
        assert (trial.e, trial.e_reverse, trial.cut_ms) == (one.e, one.e_reverse, one.cut_ms)
        assert (trial.state, trial.predicate) == (one.state, one.predicate)
        with place.open(state="slowly") as world:
            units = [step.task for step in trial_steps(world.store, trial.id)]
        assert len(units) == len(set(units))
    assert max(trial.nights for trial in slowly.values()) > 3


def test_a_second_night_over_the_same_sessions_attempts_nothing_again(replayed: Place) -> None:
    replayed.night()
    counted = "SELECT count(*), count(DISTINCT key) FROM attempt"
    with replayed.open() as world, world.store.read() as connection:
        before = connection.exec_driver_sql(counted).one()
    with replayed.open(replayed.end_ms + DAY_MS) as world:
        sleep(world)
        with world.store.read() as connection:
            assert connection.exec_driver_sql(counted).one() == before
    assert before[0] == before[1]


@dataclass
class Stumbling(LocalWorld):
    """A world in which one rule's gate is broken, or the budget is out from the n-th rule on."""

    error: Any = None
    from_rule: int = 0
    seen: int = 0

    def gate(self, recurrence: Any, per_week: float | None) -> Gate:
        self.seen += 1
        broken = self.seen == self.from_rule or (self.seen > self.from_rule and isinstance(self.error, Exhausted))
        if self.error is not None and broken:
            raise self.error
        return super().gate(recurrence, per_week)


def test_a_skill_that_fails_does_not_end_the_night_and_its_error_is_raised_at_the_end(tmp_path: Path) -> None:
    place = Place(tmp_path, kind=Stumbling)
    with place.open(error=KeyError("the words of a transcript"), from_rule=2) as world:
        with pytest.raises(NightFailed) as failed:
            sleep(world)
        assert isinstance(failed.value.__cause__, KeyError)
        assert failed.value.message == "KeyError"
        assert "the words of a transcript" not in json.dumps(failed.value.as_json())
        (night,) = nights(world.store)
        assert night.state == "failed"
        assert len(trials(world.store)) == 4, "the other rules were practised"
        assert len(proposals(world.store)) == 2
        (page,) = list((tmp_path / "state/reports").glob("*.html"))
        assert str(page) in failed.value.remedy
        assert {"skills", "trials", "report", "error"} <= set(failed.value.as_json())


def test_the_end_of_the_budget_is_no_failure_and_before_a_first_comparison_exit_code_five(tmp_path: Path) -> None:
    place = Place(tmp_path, kind=Stumbling)
    out = Exhausted("200 of 200 tokens are spent or reserved, the next call may take 900")
    some = place.night(error=out, from_rule=3)
    assert some.state == "budget"
    assert some.budget.calls.spent == 0
    assert what_it_wants(some) is None, "something was compared, free as it was"
    assert any(warning.startswith("stopped by the budget") for warning in some.warnings)
    none = place.night(place.end_ms + DAY_MS, "another", error=out, from_rule=1)
    wants = what_it_wants(none)
    assert isinstance(wants, BudgetTooSmall)
    assert "the budget" in wants.message


def rows(place: Place, query: str) -> Sequence[Mapping[str, Any]]:
    with place.open() as world, world.store.read() as connection:
        return [dict(row._mapping) for row in connection.exec_driver_sql(query)]


def test_every_number_of_a_night_can_be_computed_again_from_its_rows(place: Place) -> None:
    report = place.night()
    document = json.loads(Path(report.path or "").with_suffix(".json").read_text())
    skills = {edit["rule"]: edit["evidence"] for skill in document["skills"] for edit in skill["edits"]}
    compared = rows(place, "SELECT * FROM comparison")
    assert {row["family"] for row in compared} >= set(skills)
    for row in compared:
        units = rows(place, f"SELECT * FROM comparison_unit WHERE comparison_id = '{row['id']}' ORDER BY n")  # noqa: S608
        ds, bets = [unit["d"] for unit in units], json.loads(row["bets"])
        assert row["e"] == pytest.approx(mean_product(ds, bets))
        assert row["e_reverse"] == pytest.approx(mean_product([-d for d in ds], bets))
        assert row["effect"] == pytest.approx(sum(ds) / len(ds))
        assert row["before"] == pytest.approx(sum(unit["before"] for unit in units) / len(units))
        assert row["after"] == pytest.approx(sum(unit["after"] for unit in units) / len(units))
        assert row["pairs"] >= sum(unit["pairs"] for unit in units) >= len(units)
        counts = json.loads(row["counts"])
        assert (counts["wins"], counts["losses"]) == (sum(d > 0 for d in ds), sum(d < 0 for d in ds))
        if row["family"] in skills:
            told = skills[row["family"]]
            assert [told["e_value"], told["effect"], told["pairs"]] == pytest.approx(
                [row["e"], row["effect"], row["pairs"]]
            )
        if not row["family"]:  # of a proposal or of one of its edits: the same figures again
            continue
        (trial,) = rows(place, f"SELECT * FROM trial WHERE rule = '{row['family']}'")  # noqa: S608
        steps = rows(place, f"SELECT * FROM trial_step WHERE trial_id = '{trial['id']}' ORDER BY id")  # noqa: S608
        assert trial["e"] == pytest.approx(mean_product([step["d"] for step in steps], bets))
    attempts = rows(place, "SELECT count(*) AS n FROM attempt")[0]["n"]
    assert attempts > 0
    spent = rows(place, "SELECT coalesce(sum(settled_tokens), 0) AS tokens, count(*) AS calls FROM spend")[0]
    assert document["budget"]["tokens"]["spent"] == spent["tokens"]
    assert document["budget"]["calls"]["spent"] == spent["calls"]
    assert document["tasks"]["mined"] == rows(place, "SELECT count(*) AS n FROM task")[0]["n"]
    splits = {row["split"]: row["n"] for row in rows(place, "SELECT split, count(*) AS n FROM task GROUP BY split")}
    assert {side: document["tasks"][side] for side in ("train", "gate", "audit")} == splits
    assert document["harvest"]["sessions"]["new"] == rows(place, "SELECT count(*) AS n FROM session")[0]["n"]


def mean_product(ds: Sequence[float], bets: Sequence[float]) -> float:
    total = 0.0
    for bet in bets:
        product = 1.0
        for d in ds:
            product *= 1 + bet * d
        total += product
    return total / len(bets)
