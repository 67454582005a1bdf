"""Paid work is found again by its key, and never paid twice."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt_core.types import Score, Trajectory
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.domain.ledgers import AttemptKey, CompletionKey, Spend
from skillopt_sleep.errors import StoreError
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.ledgers import Attempts, Completions, Spending, note_session, own_sessions, spent

KEY = AttemptKey("c-1", "t1", "d" * 64, 0, "claude", "2.1", "sonnet", "{}")
DONE = Trajectory(
    "t1",
    0,
    "d" * 64,
    Score(0.0, 0.5, ("no `npm`",), {"tokens": 120.0, "seconds": 3.5}),
    "it ran",
    offered=True,
    opened=False,
    loaded=None,
    prompt="please run it",
)


@pytest.fixture(scope="module")
def redact() -> Redactor:
    return Redactor(engine=False)


def test_a_finished_attempt_is_known_by_its_key_as_it_was(store: Store, redact: Redactor) -> None:
    ledger = Attempts(store, "n-1", redact.redact)
    other = replace(KEY, comparison="c-2")
    ledger.save([(KEY, DONE), (replace(KEY, draw=1), "timed out")])
    assert ledger.known([KEY, replace(KEY, draw=1), other]) == {KEY.digest: DONE}
    assert Attempts(store, "n-2", redact.redact).known([KEY]) == {KEY.digest: DONE}


def test_a_finished_attempt_never_changes_and_a_missing_one_may(store: Store, redact: Redactor) -> None:
    ledger = Attempts(store, "n-1", redact.redact)
    ledger.save([(KEY, "timed out")])
    ledger.save([(KEY, DONE)])
    ledger.save([(KEY, replace(DONE, transcript="another")), (KEY, "timed out")])
    assert ledger.known([KEY]) == {KEY.digest: DONE}
    assert store.driver.execute("SELECT count(*) FROM attempt").fetchone() == (1,)


def test_attempts_are_stored_all_or_none(store: Store, redact: Redactor) -> None:
    ledger = Attempts(store, "n-1", redact.redact)
    broken = replace(DONE, loaded=object())  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        ledger.save([(KEY, DONE), (replace(KEY, draw=1), broken)])
    assert ledger.known([KEY]) == {}


def test_what_an_agent_said_is_redacted_before_it_is_kept(store: Store, redact: Redactor) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    Attempts(store, "n-1", redact.redact).save([(KEY, replace(DONE, transcript=f"TOKEN={token}", prompt=token))])
    Completions(store, redact.redact).save(CompletionKey("n-1", "critic", "m", "d"), token, f"use {token}", "done")
    assert token.encode() not in b"".join(row[0] for row in store.driver.execute("SELECT bytes FROM body"))


EXAMPLE = count()


def test_our_own_sessions_are_known_by_their_ids(store: Store, redact: Redactor) -> None:
    Attempts(store, "n-1", redact.redact).save([(KEY, DONE), (replace(KEY, draw=1), DONE)])
    assert own_sessions(store) == frozenset()
    note_session(store, KEY, "native-7")
    assert own_sessions(store) == {"native-7"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.text(max_size=20)), max_size=12))
def test_the_first_finished_attempt_of_a_key_stays(
    store: Store, redact: Redactor, rows: list[tuple[int, bool, str]]
) -> None:
    ledger, one = Attempts(store, "n-1", redact.redact), replace(KEY, comparison=f"c-{next(EXAMPLE)}")
    wanted: dict[str, str] = {}
    for draw, finished, text in rows:
        key = replace(one, draw=draw)
        ledger.save([(key, replace(DONE, draw=draw, transcript=text) if finished else "failed")])
        if finished:
            wanted.setdefault(key.digest, redact.redact(text).encode("utf-8", "replace").decode())
    known = ledger.known([replace(one, draw=draw) for draw in range(4)])
    assert {digest: kept.transcript for digest, kept in known.items()} == wanted


def test_a_reply_is_known_by_its_key_and_a_failed_one_is_asked_again(store: Store, redact: Redactor) -> None:
    ledger = Completions(store, redact.redact)
    key = CompletionKey("n-1", "critic", "m", "digest")
    assert ledger.reply(key) is None
    ledger.save(key, "why?", None, "rate limited")
    assert ledger.reply(key) is None
    ledger.save(key, "why?", "because", "done")
    ledger.save(key, "why?", "or not", "done")
    ledger.save(key, "why?", None, "rate limited")
    assert ledger.reply(key) == "because"
    assert ledger.reply(replace(key, night="n-2")) is None
    ledger.save(replace(key, draw=1), "why?", "", "done")
    assert ledger.reply(replace(key, draw=1)) == ""


def test_what_is_reserved_counts_until_it_is_settled(store: Store, clock: FixedClock) -> None:
    book = Spending(store, "n-1", "2026-11")
    assert book.spent() == (0, Spend())
    first, second = book.reserve("optimizer", 1000, 0.5), book.reserve("target", 500, 0.25)
    assert book.spent() == (2, Spend.whole(1500, 0.75))
    book.settle(first, Spend(120, 0.125, True, 180, 0.25))
    assert book.spent() == (2, Spend(620, 0.375, False, 680, 0.5))
    book.settle(second, Spend(80, 0.125, True, 80, 0.125))
    assert book.spent() == (2, Spend(200, 0.25, True, 260, 0.375))
    clock.ms += 1000
    other = Spending(store, "n-2")
    other.settle(other.reserve("judge", 10, 0.0), Spend(7, 0.0, False, 9, 0.0))
    assert spent(store) == (207, 3, 0.25, False)
    assert spent(store, since_ms=clock.ms) == (7, 1, 0.0, False)
