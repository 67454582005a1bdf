"""Every shape of secret is gone, with the engine and without, and nothing but a placeholder stands in its place."""

from __future__ import annotations

import json
import random
import re

import pytest

from skillopt_sleep.redact import KINDS, Redactor
from tests.redact.shapes import SHAPES, Shape, traces

WITH = Redactor()
WITHOUT = Redactor(engine=False)
DRAWS = 16


def drawn(shape: Shape) -> list[tuple[str, str]]:
    rng = random.Random(shape.name)
    return [shape.planted(rng) for _ in range(DRAWS)]


def test_the_table_holds_more_than_forty_kinds() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) > 100


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_secret_of_this_shape_is_gone(shape: Shape) -> None:
    planted = drawn(shape)
    for redactor in (WITH, WITHOUT):
        for (secret, text), clean in zip(planted, redactor.redact_many([text for _, text in planted]), strict=True):
            assert "[redacted:" in clean
            if redactor is WITH or not shape.engine_only:
                assert not traces(secret, clean), text


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_what_surrounds_a_secret_stays(shape: Shape) -> None:
    secret, text = drawn(shape)[0]
    clean = WITH.redact(f"before it, see main.py:12\n{text}\nafter it, run make test")
    assert clean.startswith("before it, see main.py:12\n")
    assert clean.endswith("\nafter it, run make test")
    head, _, tail = text.partition(secret)
    if not shape.name.endswith(("cookie", "webhook")):  # of these the whole value goes
        assert head[:4] in clean
        assert tail[-4:] in clean


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_redacting_twice_changes_nothing(shape: Shape) -> None:
    for _, text in drawn(shape)[:10]:
        once = WITH.redact(text)
        assert Redactor().redact(once) == once


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_secret_in_the_arguments_of_a_tool_is_gone_and_they_stay_json(shape: Shape, layers: int) -> None:
    for secret, text in drawn(shape)[:5]:
        arguments = json.dumps({"command": text, "timeout": 5})
        if layers == 2:
            arguments = json.dumps({"arguments": arguments, "name": "shell"})
        clean = WITH.redact(arguments)
        assert not traces(secret, clean)
        read = json.loads(clean)
        assert read["timeout"] == 5 if layers == 1 else json.loads(read["arguments"])["timeout"] == 5


def test_a_placeholder_names_a_known_kind() -> None:
    clean = WITH.redact("\n".join(drawn(shape)[0][1] for shape in SHAPES))
    named = set(re.findall(r"\[redacted:([^\]]*)\]", clean))
    assert {"github", "password", "private-key", "url", "jwt", "aws", "cookie", "authorization"} <= named <= KINDS


def test_a_secret_dressed_as_a_placeholder_is_gone() -> None:
    secret, _ = drawn(next(shape for shape in SHAPES if shape.name == "mailgun"))[0]
    assert not traces(secret, WITH.redact(f"[redacted:{secret}]"))


def test_both_halves_of_an_aws_pair_are_gone() -> None:
    by_name = {shape.name: shape for shape in SHAPES}
    identity, _ = drawn(by_name["aws id alone"])[0]
    secret = "/" + drawn(by_name["aws secret"])[0][0][1:-4] + "+a/b"  # no word of a generic rule
    for text in (f"the key {identity}\nand its token: {secret} were found", f"{identity}\naccess for bob > {secret}\n"):
        clean = WITH.redact(text)
        assert not traces(identity, clean)
        assert not traces(secret, clean)


def test_texts_come_back_in_order_each_with_its_own_secrets() -> None:
    planted = [pair for shape in SHAPES for pair in drawn(shape)[:2]]
    texts = [text for _, text in planted] * 2 + ["nothing here", ""]
    clean = WITH.redact_many(texts)
    assert clean[-2:] == ["nothing here", ""]
    assert clean[: len(planted)] == clean[len(planted) : -2]
    for (secret, _), got in zip(planted, clean, strict=False):
        assert not traces(secret, got)


def test_many_at_once_reads_as_one_by_one() -> None:
    texts = [text for shape in SHAPES for _, text in drawn(shape)[:3]]
    assert Redactor().redact_many(texts) == [Redactor().redact(text) for text in texts]


def test_a_text_longer_than_a_scan_is_clean_to_its_end() -> None:
    filler = "the quick brown fox reads main.py and é writes it again\n" * 4
    planted = [pair for shape in SHAPES for pair in drawn(shape)[:8]]
    clean = WITH.redact(filler.join(text + "\n" for _, text in planted))
    assert len(clean) > 150_000
    for secret, text in planted:
        assert not traces(secret, clean), text
