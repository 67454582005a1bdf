"""When a look may stop, and what it takes at each repeat."""

from __future__ import annotations

import pytest

from skillopt_core.gate.exact import sign_flip_p
from skillopt_core.gate.looks import boundaries, certain, least_units, more_units, settled


def test_the_boundaries_are_those_of_gate_md() -> None:
    plan = boundaries(3, 0.05)
    assert plan.success == pytest.approx((0.0015, 0.0181, 0.0437))
    assert plan.futile == pytest.approx((0.5, 0.35))
    plan = boundaries(5, 0.05)
    assert plan.success == pytest.approx((0.005, 0.012, 0.017, 0.022, 0.030))
    assert plan.futile == pytest.approx((0.5, 0.35, 0.25, 0.15))


def test_the_boundaries_scale_with_alpha() -> None:
    assert boundaries(3, 0.005).success == pytest.approx((0.00015, 0.00181, 0.00437))
    assert boundaries(3, 0.005).futile == pytest.approx((0.05, 0.035))


def test_a_single_repeat_has_all_of_alpha() -> None:
    assert boundaries(1, 0.05).success == (0.05,)
    assert boundaries(2, 0.05).success == pytest.approx((0.0015, 0.0485))
    assert boundaries(3, 0.05, early=False).success == (0.0, 0.0, 0.05)
    with pytest.raises(ValueError, match="repeat"):
        boundaries(0, 0.05)


def test_a_look_needs_five_discordant_tasks_at_five_per_cent_and_seven_at_one() -> None:
    assert least_units(0.05) == 5
    assert least_units(0.01) == 7


def test_a_look_stops_at_its_boundaries() -> None:
    plan = boundaries(3, 0.05)
    assert settled([1.0] * 10, 1, plan)  # p = .001
    assert settled([1.0, -1.0, -1.0] * 5, 1, plan)  # p > .5
    assert not settled([1.0] * 8 + [0.0] * 12 + [-1.0] * 3, 1, plan)
    assert settled([0.0] * 9, 3, plan)


def test_a_look_stops_where_no_completion_can_change_the_verdict() -> None:
    plan = boundaries(3, 0.05)
    hopeless = [1.0, 1.0, 0.5] + [-0.5] * 2  # p = .16 after two repeats: neither boundary is reached
    assert plan.success[1] < sign_flip_p(hopeless) <= plan.futile[1]
    assert sign_flip_p([1.0, 1.0, 2 / 3, 0.0, 0.0]) > plan.last
    assert settled(hopeless, 2, plan)
    sure = [1.0, 1.0, 1.0, 1.0, 1.0]  # p = .031 after two repeats, and 1/3 each would still be .031 after three
    assert plan.success[1] < sign_flip_p(sure) <= plan.last
    assert certain(sure, 2, plan)
    assert settled(sure, 2, plan)


def test_the_forecast_grows_with_the_square_of_what_is_missing() -> None:
    ds = [1.0, 1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0]  # z = 1, wants 1.645: 2.7 times as many
    more = more_units(ds, 0.05)
    assert more == pytest.approx(8 * (1.645**2 - 1), abs=1)
    assert more_units([-1.0, 0.0], 0.05) is None
