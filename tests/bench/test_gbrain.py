"""The public benchmark with the simulated agent and critic: a small set of what bench/gbrain.py runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.loading import script

pytestmark = pytest.mark.shared


gbrain = script("gbrain")


def test_both_gates_let_all_four_deficient_skills_be_mended(shared: Path) -> None:
    rows = list(gbrain.simulated(shared / "bench" / "gbrain-skillopt-v1", 1))
    assert len({row.seed for row in rows}) == 4
    assert len(rows) == 8
    for row in rows:
        assert row.accepted, (row.seed, row.gate)
        assert row.verdict.evidence == row.audit.evidence == "simulated"
        assert row.audit.before <= 0.05
        assert row.audit.after >= 0.95
        assert not row.check_text, row.skill
    assert "simulated" in gbrain.table_simulated(rows)


def test_train_and_gate_are_seven_and_eight_and_the_audit_is_apart(shared: Path) -> None:
    for seed in gbrain.seeds_of(shared / "bench" / "gbrain-skillopt-v1", 3):
        tasks = seed.tasks
        assert (len(tasks.train), len(tasks.gate), len(tasks.audit)) == (7, 8, 6)
        assert tasks.disjoint() == tasks
        assert seed.patterns or seed.name in {"seed-verbose", "seed-no-brain-first"}
