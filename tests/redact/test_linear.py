"""Hostile text costs no more than its length: four times the text, at most eight times the time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator

import pytest

from skillopt_sleep.redact import Redactor, printable
from skillopt_sleep.redact.rules import _dispatch

HOSTILE = {
    "a_": "a_",
    "key begins": "-----BEGIN ",
    "private key begins": "-----BEGIN RSA PRIVATE KEY-----\n",
    "private key in letters": "-----BEGIN RSA PRIVATE KEY-----" + "a" * 4000,
    "private key ends": "QUJDREVG1234QUJDREVG1234QUJDREVG1234\n-----END RSA PRIVATE KEY-----",
    "https://a:": "https://a:",
    "user@": "://user@x:y",
    "eyJ": "eyJ",
    "eyJ.": "eyJhbGciOiJ.",
    "@": "@",
    "blanks": " ",
    "password=": "password=",
    "password: '": "password: 'a",
    "gaps": "password=your_",
    "flags": "--password ",
    "cookies": "cookie: a=b; ",
    "vendors": "xapp-1-A",
    "sk-": "sk-word",
    "commands": "mysql -p curl -u ",
    "percent": "%41",
    "unicode": "\\u0041",
    "base64": "QUJDREVG",
    "findings": "glpat-aaaaaaaaaaaaaaaa1 ",
    "placeholders": "[redacted:key]",
    "allow": "gitleaks:allow",
}


FLOOR = 0.005
"""Seconds below which a difference is noise."""


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def best(work: Callable[[str], object], seed: str, length: int) -> float:
    """Seconds of processor time, the better of two."""
    text = (seed * (length // len(seed) + 1))[:length]
    taken = []
    for _ in range(2):
        start = time.process_time()
        work(text)
        taken.append(time.process_time() - start)
    return min(taken)


def fresh(text: str, *, engine: bool) -> str:
    return Redactor(engine=engine).redact(text)


@pytest.mark.parametrize("seed", HOSTILE.values(), ids=HOSTILE)
def test_redaction_is_linear(seed: str) -> None:
    Redactor().redact("a passw loads the engine")
    for engine in (False, True):

        def work(text: str, engine: bool = engine) -> str:
            return fresh(text, engine=engine)

        short, long = best(work, seed, 50_000), best(work, seed, 200_000)
        assert long <= 8 * max(short, FLOOR)


def test_a_hundred_kilobytes_take_less_than_a_second() -> None:
    Redactor().redact("a passw loads the engine")
    assert best(lambda text: fresh(text, engine=True), "a_", 100_000) < 1


@pytest.mark.parametrize("seed", ["\x1b[", "\x1b]", "\x1b[0;", "\x1bP", "\x9d", "\u202e", "\r"], ids=repr)
def test_what_is_shown_is_linear(seed: str) -> None:
    assert best(printable, seed, 400_000) <= 8 * max(best(printable, seed, 100_000), FLOOR)


def test_every_rule_can_be_tried_where_its_literals_stand() -> None:
    """Expressions are compiled at first use: a broken one must not wait for its vendor's token."""
    for rule in _dispatch().rules:
        for literal in rule.literals:
            assert rule.find(literal, 0)[1] >= 0
