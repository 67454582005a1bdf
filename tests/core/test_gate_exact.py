"""Tail probabilities against scipy and against counting everything."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skillopt_core.gate.exact import FLIPS, binomial_tail, normal_quantile, sign_flip_p


def by_counting(ds: list[Fraction]) -> float:
    """The share of all 2^n flips that are as extreme: by their sum, then by losses minus wins."""

    def rank(flipped: list[Fraction]) -> tuple[Fraction, int]:
        return sum(flipped, Fraction()), sum((d < 0) - (d > 0) for d in flipped)

    flips = list(itertools.product((1, -1), repeat=len(ds)))
    return sum(rank([s * d for s, d in zip(signs, ds, strict=True)]) >= rank(ds) for signs in flips) / len(flips)


@settings(deadline=None)
@given(st.integers(1, 5), st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_the_sign_flip_p_counts_all_flips(repeats: int, steps: list[int]) -> None:
    ds = [Fraction(max(min(step, repeats), -repeats), repeats) for step in steps]
    assert sign_flip_p([float(d) for d in ds]) == pytest.approx(by_counting(ds), abs=1e-12)


def test_mixed_repeats_are_exact_too() -> None:
    ds = [Fraction(1, 2), Fraction(2, 3), Fraction(-1, 3), Fraction(1), Fraction(-1, 5), Fraction(3, 4)]
    assert sign_flip_p([float(d) for d in ds]) == by_counting(ds)


@pytest.mark.parametrize(("wins", "losses"), [(5, 0), (6, 1), (20, 10), (150, 100), (0, 3)])
def test_with_one_run_each_it_is_the_exact_mcnemar_test(wins: int, losses: int) -> None:
    p = sign_flip_p([1.0] * wins + [-1.0] * losses + [0.0] * 7)
    assert p == pytest.approx(stats.binomtest(wins, wins + losses, 0.5, "greater").pvalue, rel=1e-9)


def test_ties_are_broken_by_larger_wins_and_only_where_it_is_cheap() -> None:
    few, many = [1.0, 1.0, 2 / 3, -1 / 3, -1 / 3], [2 / 3, 2 / 3, 1 / 3, 1 / 3, 0.0]
    assert sum(few) == pytest.approx(sum(many))
    plain = stats.permutation_test(
        (few,), np.sum, permutation_type="samples", alternative="greater", n_resamples=np.inf
    )
    assert sign_flip_p(few) <= plain.pvalue
    large = [1.0, 2 / 3, -1 / 3] * 300
    z = sum(large) / sum(d * d for d in large) ** 0.5
    assert sign_flip_p(large) == pytest.approx(float(stats.norm.sf(z)), abs=0.002)


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_the_p_of_a_change_without_effect_is_at_most_x_with_probability_at_most_x(repeats: int) -> None:
    """Exactly, over all flips of one table of differences."""
    stream = np.random.default_rng(repeats)
    ds = np.clip(stream.integers(-repeats, repeats + 1, 12), -repeats, repeats) / repeats
    flips = itertools.product((1, -1), repeat=int(np.count_nonzero(ds)))
    moved = ds[ds != 0]
    ps = np.array([sign_flip_p(list(moved * signs)) for signs in flips])
    assert all(np.mean(ps <= p) <= p + 1e-12 for p in set(ps))


def test_no_difference_proves_nothing() -> None:
    assert sign_flip_p([]) == sign_flip_p([0.0, 0.0]) == 1.0


def test_real_valued_differences_are_sampled_with_a_seed() -> None:
    ds = [0.1234567, -0.0345678, 0.2718281, 0.1414213, -0.1732050, 0.3333313, 0.0577215]
    exact = by_counting([Fraction(d) for d in ds])
    assert sign_flip_p(ds, seed=1) == pytest.approx(exact, abs=0.02)
    assert sign_flip_p(ds, seed=1) == sign_flip_p(ds, seed=1) != sign_flip_p(ds, seed=2)
    assert sign_flip_p([0.1234567 + n / 1e4 for n in range(40)], seed=1) == 1 / (1 + FLIPS)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.floats(0, 1))
def test_the_binomial_tail_agrees_with_scipy(k: int, n: int, rate: float) -> None:
    assert binomial_tail(k, n, rate) == pytest.approx(float(stats.binom.sf(k - 1, n, rate)), rel=1e-8, abs=1e-12)


def test_a_rate_outside_the_unit_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="rate"):
        binomial_tail(1, 2, 1.5)


def test_the_normal_quantile_agrees_with_scipy() -> None:
    for tail in (0.5, 0.05, 0.005, 1e-6):
        assert normal_quantile(tail) == pytest.approx(float(stats.norm.isf(tail)), abs=1e-9)
