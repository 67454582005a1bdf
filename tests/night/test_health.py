"""Health signals of a night: in its warnings, by thresholds of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from skillopt_core.health import RULES_OF_THUMB
from skillopt_sleep.clock import DAY_MS
from skillopt_sleep.config import Config
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Pattern, Stake
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.domain.reports import BudgetReport, Spent
from skillopt_sleep.night.health import LEAST, skill_is_sound
from skillopt_sleep.world import LocalWorld
from tests.night.worlds import Place

RULES = "# Notes\n\n## Rules\n\n" + "".join(f"- Do not run `tool{n}`.\n" for n in range(6))


def test_the_configured_thresholds_are_the_rules_of_thumb() -> None:
    given = Config().health.model_dump()
    assert given == {name: getattr(RULES_OF_THUMB, name) for name in given}


def friction(at_ms: int) -> Friction:
    return Friction("s", FrictionKind.REFUSAL, "e", "s", at_ms, None, None, 1, 0, (), "ann", "/p")


def pattern(key: str, *times: int) -> Pattern:
    members = tuple(map(friction, times))
    return Pattern(key, "/p", "friction", FrictionKind.REFUSAL, key, key, members, (), (), 0, 0, Stake(1, 0, 0))


def test_a_mix_that_moved_since_the_adoption_says_train_again(place: Place) -> None:
    def said(before: int, now: int) -> list[str]:
        """`a` stays as it was; `b` is all there is of the rest before, `c` after."""
        old, new = list(range(before)), [DAY_MS + n for n in range(now)]
        mix = [pattern("a", *range(7), *(DAY_MS + n for n in range(7))), pattern("b", *old), pattern("c", *new)]
        return list(skill_is_sound(world, "notes", "# Notes\n", DAY_MS, mix))

    with place.open() as world:
        assert said(7, 7) == ["health: notes: 50% of the task mix has shifted since training: train again"]
        assert said(3, 3) == []  # three tenths, and no more
        assert said(7, LEAST - 8) == []  # too few to be a mix
        assert skill_is_sound(world, "notes", "# Notes\n", None, [pattern("a", *range(50))]) == []


@dataclass
class Spendthrift(LocalWorld):
    """A world with a skill of many rules, in which an optimizer spent much."""

    def live(self, document: Document) -> str | None:
        return RULES if document.kind == "learned" else None

    def spending(self, night: str) -> BudgetReport:
        return BudgetReport(Spent(None, 100_001), Spent(None, 1), Spent(None, 0), Spent(None, 0))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, kind=Spendthrift)


def test_a_night_says_what_ails_it_and_where(place: Place) -> None:
    warnings = [warning for warning in place.night().warnings if warning.startswith("health: ")]
    assert len(warnings) == 2
    assert warnings[0].endswith(": 6 distinct patterns on one skill: split the skill")
    assert warnings[1] == "health: 100001 optimizer tokens an epoch: fewer or shorter attempts"


def test_thresholds_of_ones_own_hold(place: Place) -> None:
    place.config = Config.model_validate({"health": {"patterns": 6, "tokens": 200_000}})
    assert not [warning for warning in place.night().warnings if warning.startswith("health: ")]
