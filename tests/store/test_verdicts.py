"""Every number of a verdict is kept in a row and comes back as it was."""

from __future__ import annotations

from dataclasses import fields, replace
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt_core.types import Outcome, Score, Trajectory, UnitScore, Verdict
from skillopt_sleep.domain.ledgers import AttemptKey
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.ledgers import Attempts
from skillopt_sleep.store.verdicts import ComparisonFacts, PairRow, comparisons, save_comparison, verdict_of

FACTS = ComparisonFacts("c-1", "a" * 64, "b" * 64, "proof", "n-1", "family", 2, "tasks", "claude", ("m",), (0.05,), 5)

number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
unit = st.builds(
    UnitScore,
    words,
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(-1, 1),
    st.integers(0, 9),
    st.integers(0, 2**40),
    st.lists(words, max_size=2).map(tuple),
    words,
)
verdicts = st.builds(
    Verdict,
    outcome=st.sampled_from(Outcome),
    why=words,
    metric=st.sampled_from(["hard", "soft", "mixed"]),
    before=number,
    after=number,
    effect=number,
    interval=st.none() | st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    p=number,
    e=number,
    e_reverse=number,
    alpha=number,
    pairs=st.integers(0, 99),
    coverage=number,
    opened=number,
    evidence=st.sampled_from(["recorded", "replayed", "observed", "simulated"]),
    deterministic=st.booleans(),
    units=st.lists(unit, max_size=3).map(tuple),
    counts=st.dictionaries(words, st.floats(0, 99), max_size=3),
    needs=words,
    repeats=st.integers(0, 5),
    bets=st.lists(st.floats(0, 1), max_size=3).map(tuple),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verdicts)
def test_a_verdict_comes_back_as_it_was(store: Store, verdict: Verdict) -> None:
    save_comparison(store, FACTS, verdict)
    assert verdict_of(store, "c-1") == verdict


@pytest.mark.parametrize("name", [field.name for field in fields(Verdict)])
def test_no_field_of_a_verdict_is_left_out(store: Store, filled: ModuleType, name: str) -> None:
    """A field that is added to the type and not to the store would come back as its default."""
    plain = Verdict(Outcome.ABSTAIN, "")
    rich = filled.verdict(p=0.01, opened=0.5, metric="soft")
    assert getattr(rich, name) != getattr(plain, name)
    one = replace(plain, **{name: getattr(rich, name)})
    save_comparison(store, FACTS, one)
    assert verdict_of(store, "c-1") == one


def test_a_comparison_keeps_what_it_compared_and_its_pairs(store: Store, filled: ModuleType) -> None:
    keys = [AttemptKey("c-1", "t1", digest * 64, 0, "claude") for digest in "ab"]
    done = [Trajectory("t1", 0, key.skill, Score(n, n)) for n, key in enumerate(keys)]
    Attempts(store, "n-1", Redacted).save(list(zip(keys, done, strict=True)))
    pair = PairRow("t1", 0, keys[0], keys[1], 1.0)
    for _ in range(2):
        save_comparison(store, FACTS, filled.verdict(), [pair])
    assert comparisons(store, "n-1") == [FACTS]
    rows = store.driver.execute(
        "SELECT p.task, p.draw, b.hard - a.hard, p.d FROM pair AS p "
        "JOIN attempt AS a ON a.id = p.live_attempt JOIN attempt AS b ON b.id = p.candidate_attempt"
    ).fetchall()
    assert rows == [("t1", 0, 1.0, 1.0)]


def test_the_effect_can_be_computed_again_from_the_rows(store: Store, filled: ModuleType) -> None:
    save_comparison(store, FACTS, filled.verdict())
    (effect,) = store.driver.execute("SELECT effect FROM comparison").fetchone()
    (mean,) = store.driver.execute("SELECT avg(d) FROM comparison_unit WHERE comparison_id = 'c-1'").fetchone()
    assert effect == mean


def test_a_comparison_that_does_not_exist_has_no_verdict(store: Store) -> None:
    assert verdict_of(store, "c-9") is None
