"""Nights with a noisy agent: the gate is watched, and one that accepts too much is halted. The agent is simulated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skillopt_core.gate import ProofGate, Recurrence, StrictGate
from skillopt_core.protocols import Gate
from skillopt_core.types import Outcome, Verdict
from skillopt_sleep.calibrate import so_far
from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.config import Config
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.store.repeats import AGAINST_ITSELF, against_itself, live_runs
from skillopt_sleep.store.verdicts import ComparisonFacts, save_comparison
from tests.night.worlds import THREE, Coin, Obedient, Place, ReplayedWorld

RULES = """
SELECT count(*) FROM (
    SELECT DISTINCT night, comparison FROM attempt
    WHERE comparison LIKE 'rule %' AND skill IN (SELECT a FROM comparison WHERE deterministic = 0)
)
"""


class NoisyWorld(ReplayedWorld):
    """Its agent is a coin; its gate is the configured one."""

    def replays(self, episodes: Sequence[Episode]) -> Obedient:
        return Coin(episodes)

    def gate(self, recurrence: Recurrence | None, per_week: float | None) -> Gate:
        return StrictGate(3) if self.config.gate.mode == "strict" else ProofGate()


def configured(mode: str) -> Config:
    config = Config()
    return config.model_copy(update={"gate": config.gate.model_copy(update={"mode": mode})})


def nights(place: Place, every: int, most: int) -> list[NightReport]:
    days = [*range(place.days.start + 14, place.days.stop, every)][:most]
    return [place.night(day * DAY_MS + THREE) for day in days]


def outcomes(report: NightReport) -> set[Outcome]:
    return {edit.verdict.outcome for one in report.documents for edit in one.edits}


def test_a_gate_that_accepts_whatever_is_higher_is_halted_and_accepts_nothing_more(tmp_path: Path) -> None:
    place = Place(tmp_path, config=configured("strict"), kind=NoisyWorld)
    reports = nights(place, 2, 12)  # six at most were needed
    halted = [any("the gate has halted" in line for line in one.warnings) for one in reports]
    assert halted[0] is False
    assert halted[-1] is True
    assert halted == sorted(halted), "once halted it stays so"
    first = halted.index(True)
    assert all(Outcome.ACCEPT not in outcomes(one) for one in reports[first:])
    with place.open() as world:
        state = so_far(world.store, world.config.gate).state
    assert state.halted_at is not None
    assert state.accepted > state.alpha * state.comparisons


def test_a_halted_gate_is_asked_nothing_and_nothing_is_attempted_for_it(tmp_path: Path) -> None:
    place = Place(tmp_path, config=configured("proof"), kind=NoisyWorld)
    with place.open() as world:
        for n in range(9):
            facts = ComparisonFacts(f"c-{n}", "a" * 64, "a" * 64, "proof", f"n-{n}", family=AGAINST_ITSELF)
            save_comparison(world.store, facts, Verdict(Outcome.ACCEPT, "better", pairs=36))
    report = place.night()
    assert any("9 of 9 comparisons of a text with itself were accepted" in line for line in report.warnings)
    assert outcomes(report) <= {Outcome.ABSTAIN, Outcome.UNVERIFIED}
    assert "the gate has halted" in str([edit.why for one in report.documents for edit in one.edits])
    with place.open() as world, world.store.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM attempt").scalar_one() == 0
        assert len(against_itself(world.store)) == 9


def test_a_sound_gate_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path, config=configured("proof"), kind=NoisyWorld)
    reports = nights(place, 4, 4)
    assert not any("halted" in line for one in reports for line in one.warnings)
    with place.open() as world:
        state = so_far(world.store, world.config.gate).state
        assert state.comparisons > 10
        assert state.halted_at is None


def test_once_a_week_a_text_is_attempted_against_itself(tmp_path: Path) -> None:
    place = Place(tmp_path, config=configured("proof"), kind=NoisyWorld)
    reports = nights(place, 3, 4)  # on days 0, 3, 6 and 9
    draws = "SELECT count(DISTINCT draw) AS n FROM attempt WHERE comparison LIKE 'a/a%' AND night = ? GROUP BY task"
    with place.open() as world:
        asked = against_itself(world.store)
        assert [one.night for one in asked] == [reports[0].night, reports[3].night]
        assert all(one.accepted is False for one in asked)
        with world.store.read() as connection:
            rows = connection.exec_driver_sql(draws, (reports[0].night,)).all()
            of_rules = connection.exec_driver_sql(RULES).scalar_one()
        assert {row.n for row in rows} == {6}, "three draws an arm, none of them shared"
        dealt = live_runs(world.store)
        assert len(dealt) == of_rules, "and its attempts are not dealt to pseudo-arms once more"
        comparisons = so_far(world.store, world.config.gate).state.comparisons
        assert comparisons == len(dealt) + len(asked)


def test_a_deterministic_agent_has_nothing_to_calibrate(tmp_path: Path) -> None:
    place = Place(tmp_path, kind=ReplayedWorld)
    place.night()
    with place.open() as world:
        assert against_itself(world.store) == []
        assert so_far(world.store, world.config.gate).state.comparisons == 0


def test_a_backtest_asks_nothing_of_the_gate(tmp_path: Path) -> None:
    place = Place(tmp_path, config=configured("proof"), kind=NoisyWorld)
    parts: dict[str, Any] = {"as_of_ms": (place.days.start + 20) * DAY_MS}
    place.night(**parts)
    with place.open() as world:
        assert against_itself(world.store) == []
