"""The rejected-edit memory over nights: what was paid for once is not paid for again; what is free goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from skillopt_core.memory import meaning
from skillopt_core.types import Outcome
from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.domain.trials import Trial
from skillopt_sleep.night import sleep
from skillopt_sleep.night.work import live_skill
from skillopt_sleep.store.evidence import rejections, trials
from tests.night.worlds import THREE, Contrary, Obedient, Place, ReplayedWorld


class HarmfulWorld(ReplayedWorld):
    """Whatever rule is tried, its agent does worse with it."""

    def replays(self, episodes: Sequence[Episode]) -> Obedient:
        return Contrary(episodes)


@pytest.fixture
def harmful(tmp_path: Path) -> Place:
    return Place(tmp_path, kind=HarmfulWorld)


def by_rule(report: NightReport) -> dict[str, tuple[str, str]]:
    return {edit.rule: (edit.status, edit.why) for one in report.documents for edit in one.edits}


def states(place: Place) -> dict[str, Trial]:
    with place.open() as world:
        return {trial.rule: trial for trial in trials(world.store)}


def middle(place: Place) -> int:
    return (place.days.start + len(place.days) // 2) * DAY_MS + THREE


def test_an_edit_that_was_rejected_is_refused_in_later_nights_before_any_spend(harmful: Place) -> None:
    first = harmful.night(middle(harmful))
    rejected = {edit.rule: edit for one in first.documents for edit in one.edits
                if edit.verdict.outcome is Outcome.REJECT}  # fmt: skip
    assert rejected
    with harmful.open() as world:
        kept = {row.meaning: row for row in rejections(world.store)}
    assert {meaning(edit.edit) for edit in rejected.values()} <= set(kept)
    assert all("harm" in row.reason for row in kept.values())
    before = {rule: trial.nights for rule, trial in states(harmful).items()}
    made = "SELECT count(*) FROM attempt WHERE comparison = ? AND night = ?"
    with harmful.open() as world:
        second = sleep(world)
        with world.store.read() as connection:
            for rule in rejected:
                spent = connection.exec_driver_sql(made, (f"rule {rule}", second.night)).scalar_one()
                assert spent == 0, "neither the skill as it is nor the edit is attempted"
    told = by_rule(second)
    for rule in rejected:
        status, why = told[rule]
        assert status == "refused"
        assert "tried before on this text (reject): evidence of harm" in why
        assert states(harmful)[rule].state == "dropped"
        assert states(harmful)[rule].nights == before[rule], "there was no further night of its trial"


def test_another_live_text_is_another_question(harmful: Place) -> None:
    harmful.night(middle(harmful))
    with harmful.open() as world:
        report = sleep(world)
        document = report.documents[0].document
        rows = rejections(world.store)
        assert {row.skill for row in rows} >= {live_skill(world, document).digest}
        changed = HarmfulWorld(world.home, world.config, world.store, world.user_home, environ={}, clock=world.clock)
        changed.live = lambda _document: "# Lessons\n\nMind the gap.\n"  # type: ignore[method-assign]
        again = sleep(changed)
    assert "refused" not in {status for status, why in by_rule(again).values() if "tried before" in why}


def test_a_recorded_rule_is_never_remembered_and_goes_on(place: Place) -> None:
    place.night(middle(place))
    place.night()
    with place.open() as world:
        assert any(trial.nights == 2 for trial in trials(world.store))
        assert rejections(world.store) == []
