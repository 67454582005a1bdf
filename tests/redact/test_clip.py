"""The beginning of a text, redacted before it is cut to length."""

from __future__ import annotations

import random

import pytest

from skillopt_sleep.redact import Redactor
from tests.redact.shapes import SHAPES, pem, traces

WITH = Redactor()
BY_NAME = {shape.name: shape for shape in SHAPES}


def secret_of(name: str, seed: int = 1) -> str:
    return BY_NAME[name].draw(random.Random(seed))


def test_a_short_text_is_not_clipped() -> None:
    assert WITH.clip("all of it", 4096) == "all of it"


@pytest.mark.parametrize("limit", [10, 100, 4096])
def test_a_long_text_is_clipped_to_the_limit(limit: int) -> None:
    text = "ab cd " * 2000
    assert WITH.clip(text, limit) == text[:limit]


def test_a_secret_that_the_limit_cuts_is_gone_whole() -> None:
    secret = secret_of("github classic")
    clean = WITH.clip("x " * 40 + secret + " tail", 80 + 20)
    assert not traces(secret, clean)
    assert clean == "x " * 40 + "[redacted:github] ta"


def test_a_placeholder_is_not_cut_in_half() -> None:
    clean = WITH.clip("x " * 40 + secret_of("github classic") + " tail", 80 + 5)
    assert clean == "x " * 40


def test_a_token_that_the_first_cut_goes_through_is_dropped_when_it_would_come_into_view() -> None:
    key, token = pem("RSA PRIVATE KEY", lines=30)(random.Random(1)), secret_of("stripe restricted", 2)
    limit = len(key) - 512 + 40  # the first cut leaves 38 characters of the token, too few to know it by
    text = f"{key}\n{token}" + " more" * 300
    clean = WITH.clip(text, limit)
    assert clean == "[redacted:private-key]\n"


def test_a_text_that_was_cut_at_the_same_length_before_is_treated_alike() -> None:
    key, token = pem("RSA PRIVATE KEY", lines=30)(random.Random(1)), secret_of("stripe restricted", 2)
    limit = len(key) - 512 + 40
    assert WITH.clip(f"{key}\n{token}"[: limit + 512], limit) == "[redacted:private-key]\n"


def test_a_long_token_is_dropped_from_its_beginning() -> None:
    assert WITH.clip("see " + "Zq9" * 3000, 100) == "see "


def test_many_are_clipped_in_their_order() -> None:
    texts = ["one " * 100, secret_of("jwt"), "two"]
    assert WITH.clip_many(texts, 8) == ["one one ", "", "two"]


def test_what_lies_beyond_the_limit_and_its_slack_is_not_looked_at() -> None:
    text = "a b " * 2_000_000
    assert WITH.clip(text, 100) == text[:100]
