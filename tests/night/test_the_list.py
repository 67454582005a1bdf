"""The night's rules looked at as a list: what e-BH keeps of it, and what may be believed by chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_core.gate import e_bh
from skillopt_core.types import Outcome, Verdict
from skillopt_sleep.domain.reports import TrialLine
from skillopt_sleep.night.summary import Tally, _expected, _standing_out
from skillopt_sleep.store.evidence import trial_steps, trials
from tests.night.worlds import Place, ReplayedWorld
from tests.review.made import units


def measured(e: float, n: int) -> Verdict:
    return Verdict(Outcome.ABSTAIN, "why", "recorded", e=e, evidence="recorded", units=units([1] * n))


def listed(*verdicts: Verdict) -> Tally:
    tally = Tally()
    for n, verdict in enumerate(verdicts):
        tally.take_verdict(f"r-{n}", f"rule {n}", verdict)
    return tally


def test_e_bh_keeps_what_stands_out_of_the_whole_list() -> None:
    two = (measured(60, 6), measured(1, 5))
    found = _standing_out(listed(*two).measured)
    assert found is not None
    assert (found.listed, found.titles) == (2, ("rule 0",))
    longer = _standing_out(listed(*two, measured(1, 9), measured(1, 9)).measured)
    assert longer is not None
    assert (longer.listed, longer.titles) == (4, ()), "60 is less than 4 / .05"


def test_rules_with_few_units_or_other_evidence_are_no_part_of_the_list() -> None:
    replayed = Verdict(Outcome.ACCEPT, "why", e=500, evidence="replayed", units=units([1] * 9))
    assert _standing_out(listed(measured(500, 4), replayed).measured) is None
    assert _standing_out({}) is None


def line(state: str, alpha: float, evidence: str) -> TrialLine:
    return TrialLine("t", "s", "x", 1.0, 1, state, alpha=alpha, evidence=evidence)  # type: ignore[arg-type]


def test_alpha_is_summed_over_the_trials_that_can_still_be_adopted() -> None:
    on_trial = [
        line("running", 0.01, "replayed"),
        line("accepted", 0.01, "observed"),
        line("running", 0.05, "recorded"),
    ]
    over = [line(state, 0.01, "replayed") for state in ("dropped", "restarted", "adopted")]
    assert _expected([*on_trial, *over], recorded=False) == pytest.approx(0.02)
    assert _expected([*on_trial, *over], recorded=True) == 0.05
    assert _expected(over, recorded=False) == 0
    assert _expected([], recorded=False) is None


def test_a_night_reports_its_list_and_its_chances(place: Place) -> None:
    report = place.night()
    with place.open() as world:
        found = trials(world.store)
        long = [one for one in found if len(trial_steps(world.store, one.id)) >= 5]
    assert report.standing_out is not None
    assert report.standing_out.listed == len(long) > 0
    assert len(report.standing_out.titles) == len(e_bh([one.e for one in long], 0.05))
    assert report.false_adoptions == 0, "recorded evidence ends in no accept"
    running = [one for one in found if one.state == "running"]
    assert report.false_support == pytest.approx(sum(one.alpha for one in running))
    for ending in (".md", ".html"):
        text = Path(report.path or "").with_suffix(ending).read_text()
        assert "The list as a whole" in text
        assert "Expected false adoptions, at most: 0" in text


def test_trials_that_can_be_accepted_are_counted_with_their_alpha(tmp_path: Path) -> None:
    place = Place(tmp_path, kind=ReplayedWorld)
    report = place.night((place.days.start + len(place.days) // 2) * 86_400_000)
    states = {one.state for one in report.trials}
    assert {"running", "accepted"} <= states
    waiting = [one for one in report.trials if one.state in {"running", "accepted"}]
    assert report.false_adoptions == pytest.approx(0.01 * len(waiting))
    assert report.standing_out is None, "its evidence is not recorded"
