"""The page of checks says what the kinds say."""

from __future__ import annotations

from skillopt_sleep.checks.reference import page


def test_the_page_is_what_the_kinds_say(checkout):
    said = (checkout / "docs" / "checks.md").read_text(encoding="utf-8")
    assert said == page(), "run `python -m skillopt_sleep.checks.reference docs/checks.md`"
