"""A key of which both the first and the last line are lost, as in the head of an output that shows a part of a file."""

from __future__ import annotations

import base64
import random

import pytest

from skillopt_harvesters.glance import glance_of
from skillopt_sleep.redact import Redactor
from tests.redact.shapes import ALNUM, BASE64, HEX, run, traces

WITHOUT = Redactor(engine=False)


def rows(width: int, n: int, seed: int = 3) -> str:
    rng = random.Random(seed)
    return "\n".join(run(BASE64, width)(rng) for _ in range(n))


@pytest.mark.parametrize("width", [64, 70])
@pytest.mark.parametrize("before", ["", "Test Files  12 passed\n\n", "a" * 150 + "\n", "x " * 88])
def test_the_lines_above_a_cut_are_gone(width: int, before: str) -> None:
    key = rows(width, 40)
    head = glance_of(before + key).head
    assert head.endswith("…")
    assert traces(key, head)
    clean = WITHOUT.redact(head)
    assert not traces(key, clean)
    assert clean == before + "[redacted:private-key]…"


def test_the_rest_of_the_line_in_which_the_text_begins_is_gone_too() -> None:
    key = rows(64, 40)[30:]
    clean = WITHOUT.redact(glance_of("no problems\n" + key).head)
    assert clean == "no problems\n[redacted:private-key]…"


def test_inside_a_string_of_json_too() -> None:
    key = rows(64, 3).replace("\n", "\\n")
    assert WITHOUT.redact(f'{{"out": "{key}\\n…"}}') == '{"out": "[redacted:private-key]…"}'


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN CERTIFICATE-----\n" + rows(64, 3) + "\n…",
        rows(64, 3) + "\nand so on",
        rows(76, 3) + "\n…",
        rows(120, 2) + "\n…",
        "\n".join(run(HEX, 64)(random.Random(n)) for n in range(3)) + "\n…",
        "a" * 64 + "\n…",
        run(ALNUM, 64)(random.Random(1)).lower() + "\n…",
        "one line and then\n…",
        f'"{base64.b64encode(bytes(range(90))).decode()}",\n…',
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert WITHOUT.redact(text) == text


def test_many_cuts_cost_no_more_than_one_look_each() -> None:
    text = (rows(64, 1) + "\n…\n") * 3_000
    clean = WITHOUT.redact(text)
    assert clean == "[redacted:private-key]…\n" * 3_000
