"""The budget alone: what is set aside, what is believed, what counts."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_core.protocols import Exhausted
from skillopt_sleep.budget import LONGEST_PREFACE, MARGIN, MESSAGE_OVERHEAD, Budget, Limits, Usage
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.prices import FREE, TABLE, Price, prices_of
from skillopt_sleep.tokens import size_of
from tests.models.ledgers import Book

PROSE = "the tests are run with make check, and never by hand; " * 20
SIZE = size_of(PROSE)


def budget(limits: Limits | None = None, prices: dict[str, Price] | None = None, book: Book | None = None) -> Budget:
    return Budget(limits or Limits(), book or Book(), FixedClock(0), prices)


def tokens(one: Budget) -> dict[str, object]:
    found = one.as_json()["tokens"]
    assert isinstance(found, dict)
    return found


def test_a_first_prompt_is_reserved_by_its_bytes_and_later_ones_at_the_ratio_of_the_model() -> None:
    one = budget()
    first = one.reserve("optimizer", "m", PROSE, 100)
    assert (first.prompt, first.output) == (SIZE.most + MESSAGE_OVERHEAD, 100)
    one.settle(first, Usage(SIZE.likely // 2, 5), "hello")
    assert one.reserve("optimizer", "m", PROSE, 100).prompt == ceil((SIZE.likely + MESSAGE_OVERHEAD) * MARGIN)
    assert one.reserve("optimizer", "another", PROSE, 100).prompt == SIZE.most + MESSAGE_OVERHEAD


def test_a_model_with_a_denser_tokenizer_is_reserved_more_and_one_dense_report_is_enough() -> None:
    one = budget()
    for reported in (2 * SIZE.likely, SIZE.likely // 2):
        one.settle(one.reserve("optimizer", "m", PROSE, 100), Usage(reported, 5), "hello")
    assert one.reserve("optimizer", "m", PROSE, 100).prompt >= 2 * SIZE.likely


@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_a_tokenizer_of_bytes_that_was_seen_on_one_script_is_bounded_on_another(share: float) -> None:
    one, chinese = budget(), "推送之前先运行测试，不要使用强制推送。" * 5
    one.settle(one.reserve("optimizer", "m", chinese, 100), Usage(int(size_of(chinese).most * share) + 8, 5), "hello")
    assert one.reserve("optimizer", "m", PROSE, 100).prompt >= int(SIZE.most * share) + 8


def test_a_short_first_prompt_says_nothing_of_how_dense_a_tokenizer_is() -> None:
    one, short = budget(), "x" * 80
    one.settle(one.reserve("optimizer", "m", short, 100), Usage(88, 5), "hello")
    assert one.reserve("optimizer", "m", PROSE, 100).prompt >= SIZE.most + 8
    one.settle(one.reserve("optimizer", "m", "x" * 256, 100), Usage(256, 5), "hello")
    assert one.reserve("optimizer", "m", PROSE, 100).prompt >= SIZE.most + 8


def test_what_a_server_puts_before_each_prompt_counts_and_is_reserved_from_then_on() -> None:
    book = Book()
    one = budget(book=book)
    held = one.reserve("optimizer", "m", "hello", 100)
    one.settle(held, Usage(3_000, 5), "hello")
    assert tokens(one) == {"limit": None, "spent": held.prompt + 5, "exact": False}, "no prompt of five bytes has 3,000"
    assert book.spent()[1].counts == 3_005
    again = one.reserve("optimizer", "m", "hello", 100)
    assert again.prompt >= 3_000
    one.settle(again, Usage(3_000, 5), "hello")
    assert tokens(one)["spent"] == held.prompt + 5 + 3_005


@pytest.mark.parametrize("reported", [None, 0, 1, SIZE.least - 1, SIZE.most + LONGEST_PREFACE + 1, 10**9])
def test_input_that_cannot_be_true_is_what_was_set_aside_for_it_and_said_not_to_be_exact(reported: int | None) -> None:
    one = budget()
    held = one.reserve("optimizer", "m", PROSE, 100)
    one.settle(held, Usage(reported, 5), "hello")
    assert tokens(one) == {"limit": None, "spent": held.prompt + 5, "exact": False}


@pytest.mark.parametrize("reported", [None, 0, 2, 1_001, 10**9])
def test_output_that_cannot_be_true_is_estimated_upwards_and_counts_in_full(reported: int | None) -> None:
    book = Book()
    one = budget(book=book)
    one.settle(one.reserve("optimizer", "m", PROSE, 1_000), Usage(SIZE.likely, reported), "never by hand " * 6)
    (spend,) = book.rows.values()
    assert not spend.exact
    assert spend.tokens - SIZE.likely > len("never by hand " * 6) // 4
    assert spend.counts - SIZE.likely - MESSAGE_OVERHEAD == 1_000, "it may have thought unseen"


def test_a_report_that_is_too_low_to_notice_is_shown_and_buys_nothing() -> None:
    book = Book()
    one = budget(book=book)
    one.settle(one.reserve("optimizer", "m", PROSE, 300), Usage(SIZE.least, size_of(PROSE[:500]).least), PROSE[:500])
    (spend,) = book.rows.values()
    assert spend.exact
    assert spend.tokens == SIZE.least + size_of(PROSE[:500]).least
    assert spend.counts == SIZE.likely + MESSAGE_OVERHEAD + size_of(PROSE[:500]).likely


@given(
    st.lists(
        st.tuples(st.text(max_size=200), st.integers(1, 300), st.none() | st.integers(-1, 10**6), st.text(max_size=80)),
        max_size=30,
    ),
    st.integers(1, 5_000),
)
def test_what_counts_never_passes_the_limit_unless_a_server_says_that_it_put_more_before_the_prompt(
    calls: list[tuple[str, int, int | None, str]], cap: int
) -> None:
    book = Book()
    one, preface = budget(Limits(tokens=cap), book=book), 0
    for prompt, output, reported, reply in calls:
        try:
            held = one.reserve("optimizer", "m", prompt, output)
        except Exhausted:
            continue
        before = book.spent()[1].counts
        assert before <= cap + preface
        one.settle(held, Usage(reported, reported), reply)
        preface += max(book.spent()[1].counts - before, 0)
    assert book.spent()[1].counts <= cap + preface
    assert book.spent()[1].counts >= tokens(one)["spent"]  # type: ignore[operator]


def test_a_restart_goes_on_from_what_counts() -> None:
    book = Book()
    one = budget(Limits(tokens=4_000), book=book)
    one.settle(one.reserve("optimizer", "m", PROSE, 300), Usage(SIZE.least, 5), "hello")
    counts = book.spent()[1].counts
    again = budget(Limits(tokens=counts + SIZE.most + MESSAGE_OVERHEAD + 299), book=book)
    with pytest.raises(Exhausted, match=f"{counts} of"):
        again.reserve("optimizer", "m", PROSE, 300)
    assert not again.affords(SIZE.most + MESSAGE_OVERHEAD + 300)
    assert again.affords(SIZE.most + MESSAGE_OVERHEAD + 299)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(tokens=1_000), "tokens are spent or reserved"),
        (Limits(calls=0), "all 0 calls are made"),
        (Limits(usd=0.0001), "USD are spent or reserved"),
        (Limits(seconds=0.0), "minutes are over"),
    ],
)
def test_each_limit_says_why_it_ends_the_work(limits: Limits, why: str) -> None:
    with pytest.raises(Exhausted, match=why):
        budget(limits, {"m": Price(3.0, 15.0)}).reserve("optimizer", "m", PROSE, 100)


def test_a_month_leaves_a_night_what_others_have_not_taken() -> None:
    tonight, month = Limits(tokens=1_000, usd=1.0), Limits(tokens=5_000, calls=10, usd=9.0, seconds=60.0)
    assert tonight.within(month, Limits(4_500, 3, 1.0, 70.0)) == Limits(500, 7, 1.0, 0)


def test_a_price_is_found_by_the_providers_own_host_and_a_person_overrides_it() -> None:
    listed = TABLE["api.anthropic.com"]["claude-sonnet-4-5"]
    own = {"house": Price(1.0, 2.0)}
    models = [("claude-sonnet-4-5-20250929", "api.anthropic.com"), ("claude-opus-5", "proxy.example"), ("x", "y")]
    assert prices_of(models, own) == {**own, "claude-sonnet-4-5-20250929": listed}
    mine = {"claude-sonnet-4-5": replace(listed, input=99.0)}
    assert prices_of([("claude-sonnet-4-5", "api.anthropic.com")], mine) == mine
    assert all(price != FREE and price.input <= price.output for host in TABLE.values() for price in host.values())


def test_money_counts_both_sides_at_their_price() -> None:
    one = budget(Limits(usd=5.0), {"m": Price(3.0, 15.0)})
    one.settle(one.reserve("optimizer", "m", PROSE, 1_000), Usage(500, 100), "word " * 60)
    assert one.as_json()["usd"] == {"limit": 5.0, "spent": 0.003}


def test_dollars_are_refused_for_a_model_without_a_price_before_anything_is_set_aside() -> None:
    book = Book()
    with pytest.raises(ConfigError, match="no price of 'unheard-of'"):
        budget(Limits(usd=1.0), {"m": FREE}, book).reserve("optimizer", "unheard-of", "x", 1)
    assert not book.rows
