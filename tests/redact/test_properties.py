"""Wherever a secret stands and whatever surrounds it, no piece of it survives."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt_sleep.redact import Redactor
from skillopt_sleep.redact.decoded import SEPARATOR
from tests.redact.shapes import SHAPES, Shape, traces

WITH = Redactor()
WITHOUT = Redactor(engine=False)

seeds = st.integers(0, 2**32)
shapes = st.sampled_from(SHAPES)
whole = st.sampled_from([shape for shape in SHAPES if shape.name != "private key, beginning lost"])
"""Shapes that can be told by their beginning, as a cut leaves it."""

WEIRD = [
    "\0",
    "\ud800",
    "\udfff",
    "é",
    "日本語",
    "\u200b",
    "\u202e",
    "\x1b[31m",
    "\x1b[0m",
    "“",
    "\ufeff",
    "\u2028",
    "\x85",
]
ALLOW = [" gitleaks:allow", " # betterleaks:allow\n", " //gitleaks:allow ", "betterleaks:allow "]
edges = st.sampled_from(["", " ", "\n", "\t", "\r\n", *WEIRD, *ALLOW])
words = st.text(st.characters(exclude_categories=()), max_size=40)
prose = st.lists(
    st.sampled_from(["the", "tests", "fail", "in", "main.py", "Größe", "日本", "a = b(c)", "\n", "😀"]), max_size=30
)


coats = st.sampled_from(
    ["%41", "%C3%A9%2F", "\\u0041", "https:\\/\\/", "SGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0/w==", "c2VjcmV0" * 9]
)


def around() -> st.SearchStrategy[str]:
    dressed = st.lists(st.one_of(coats, words, st.just("日本" * 300)), max_size=6).map("".join)
    return st.one_of(words, prose.map(" ".join), dressed)


def checked(examples: int) -> Callable[[Any], Any]:
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@checked(300)
@given(shape=shapes, seed=seeds, before=around(), left=edges, right=edges, after=prose.map(" ".join))
def test_a_planted_secret_never_survives(
    shape: Shape, seed: int, before: str, left: str, right: str, after: str
) -> None:
    secret, planted = shape.planted(random.Random(seed))
    text = f"{before}\n{left}{planted}{right}\n{after}"
    clean = WITH.redact(text)
    assert not traces(secret, clean)
    if not shape.engine_only:
        assert not traces(secret, WITHOUT.redact(text))


@checked(300)
@given(
    shape=whole,
    seed=seeds,
    pad=st.integers(0, 300),
    shrink=st.booleans(),
    left=edges,
    cut=st.floats(0, 1),
    slack=st.sampled_from([0, 512]),
)
def test_no_cut_halves_a_secret(
    shape: Shape, seed: int, pad: int, shrink: bool, left: str, cut: float, slack: int
) -> None:
    """The cut goes through the planted secret: the clip itself, or the wider one before it, after much was replaced."""
    rng = random.Random(seed)
    secret, planted = shape.planted(rng)
    key = next(one for one in SHAPES if one.name == "private key").draw(rng) + "\n" if shrink else ""
    head = key + "word " * (pad // 5) + left
    at = len(head) + planted.index(secret) + int(cut * len(secret))
    limit = max(1, at - slack)
    clean = WITH.clip(head + planted + " and so on" * 200, limit)
    assert len(clean) <= limit
    assert not traces(secret, clean)
    if not secret.startswith("-----BEGIN"):
        assert not clean.endswith(tuple(secret[:length] for length in range(8, len(secret) + 1)))


@checked(150)
@given(texts=st.lists(st.one_of(around(), st.tuples(shapes, seeds)), max_size=12))
def test_redacting_twice_changes_nothing(texts: list[Any]) -> None:
    mixed = [text if isinstance(text, str) else "key " + text[0].planted(random.Random(text[1]))[1] for text in texts]
    once = Redactor().redact_many(mixed)
    assert Redactor().redact_many(once) == once
    joined = WITH.redact("\n".join(mixed))
    assert Redactor().redact(joined) == joined


@checked(200)
@given(text=st.text(st.characters(exclude_categories=()), max_size=300))
def test_text_without_secrets_comes_back_character_by_character(text: str) -> None:
    if "[redacted:" not in (clean := WITH.redact(text)):
        assert clean == text


@pytest.mark.parametrize("weird", [*WEIRD, *ALLOW, SEPARATOR.decode()], ids=repr)
def test_what_blinds_a_scanner_does_not_blind_us_and_is_given_back(weird: str) -> None:
    shape = next(one for one in SHAPES if one.name == "terraform cloud")  # the engine's alone
    secret, _ = shape.planted(random.Random(1))
    for text in (f"{weird} {secret} {weird}", f"{weird}\n{secret}{weird}", f"a {secret} b{weird}"):
        assert WITH.redact(text) == text.replace(secret, "[redacted:terraform]")


def test_what_a_first_round_uncovers_goes_in_the_second() -> None:
    by_name = {shape.name: shape for shape in SHAPES}
    dressed, _ = by_name["hex"].planted(random.Random(1))
    glued, _ = by_name["slack bot"].planted(random.Random(1))
    clean = WITH.redact(f"raw {dressed}{glued}")
    assert clean == "raw [redacted:github][redacted:slack]"


def test_columns_are_bytes() -> None:
    shape = next(one for one in SHAPES if one.name == "terraform cloud")
    secret, _ = shape.planted(random.Random(2))
    text = f"größer als 日本 😀: {secret} und {secret}, naïve {secret}"
    assert WITH.redact(text) == text.replace(secret, "[redacted:terraform]")
