"""Random configurations against a server that keeps its own account: its sum never passes a cap (bench/budget.py)."""

from __future__ import annotations

import pytest

from tests.bench.loading import BENCH, script

SEEDS = (554, 673, 5_012, *range(5_000, 5_012))
"""A sample; `python bench/budget.py` tries a thousand. The first two have seen a tokenizer that was not bounded."""
PAIRS = (6_000, 6_004, 6_002)
"""Limits of the month in tokens, calls and dollars; `python bench/budget.py --pairs 100` tries a hundred."""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "x")


def test_no_account_of_the_server_passes_a_cap() -> None:
    outcomes = list(script("budget").trials(SEEDS))
    assert {outcome.of.seed: outcome.wrong for outcome in outcomes if outcome.wrong} == {}
    assert sum(outcome.requests for outcome in outcomes) > 100
    kinds = {kind for outcome in outcomes for kind in outcome.kinds}
    assert kinds >= {"true", "absent", "zero", "low", "high", "no number", "429", "500", "cut", "no json", "hung up"}
    assert max(outcome.peak for outcome in outcomes) >= 4


def test_two_processes_over_one_home_never_pass_the_caps_of_the_month_together() -> None:
    outcomes = list(script("budget").pairs(PAIRS))
    assert {outcome.of.seed: outcome.wrong for outcome in outcomes if outcome.wrong} == {}
    assert all(min(outcome.halves) > 0 for outcome in outcomes), "both have asked"
    assert max(outcome.peak for outcome in outcomes) > 8, "at the same time"
