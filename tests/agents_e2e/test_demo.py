"""The night with the real Claude Code on the shipped sample, as the README shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.agents_e2e import demo

pytestmark = [pytest.mark.agents, pytest.mark.slow, pytest.mark.sandbox]

VARIES = re.compile(r"[\d,]+(?= of 2,000,000 tokens)|p-[0-9a-f]{10}")
"""What is another one on each run: tokens, of which each answer has others, and ids that hold the project's path."""


def shown(checkout: Path) -> list[str]:
    """The lines of that night in the README, but for those that stand for what was left out."""
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```\n\$ \./dev demo --native\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    return [line for line in block[1].splitlines() if line.strip() not in {"", "…"}]


def plain(text: str) -> str:
    return " ".join(VARIES.sub("*", text).split())


def test_the_readme_shows_a_night_with_claude_code_as_it_is(
    agents_under_test: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/tmp")  # short, as where the command works
    ran = demo.thrown_away(agents_under_test)
    assert ran.code == 0, ran.err
    said = plain(ran.err + ran.out)
    lines = shown(checkout)
    assert len(lines) > 8
    assert [line for line in lines if plain(line) not in said] == [], ran.out[:3000]
