"""One guard is taken out at a time, and a test that is named here turns red; with all guards in place it is green.

Each runs in a pytest of its own, with a module of `breaks` loaded as its plug-in.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
CHECKOUT = Path(__file__).parent.parent.parent

GUARDS = {
    "gate_always_true": "tests/sample/test_sample.py::"
    "test_helpful_rules_are_supported_the_harmful_one_rejected_and_the_useless_one_abstains",
    "accepting_gate": "tests/core/test_gate_modes.py::test_evidence_accepts_at_nine_wins",
    "unpaired": "tests/core/test_gate_modes.py::test_arms_share_draws_and_rotate",
    "overlapping_splits": "tests/core/test_loop.py::test_held_out_tasks_that_overlap_the_train_tasks_are_no_evidence",
    "split_by_time_ignored": "tests/replay/test_practice.py::"
    "test_train_is_what_shows_the_friction_before_the_cut_and_gate_all_that_came_after_it",
    "redaction_off": "tests/ingest/test_harvest.py::test_secrets_are_gone_before_anything_is_stored",
    "evidence_not_restarted": "tests/night/test_records.py::"
    "test_a_change_of_the_live_text_restarts_it_with_all_its_units",
    "fsync_skipped": "tests/review/test_adopt.py::"
    "test_bytes_are_on_the_disk_before_the_name_is_and_the_name_before_the_ledger_says_so",
    "transactions_not_synced": "tests/store/test_engine.py::"
    "test_a_local_store_keeps_its_journal_in_wal_and_syncs_each_transaction",
    "lock_ignored": "tests/night/test_journal.py::test_there_is_one_night_at_a_time",
}
"""Module of `breaks` by the test that guards."""


def run(test: str, *plugin: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *plugin, test]
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT), "SKILLOPT_REQUIRE": ""}
    return subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=60)


def test_every_break_has_its_test() -> None:
    modules = {path.stem for path in (Path(__file__).parent / "breaks").glob("*.py")} - {"__init__"}
    assert modules == set(GUARDS)


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_that_is_taken_out_turns_its_test_red(guard: str) -> None:
    test = GUARDS[guard]
    whole = run(test)
    assert whole.returncode == 0, whole.stdout[-3000:]
    assert "passed" in whole.stdout
    broken = run(test, "-p", f"tests.guards.breaks.{guard}")
    assert broken.returncode == 1, broken.stdout[-3000:] + broken.stderr[-3000:]
    assert f"FAILED {test}" in broken.stdout
    assert "ERROR " not in broken.stdout, "the guard fell, not the test"
    assert "AssertionError" in broken.stdout or "Failed: DID NOT RAISE" in broken.stdout, broken.stdout[-3000:]
