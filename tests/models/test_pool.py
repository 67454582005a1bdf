"""The pool of a provider: how many calls are in the air, and when each may go out. Times are those of a made clock."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from skillopt_core.types import Missing
from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import Completion
from skillopt_sleep.models.openai import OpenAICompleter
from skillopt_sleep.models.pool import Pool, Rates, Slot
from skillopt_sleep.redact import Redacted
from tests.bench.loading import BENCH, script
from tests.models.ledgers import Book, Replies

MOMENT = 5.0
"""Seconds that a thread is waited for which should come; one that hangs fails the test."""


class Hours:
    """A clock that moves when somebody sleeps, and keeps how long."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 9))
        self.now += seconds


def pool(workers: int, rates: Rates | None = None) -> tuple[Pool, Hours]:
    hours = Hours()
    return Pool(workers, rates, now=lambda: hours.now, sleep=hours.sleep), hours


def paced(one: Pool, hours: Hours, tokens: int, took: int) -> float:
    """One call after the other; when it went out."""
    with one.slot() as slot:
        one.pace(slot, tokens)
        out = hours.now
        one.answered(slot, took)
    return out


@pytest.mark.parametrize("workers", [1, 3, 32])
def test_as_many_calls_are_in_the_air_as_there_are_workers_and_no_more(workers: int) -> None:
    one, _ = pool(workers)
    full, lock, in_air, peak = threading.Barrier(workers), threading.Lock(), 0, 0

    def call(n: int) -> int:
        nonlocal in_air, peak
        with one.slot():
            with lock:
                in_air += 1
                peak = max(peak, in_air)
            full.wait(MOMENT)
            with lock:
                in_air -= 1
        return n

    assert one.run(call, range(workers * 3)) == list(range(workers * 3))
    assert peak == workers


def test_two_roles_that_share_a_pool_share_its_workers() -> None:
    one, _ = pool(2)
    lock, in_air, peak = threading.Lock(), 0, 0

    def call(n: int) -> None:
        nonlocal in_air, peak
        with one.slot():
            with lock:
                in_air += 1
                peak = max(peak, in_air)
            threading.Event().wait(0.001)
            with lock:
                in_air -= 1

    roles = [threading.Thread(target=one.run, args=(call, range(20))) for _ in range(3)]
    for role in roles:
        role.start()
    for role in roles:
        role.join()
    assert peak <= 2


def test_after_an_exception_no_further_work_is_begun() -> None:
    one, _ = pool(2)
    begun: list[int] = []

    def call(n: int) -> None:
        begun.append(n)
        if n == 1:
            raise NotSignedIn("the key was refused", where="x", remedy="y")
        threading.Event().wait(0.01)

    with pytest.raises(NotSignedIn):
        one.run(call, range(100))
    assert len(begun) < 50


def test_requests_are_spread_over_the_minute() -> None:
    one, hours = pool(4, Rates(requests=30))
    out = [paced(one, hours, 10, 10) for _ in range(5)]
    assert out == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_tokens_are_spread_over_the_minute_and_what_was_not_taken_is_given_back() -> None:
    one, hours = pool(4, Rates(tokens=6_000))
    out = [paced(one, hours, 1_000, took) for took in (1_000, 500, 500, 0)]
    assert [b - a for a, b in pairwise(out)] == [10.0, 5.0, 5.0]


def test_a_429_halves_what_is_in_the_air_holds_everybody_for_its_pause_and_is_forgotten_by_answers() -> None:
    one, hours = pool(8)
    with one.slot() as slot:
        one.pace(slot, 1)
        one.refused(slot, 7.0)
    assert one.window == 4
    assert paced(one, hours, 1, 1) == 7.0
    assert hours.slept == [7.0]
    windows = [one.window for _ in _answers(one, hours, 40)]
    assert windows[-1] == 8
    assert windows == sorted(windows)


def test_a_storm_of_429_brings_it_down_to_one_and_never_to_none() -> None:
    one, hours = pool(32)
    for _ in range(40):
        with one.slot() as slot:
            one.refused(slot, 0.0)
    assert one.window == 1
    assert paced(one, hours, 1, 1) == 0.0


def test_a_burst_of_429_is_one_trouble_so_that_half_of_it_is_reached_again_soon() -> None:
    one, hours = pool(32)
    for slot in [Slot(0) for _ in range(4)]:
        one.refused(slot, 0.0)
    assert one.window == 2
    list(_answers(one, hours, 14))
    assert one.window == 16, "one more with each answer"
    list(_answers(one, hours, 14))
    assert one.window == 16, "then one more a round"


def _answers(one: Pool, hours: Hours, n: int) -> Iterator[float]:
    for _ in range(n):
        yield paced(one, hours, 1, 1)


@pytest.mark.parametrize("workers", [1, 8, 32])
def test_over_http_as_many_calls_are_in_flight_as_there_are_workers(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    found = script("pool").gathered(workers, calls=workers * 2)
    assert found.peak == workers
    assert found.requests == workers * 2 + 1


def test_the_same_prompt_twice_in_one_call_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    serving = script("serving")
    provider = serving.Provider()
    try:
        account = provider.accounts["a"] = serving.Account(serving.Habits(len))
        complete = Completion(
            OpenAICompleter("scripted", base_url=f"{provider.url('a')}/v1"),
            Budget(Limits(), Book(), FixedClock(0)), Replies(), night="n", role="optimizer", redact=Redacted,
            sleep=lambda _: None,
        )  # fmt: skip
        replies = complete(["a", "b", "a", "b", "a"])
    finally:
        provider.close()
    assert account.requests == 2
    assert not any(isinstance(reply, Missing) for reply in replies)
    assert replies[0] == replies[2] == replies[4]


def test_who_is_told_to_end_begins_no_more_calls_and_long_work_hears_of_it() -> None:
    """A signal is raised where the work is waited for."""
    one, _ = pool(2)
    begun: list[int] = []
    under_way = threading.Event()

    def work(n: int) -> int:
        begun.append(n)
        if len(begun) == 2:
            under_way.set()
        until = time.monotonic() + MOMENT
        while not one.stopping and time.monotonic() < until:
            time.sleep(0.01)
        return n

    def interrupt() -> None:
        assert under_way.wait(MOMENT)
        os.kill(os.getpid(), signal.SIGINT)

    caller = threading.Thread(target=interrupt)
    caller.start()
    with pytest.raises(KeyboardInterrupt):
        one.run(work, range(20))
    caller.join()
    assert len(begun) == 2, "what waited was not begun"
    assert one.stopping


class Interrupted(list[int]):
    """Items of which the fourth is never reached: a signal comes first."""

    def __iter__(self) -> Iterator[int]:
        yield from range(3)
        raise KeyboardInterrupt


def test_who_is_told_to_end_while_calls_are_handed_out_begins_no_more_either() -> None:
    one, _ = pool(1)
    begun: list[int] = []

    def work(n: int) -> int:
        begun.append(n)
        until = time.monotonic() + MOMENT
        while not one.stopping and time.monotonic() < until:
            time.sleep(0.01)
        return n

    with pytest.raises(KeyboardInterrupt):
        one.run(work, Interrupted(range(20)))
    assert one.stopping
    assert begun in ([], [0])
