"""When a look may stop, and what it takes at each repeat."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skillopt_core.gate.exact import sign_flip_p
from skillopt_core.gate.looks import Boundaries, boundaries, certain, least_units, more_units, proven, settled


def level(plan: Boundaries, agreement: float, runs: int = 400_000) -> float:
    """How often a change without effect crosses a boundary before it is futile, where units are many.

    The sum after r repeats is then normal. `agreement` is the share of the variance of one repeat that all repeats of
    a task have in common: 0 where each repeat is a fresh coin, near 1 where tasks differ and repeats do not.
    """
    repeats, stream = len(plan.success), np.random.default_rng(1)
    n = np.arange(1, repeats + 1)
    common, own = stream.standard_normal((runs, 1)), stream.standard_normal((runs, repeats)).cumsum(axis=1)
    z = (agreement**0.5 * common * n + (1 - agreement) ** 0.5 * own) / (agreement * n * n + (1 - agreement) * n) ** 0.5
    success, futile = stats.norm.isf(plan.success), stats.norm.isf((*plan.futile, 1.0))
    going, crossed = np.ones(runs, bool), np.zeros(runs, bool)
    for r in range(repeats):
        crossed |= going & (z[:, r] >= success[r])
        going &= ~crossed & (z[:, r] >= futile[r])
    return float(crossed.mean())


@pytest.mark.parametrize("repeats", [2, 3, 4, 5])
@pytest.mark.parametrize("agreement", [0.0, 0.1, 0.3, 0.6, 0.99])
def test_all_looks_together_stay_below_alpha(repeats: int, agreement: float) -> None:
    """2 % for the simulation's own noise (three standard errors)."""
    assert level(boundaries(repeats, 0.05), agreement) <= 0.05 * 1.02
    assert level(boundaries(repeats, 0.1), agreement) <= 0.1 * 1.02


@given(st.integers(1, 8), st.floats(1e-6, 0.0499))
def test_below_five_per_cent_the_boundaries_add_up_to_alpha(repeats: int, alpha: float) -> None:
    plan = boundaries(repeats, alpha)
    assert sum(plan.success) == pytest.approx(alpha)
    assert list(plan.success) == sorted(plan.success)
    assert len(plan.futile) == repeats - 1


def test_futility_does_not_shrink_with_alpha() -> None:
    assert boundaries(3, 0.05 / 8).futile == boundaries(3, 0.05).futile


def test_a_single_repeat_has_all_of_alpha() -> None:
    assert boundaries(1, 0.05).success == (0.05,)
    assert boundaries(1, 0.01).success == (0.01,)
    assert boundaries(3, 0.05, early=False).success == (0.0, 0.0, 0.05)
    with pytest.raises(ValueError, match="repeat"):
        boundaries(0, 0.05)


def test_a_look_needs_five_discordant_tasks_at_five_per_cent_and_seven_at_one() -> None:
    assert least_units(0.05) == 5
    assert least_units(0.01) == 7


def test_a_look_stops_at_its_boundaries() -> None:
    plan = boundaries(3, 0.05)
    assert settled([1.0] * 11, 1, plan)  # p = .0005
    assert proven([1.0] * 11, 1, plan)
    assert settled([1.0, -1.0, -1.0] * 5, 1, plan)  # p > .65
    assert not proven([1.0, -1.0, -1.0] * 5, 1, plan)
    assert not settled([1.0] * 8 + [0.0] * 12 + [-1.0] * 3, 1, plan)
    assert settled([0.0] * 9, 3, plan)


def test_a_look_stops_where_no_completion_can_change_the_verdict() -> None:
    plan = boundaries(3, 0.05)
    hopeless = [1.0, 1.0, 0.5] + [-0.5] * 2  # after two repeats: neither boundary is reached
    assert plan.success[1] < sign_flip_p(hopeless) <= plan.futile[1]
    assert sign_flip_p([1.0, 1.0, 2 / 3, 0.0, 0.0]) > plan.last
    assert settled(hopeless, 2, plan)
    sure = [1.0, 1.0, 1.0, 1.0, 1.0]  # p = .031 after two repeats, and 1/3 each would still be .031 after three
    assert plan.success[1] < sign_flip_p(sure) <= plan.last
    assert certain(sure, 2, plan)
    assert settled(sure, 2, plan)
    assert proven(sure, 2, plan)


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.integers(0, 8))
def test_a_larger_difference_never_makes_p_larger(steps: list[int], at: int) -> None:
    """What `certain` and futility by completion rest on."""
    at %= len(steps)
    more = [step + (n == at and step < 3) for n, step in enumerate(steps)]
    assert sign_flip_p([step / 3 for step in more]) <= sign_flip_p([step / 3 for step in steps]) + 1e-12


def test_the_forecast_grows_with_the_square_of_what_is_missing() -> None:
    ds = [1.0, 1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0]  # z = 1, wants 1.645: 2.7 times as many
    more = more_units(ds, 0.05)
    assert more == pytest.approx(8 * (1.645**2 - 1), abs=1)
    assert more_units([-1.0, 0.0], 0.05) is None
