"""Evidence: the figures that gate.md promises, and that betting is fair."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_core.gate.evidence import (
    BETS,
    NOISY_BETS,
    aa_evidence,
    e_bh,
    e_reverse,
    e_value,
    interval,
    needed,
    projected,
    spent,
    trial_over,
)
from skillopt_core.seeded import Seeded

DS = st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0]), max_size=25)


@pytest.mark.parametrize(("wins", "e"), [(4, 7.5), (6, 23), (9, 140)])
def test_the_evidence_of_wins_alone(wins: int, e: float) -> None:
    assert e_value([1.0] * wins) == pytest.approx(e, rel=0.02)


def test_one_loss_costs_three_wins() -> None:
    assert e_value([1.0] * 5) < 20 <= e_value([1.0] * 6)
    assert e_value([1.0] * 8) < 100 <= e_value([1.0] * 9)
    assert e_value([1.0] * 8 + [-1.0]) < 20 <= e_value([1.0] * 9 + [-1.0])
    assert e_value([1.0] * 11 + [-1.0]) < 100 <= e_value([1.0] * 12 + [-1.0])


@settings(deadline=None)
@given(DS)
def test_evidence_is_the_mean_over_bets_of_a_product(ds: list[float]) -> None:
    plain = sum(math.prod(1 + b * d for d in ds) for b in BETS) / len(BETS)
    assert e_value(ds) == pytest.approx(plain, rel=1e-9)
    assert e_reverse(ds) == pytest.approx(e_value([-d for d in ds]))
    assert e_value(list(reversed(ds))) == pytest.approx(e_value(ds))


@pytest.mark.parametrize("bets", [BETS, NOISY_BETS])
def test_betting_is_fair_where_nothing_is_better(bets: tuple[float, ...]) -> None:
    rows = list(itertools.product((-1.0, 0.0, 1.0), repeat=5))
    assert sum(e_value(row, bets) for row in rows) / len(rows) == pytest.approx(1.0)


def test_differences_outside_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="lie in"):
        e_value([1.5])


def test_a_thousand_wins_do_not_overflow() -> None:
    assert math.isfinite(e_value([1.0] * 5000))


@settings(deadline=None)
@given(DS, st.sampled_from([20.0, 100.0]))
def test_needed_is_the_least_number_of_wins(ds: list[float], threshold: float) -> None:
    n = needed(ds, threshold)
    assert e_value(ds + [1.0] * n) >= threshold
    assert n == 0 or e_value(ds + [1.0] * (n - 1)) < threshold


def test_projection_goes_on_as_it_went() -> None:
    assert projected([1.0] * 3, 20) == 3
    assert projected([], 100) == 9
    assert projected([-1.0, 0.0], 20) is None
    assert projected([1 / 3, 0.0] * 10, 100) is not None


@settings(deadline=None)
@given(DS.filter(bool))
def test_the_interval_holds_the_mean_and_mirrors(ds: list[float]) -> None:
    bounds = interval(ds)
    assert bounds is not None
    low, high = bounds
    assert -1 <= low <= sum(ds) / len(ds) + 1e-9
    assert sum(ds) / len(ds) - 1e-9 <= high <= 1
    mirrored = interval([-d for d in ds])
    assert mirrored == pytest.approx((-high, -low))


def test_the_interval_leaves_out_zero_exactly_when_the_evidence_reaches_forty() -> None:
    for ds in ([1.0] * 6, [1.0] * 7, [1.0] * 10 + [-1.0], [1 / 3] * 25):
        bounds = interval(ds)
        assert bounds is not None
        assert (bounds[0] > 0) == (e_value(ds) >= 40)
    assert interval([]) is None


def test_the_interval_covers_the_truth_at_every_look() -> None:
    """Checked after each of 30 units, 120 runs: a fixed-sample interval would fail in far more than 5 %."""
    stream, outside = Seeded(3), 0
    for _ in range(120):
        ds = []
        failed = False
        for _ in range(30):
            ds.append(float(stream.uniform() < 0.4) - float(stream.uniform() < 0.3))
            low, high = interval(ds) or (-1.0, 1.0)
            failed = failed or not low <= 0.1 <= high
        outside += failed
    assert outside / 120 <= 0.05


def test_e_bh_keeps_the_largest_prefix() -> None:
    assert e_bh([100, 1, 30, 45]) == (0, 2, 3)  # 4/(.05*3) = 26.7
    assert e_bh([79, 1, 1, 1]) == ()
    assert e_bh([81, 1, 1, 1]) == (0,)
    assert e_bh([]) == ()


def test_spending_never_exceeds_alpha() -> None:
    assert sum(spent(0.05, t) for t in range(1, 10_000)) < 0.05
    assert spent(0.05, 1) == pytest.approx(0.0304, abs=1e-4)


@pytest.mark.parametrize(
    ("e", "reverse", "nights", "others_wait", "over"),
    [
        (1.0, 20.0, 1, False, True),
        (1.0, 19.9, 1, False, False),
        (0.19, 1.0, 10, False, True),
        (0.19, 1.0, 9, False, False),
        (0.2, 1.0, 24, False, False),
        (0.99, 1.0, 25, False, True),
        (0.29, 1.0, 5, True, True),
        (0.29, 1.0, 5, False, False),
        (0.99, 1.0, 10, True, True),
        (2.9, 1.0, 20, True, True),
        (3.0, 1.0, 20, True, False),
        (2.9, 1.0, 20, False, False),
        (90.0, 1.0, 60, False, True),
    ],
)
def test_a_trial_ends_where_gate_md_says(e: float, reverse: float, nights: int, others_wait: bool, over: bool) -> None:
    assert bool(trial_over(e, reverse, nights, others_wait=others_wait)) is over


def test_a_gate_that_accepts_its_own_text_is_halted_and_a_sound_one_is_not() -> None:
    def halted(rate: float, nights: int, seed: int) -> int | None:
        stream, accepted = Seeded(seed), 0
        for night in range(1, nights + 1):
            accepted += stream.uniform() < rate
            if aa_evidence(accepted, night, 0.05) >= 20:
                return night
        return None

    bad = sorted(halted(0.33, 365, seed) or 365 for seed in range(200))
    assert bad[100] <= 10
    assert sum(halted(0.05, 365, seed) is not None for seed in range(200)) / 200 <= 0.05
