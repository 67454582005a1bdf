"""What is kept of long texts: JSON stays JSON, no half of a token is left, nothing is over its limit."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_harvesters import clip
from skillopt_harvesters.codex_words import glance_at
from skillopt_harvesters.glance import fingerprint, glance, glance_of, opening
from skillopt_harvesters.model import HEAD, KEEP, MARGIN

RAW = msgspec.json.Decoder(msgspec.Raw)
SHELL = {"output": "", "metadata": {"exit_code": 0}}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4000),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=9), inner, max_size=8),
    max_leaves=20,
)


@given(json_values)
def test_arguments_stay_json_and_short(value: Any) -> None:
    text = clip.arguments(json.dumps(value))
    assert len(text) <= KEEP
    if value is None:
        assert text == ""
    else:
        kept = json.loads(text)
        if len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) <= KEEP:
            assert kept == value


def test_each_long_value_keeps_its_share_and_short_ones_are_whole() -> None:
    given_ = {"file_path": "/work/shop/a.py", "old_string": "old " * 3000, "new_string": "new " * 9000, "all": True}
    kept = json.loads(clip.arguments(json.dumps(given_)))
    assert kept["file_path"] == "/work/shop/a.py"
    assert kept["all"] is True
    assert len(kept["old_string"]) > 1500
    assert len(kept["new_string"]) > 1500
    assert kept["old_string"].endswith("…")


def test_arguments_of_very_many_parts_are_cut_too() -> None:
    text = clip.arguments(json.dumps([{"path": f"/work/{n}", "text": "x" * 50} for n in range(5000)]))
    assert len(text) <= KEEP
    json.loads(text)


def test_damaged_arguments_are_kept_as_text() -> None:
    assert json.loads(clip.arguments('{"cmd": "ls')) == '{"cmd": "ls'
    assert json.loads(clip.arguments('{"a":"\\ud83d"}')) == {"a": "\ufffd"}


@given(st.text(max_size=300), st.integers(1, 200))
def test_a_cut_leaves_no_half_token(text: str, limit: int) -> None:
    kept = clip.before_cut(text, limit)
    assert len(kept) <= limit
    if len(text) > limit and kept != clip.CUT:
        assert text.startswith(kept.removesuffix(clip.CUT))


def test_a_secret_at_the_cut_is_gone() -> None:
    secret = "ghp_" + "A1b2" * 9
    for before in range(HEAD - 60, HEAD + 5):
        kept = clip.before_cut("y " * 10 + "x" * (before - 20) + " " + secret + " more", HEAD)
        assert secret in kept or "ghp_" not in kept


def test_errors_keep_a_margin_for_the_redactor() -> None:
    assert len(clip.error_text("x" * 9000)) == KEEP + MARGIN


@given(st.text(max_size=2000))
def test_a_glance_shows_the_beginning_of_what_is_written(text: str) -> None:
    for ascii_ in (True, False):
        raw = RAW.decode(json.dumps(text, ensure_ascii=ascii_).encode("utf-8", "replace"))
        seen = glance(raw)
        assert seen is not None
        clean = text.encode("utf-8", "replace").decode()
        head = seen.head.removesuffix("…")
        assert len(seen.head) <= HEAD
        assert clean.startswith(head) or "\ufffd" in head
        assert seen.length == len(memoryview(raw)) - 2
        if len(memoryview(raw)) <= HEAD:
            assert seen.head in (clean, text)


@given(st.text('aé…\U0001f600\\"\n\x01 ', min_size=400, max_size=900), st.booleans())
def test_a_head_is_how_the_output_begins_however_it_is_written(text: str, ascii_: bool) -> None:
    written = json.dumps(text, ensure_ascii=ascii_).encode()
    inner = json.dumps(SHELL | {"output": text}, ensure_ascii=ascii_, separators=(",", ":"))
    shell = glance_at(RAW.decode(json.dumps(inner, ensure_ascii=ascii_).encode()), None)
    for seen in (glance(RAW.decode(written)), shell):
        assert seen is not None
        assert text.startswith(seen.head.removesuffix("…"))
        assert len(seen.head) <= HEAD


@pytest.mark.parametrize("before", range(HEAD - 60, HEAD + 5))
def test_a_secret_at_the_end_of_a_head_is_gone(before: int) -> None:
    secret = "ghp_" + "A1b2" * 9
    text = "y " * 80 + "x" * (before - 160) + " " + secret + " and what follows" * 40
    inner = json.dumps(SHELL | {"output": text}, separators=(",", ":"))
    for seen in (
        glance(RAW.decode(json.dumps(text).encode())),
        glance_at(RAW.decode(json.dumps(inner).encode()), None),
    ):
        assert seen is not None
        assert secret in seen.head or "ghp_" not in seen.head


@pytest.mark.parametrize("filling", ["\\", '"', "\n", "é", "…", "\U0001f600", "a\\", "\x01"])
@pytest.mark.parametrize("shift", range(14))
def test_a_glance_never_cuts_an_escape_or_a_character(filling: str, shift: int) -> None:
    text = "x" * shift + filling * 900
    for ascii_ in (True, False):
        written = memoryview(RAW.decode(json.dumps(text, ensure_ascii=ascii_).encode()))
        head = opening(written)
        assert head
        assert text.startswith(head)


def test_fingerprints_tell_outputs_apart() -> None:
    one = "a" * 5000 + "b" + "a" * 5000
    other = "a" * 5000 + "c" + "a" * 5000
    assert glance_of(one).fingerprint != glance_of(other).fingerprint
    assert glance_of(one) == glance_of(one)
    assert len(fingerprint(b"")) == 16
