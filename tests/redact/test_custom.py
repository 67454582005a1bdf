"""The user's own patterns: they redact, and what could run for ever is refused before it runs."""

from __future__ import annotations

import re

import pytest

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.redact import Redactor


@pytest.mark.parametrize(
    ("pattern", "text", "clean"),
    [
        (r"ACME-[0-9]{6}", "see ACME-123456.", "see [redacted:custom]."),
        (r"(?i)project falcon", "Project Falcon, PROJECT FALCON", "[redacted:custom], [redacted:custom]"),
        (r"Großkunde \w{2,20}", "für Großkunde Müller 日本", "für [redacted:custom] 日本"),
        (r"\bCUST(?:OMER)?-\d{4,8}\b", "CUSTOMER-12345 and CUST-1234", "[redacted:custom] and [redacted:custom]"),
        (r"build-[a-z]+", "build-falcon!", "[redacted:custom]!"),
        (r"(?:north|south)-host-[0-9]++", "north-host-12", "[redacted:custom]"),
        (r"host(?=\.internal)", "host.internal host.example", "[redacted:custom].internal host.example"),
        (re.escape("a+b (secret)"), "is a+b (secret) here", "is [redacted:custom] here"),
    ],
)
def test_a_pattern_redacts(pattern: str, text: str, clean: str) -> None:
    redactor = Redactor((pattern,))
    assert redactor.redact(text) == clean
    assert redactor.redact(clean) == clean
    assert Redactor().redact(text) == text


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"(abc+)+$", "without an upper bound"),
        (r"(?:a|aa)+bcd", "without an upper bound"),
        (r"a*b", "fewer than 3"),
        (r"\d+\.\d+\.\d+", "without an upper bound"),
        (r"[a-z]+secret", "without an upper bound"),
        (r"[a-z]++secret", "without an upper bound"),
        (r"key.*?end", "without an upper bound"),
        (r"(?:[a-z]{1,20}){1,20}xyz", "too long"),
        (r"(?:(?:a|b|ab){1,30}){3}", "too long"),
        (r"[a-z]{1,90}[a-z0-9]{1,90}[a-z_]{1,90}!", "too long"),
        (r"x{3,5000}", "more than 1024"),
        (r"(abc)\1", "back references"),
        (r"ab", "fewer than 3"),
        (r"", "fewer than 3"),
        (r"(unclosed", "not a regular expression"),
        (r"[z-a]bc", "not a regular expression"),
    ],
)
def test_a_pattern_that_cannot_be_trusted_is_refused_with_a_remedy(pattern: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Redactor(("fine-[0-9]{3}", pattern))
    assert said in str(refused.value)
    assert repr(pattern[:80]) in refused.value.where
    assert refused.value.remedy
    assert refused.value.exit_code == 2
