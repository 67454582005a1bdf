"""The engine sees every text in which it could find something, and only those.

Its rules are read from its own library, so that a release with other keywords turns this red.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from skillopt_sleep.redact import engine, suspects
from skillopt_sleep.redact.engine import engine_spans
from skillopt_sleep.redact.spans import SEPARATOR
from tests.redact.shapes import SHAPES

betterleaks = pytest.importorskip("betterleaks")

JOINT = r"""(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"""
"""How the engine writes the middle of an assignment, in each rule of that kind."""


@cache
def rules() -> dict[str, dict[str, Any]]:
    """The engine's rules that can report in a text without a name, by their id."""
    content = Path(betterleaks._lib._find_library()).read_bytes()
    start, last = content.find(b"# This file has been auto-generated"), content.rfind(b"[[rules]]")
    end = re.compile(rb"[\x00-\x08\x0e-\x1f\x80-\xff]").search(content, last)
    assert start >= 0
    assert end is not None
    written = content[start : end.start()]
    while True:
        try:
            found = tomllib.loads(written.decode())["rules"]
        except tomllib.TOMLDecodeError:
            written = written[: written.rindex(b"\n")]
            assert start + len(written) > last
        else:
            return {rule["id"]: rule for rule in found if "regex" in rule and not rule.get("skipReport")}


def called_by(keyword: str) -> set[str]:
    return {name for name, rule in rules().items() if keyword in map(str.lower, rule["keywords"])}


def is_seen(text: bytes) -> bool:
    return bool(list(suspects.suspects(text, text.lower())))


def unseen_by_us(text: str) -> bool:
    """Whether the engine finds something when it is asked directly."""
    return bool(list(betterleaks.scan_string(text)))


def test_the_keywords_are_those_of_the_engine() -> None:
    assert betterleaks.__version__ == suspects.RELEASE
    assert len(rules()) > 400
    assert all(rule.get("keywords") for rule in rules().values())
    keywords = {keyword.lower() for rule in rules().values() for keyword in rule["keywords"]}
    assert keywords == set(suspects.KEYWORDS)
    assert all(keyword.isascii() for keyword in keywords)


def test_common_keywords_call_for_the_rules_that_we_know() -> None:
    for keyword in suspects.ASSIGNED:
        assert called_by(keyword) == {"generic-api-key", *({"kubernetes-secret-yaml"} if keyword == "secret" else ())}
    for keyword in suspects.ADDRESSES:
        assert called_by(keyword) == {"generic-credential-uri"}
    for keyword in (*suspects.NAMES, *suspects.BEGINNINGS):
        assert called_by(keyword) <= {
            *("atlassian-api-token", "checkout-secret-key", "cursor-api-key", "gocardless-api-token"),
            *("linear-client-secret", "lob-api-key", "mux-access-token-secret.1", "sendgrid-api-token"),
        }


def test_their_rules_ask_for_what_we_ask_for() -> None:
    def regex(name: str) -> str:
        return str(rules()[name]["regex"])

    words = "access|auth|(?-i:[Aa]pi|API)|credential|creds|key|secret|token"
    assert regex("generic-api-key").startswith(rf"(?i)(?:{words}){JOINT}([\w.=-]{{10,150}}|[a-z0-9][a-z0-9+/]{{11,}}=")
    assert 'matchesAny(finding["secret"], [`^[a-zA-Z_.-]+$`])\n||' in rules()["generic-api-key"]["filter"]
    credentials = r"""://(?P<username>[^:/@\s'"\x60]{0,128}):(?P<password>[^/@\s'"\x60]{1,256})@"""
    assert credentials in regex("generic-credential-uri")
    assert regex("checkout-secret-key").startswith(f"(?i)(?:checkout){JOINT}(sk_[a-f0-9]{{8}}-[a-f0-9]{{4}}-")
    assert regex("cursor-api-key").startswith(f"(?i)(?:cursor){JOINT}(key_[0-9a-f]{{64}})")
    assert regex("linear-client-secret").startswith(f"(?i)(?:linear){JOINT}([a-f0-9]{{32}})")
    mux = "mux[_.-]?(?:access[_.-]?)?token[_.-]?(?:secret|private|key)"
    middle = JOINT.replace("""'"]{0,3}(?:=""", """'"]{0,3})(?:=""")
    assert regex("mux-access-token-secret.1").startswith(f"(?i:(?:{mux}){middle}([A-Za-z0-9+/]{{75}})")
    assert "((live|test)_[a-f0-9]{35})" in regex("lob-api-key")
    assert r"(live_(?i)[a-z0-9\-_=]{40})" in regex("gocardless-api-token")
    assert r"(SG\.(?i)[a-z0-9=_\-\.]{66})" in regex("sendgrid-api-token")
    assert r"(ATAT[A-Za-z0-9_\-=]{100,})" in regex("atlassian-api-token")
    assert all(rf"\b{word}:" in regex("kubernetes-secret-yaml") for word in ("kind", "data"))


@cache
def patterns() -> Mapping[str, re.Pattern[str]]:
    """The engine's expressions that Python reads too."""

    def read() -> Iterator[tuple[str, re.Pattern[str]]]:
        for name, rule in rules().items():
            try:
                yield name, re.compile(rule["regex"], re.ASCII)
            except (re.error, FutureWarning):  # warnings are errors here
                continue

    return dict(read())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_whatever_an_expression_of_the_engine_matches_is_seen_if_it_finds_it(data: st.DataObject) -> None:
    assert len(patterns()) > 300
    name = data.draw(st.sampled_from(sorted(patterns())))
    text = data.draw(st.from_regex(patterns()[name])).replace("\0", " ")
    assume(text.isprintable() or "\n" in text)
    raw = text.encode("utf-8", "replace")
    if not is_seen(raw):
        assert not unseen_by_us(raw.decode())


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(
    st.sampled_from([*suspects.ASSIGNED, *suspects.NAMES, *suspects.BEGINNINGS, *suspects.ADDRESSES]),
    st.sampled_from(["=", ": ", ' = "', "':'", "=>", "==", "_", " ", '"', "\n", "@", ":", "kind: secret\n", "data:\n"]),
    st.text("abcXYZ0189+/=_.-", min_size=8, max_size=48),
), max_size=8).map("".join))  # fmt: skip
def test_assignments_of_all_kinds_are_seen_if_something_is_found_in_them(text: str) -> None:
    if not is_seen(text.encode()):
        assert not unseen_by_us(text)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.name))
def test_secrets_are_found_as_if_all_were_seen(shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [shape.planted(random.Random(seed))[1].encode() for seed in range(5)]
    seen = [engine_spans(text, text.lower()) for text in texts]
    monkeypatch.setattr(engine, "_is_known", lambda: False)
    assert [engine_spans(text, text.lower()) for text in texts] == seen


def test_only_the_texts_that_could_hold_something_are_seen() -> None:
    secret = b'token = "' + b"a1B2c3D4e5F6" * 3 + b'"'
    texts = [b"nothing here", secret, b"a key, and no more", b"", b"msg. test_it live_ https://x.org/a", secret]
    scan = SEPARATOR.join(texts)
    assert [scan[start:end] for start, end in suspects.suspects(scan, scan.lower())] == [secret, secret]
    assert list(suspects.suspects(b"", b"".lower())) == []


@pytest.mark.parametrize("letter", ["\u212a", "\u0130", "\u017f"])
def test_letters_that_the_engine_takes_for_ours_hide_nothing(letter: str) -> None:
    scan = SEPARATOR.join([b"plain", letter.encode(), b"plain too"])
    assert [scan[start:end] for start, end in suspects.suspects(scan, scan.lower())] == [letter.encode()]


def test_under_rules_that_we_do_not_know_the_engine_sees_all(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def scan_string(text: str) -> list[object]:
        given.append(text)
        return []

    monkeypatch.setattr(engine, "_scanner", lambda: scan_string)
    engine_spans(b"plain", b"plain".lower())
    assert given == []
    monkeypatch.setenv("BETTERLEAKS_CONFIG", "other.toml")
    engine_spans(b"plain", b"plain".lower())
    assert given == ["plain"]
    monkeypatch.delenv("BETTERLEAKS_CONFIG")
    monkeypatch.setattr(betterleaks, "__version__", "2.0.1")
    engine_spans(b"plain too", b"plain too".lower())
    assert given == ["plain", "plain too"]
