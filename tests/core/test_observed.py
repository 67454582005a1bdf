"""What later sessions show of an adopted rule: matched by kind of work, believed as slowly as everything else."""

from __future__ import annotations

import pytest

from skillopt_core.gate.observed import Session, observed
from skillopt_core.seeded import Seeded


def sessions(kind: str, *frictions: float) -> list[Session]:
    return [Session(kind, friction) for friction in frictions]


def test_sessions_are_matched_with_their_own_kind_the_latest_first() -> None:
    without = sessions("test", 0.0, 1.0) + sessions("docs", 0.5)
    found = observed(without, sessions("test", 0.0) + sessions("deploy", 1.0, 1.0))
    assert (found.pairs, found.without, found.with_rule, found.effect, found.unmatched) == (1, 1.0, 0.0, 1.0, 4)
    assert found.says == "too few sessions yet"


def test_a_change_of_the_task_mix_is_no_effect() -> None:
    """Friction is a matter of the kind of work here; the plain rates are .9 before and .1 after."""
    before = sessions("hard", *[1.0] * 9) + sessions("easy", 0.0)
    after = sessions("hard", 1.0) + sessions("easy", *[0.0] * 9)
    found = observed(before, after)
    assert (found.pairs, found.effect) == (2, 0.0)


def test_a_rule_that_helps_and_one_that_hurts() -> None:
    assert observed(sessions("a", *[1.0] * 9), sessions("a", *[0.0] * 9)).says == "helps"
    assert observed(sessions("a", *[1.0] * 8), sessions("a", *[0.0] * 8)).says == "too few sessions yet"
    assert observed(sessions("a", *[0.0] * 6), sessions("a", *[1.0] * 6)).says == "hurts"
    found = observed([], [])
    assert (found.pairs, found.effect, found.interval, found.e, found.says) == (
        0,
        None,
        None,
        1.0,
        "too few sessions yet",
    )


def test_a_rule_without_effect_is_seldom_said_to_hurt() -> None:
    stream, alarms = Seeded(5), 0
    for _ in range(200):
        before, after = (sessions("a", *[float(stream.uniform() < 0.3) for _ in range(60)]) for _ in range(2))
        alarms += any(observed(before, after[:n]).says == "hurts" for n in range(5, 61, 5))
    assert alarms / 200 <= 0.05


def test_frictions_are_shares() -> None:
    with pytest.raises(ValueError, match="lie in"):
        observed(sessions("a", 3.0), sessions("a", 0.0))
