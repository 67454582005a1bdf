"""What ruins a skill without a gate does not with one: a small set of what bench/stress.py runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.loading import script

stress = script("stress")


def test_without_a_gate_a_wrong_rule_a_night_ruins_a_skill_and_with_one_it_does_not() -> None:
    bands = {(band.gate, band.night): band for band in stress.collapse(5)}
    guarded = ("strict", "proof, one look", "proof, a night's evidence")
    for gate in ("off", *guarded):
        assert 0.45 < bands[gate, 0].median < 0.65
    assert bands["off", 5].high < 0.05
    assert all(bands[gate, 5].low > 0.35 for gate in guarded)
    assert sum(bands["proof, a night's evidence", night].kept for night in range(6)) == 0


@pytest.mark.shared
def test_a_hollow_skill_passes_checks_of_form_and_is_not_accepted(shared: Path) -> None:
    rows = list(stress.hollow(shared / "bench" / "gbrain-skillopt-v1" / "cat32-reward-hacking", 2))
    accepted = {(row.candidate, row.judged_by, row.gate): row.accepted for row in rows}
    for gate in ("strict", "proof"):
        assert accepted["hollow", "rule checks", gate] == 2
        assert accepted["hollow", "the rubric", gate] == 0
        assert accepted["honest", "the rubric", gate] == 2
    assert accepted["hollow", "rule checks, as an edit", "strict"] == 0
    assert "section" in rows[-1].why
