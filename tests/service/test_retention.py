"""How long agents keep their transcripts is read from their own settings, and never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_harvesters import harvesters
from skillopt_sleep.service.retention import UNSAID, kept


def settings(home: Path, folder: str, text: str) -> None:
    (home / folder).mkdir()
    (home / folder / "settings.json").write_text(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "the agent deletes them after 30 days (its default)"),
        ('{"cleanupPeriodDays": 365}', "the agent deletes them after 365 days"),
        ('{"cleanupPeriodDays": true}', "the agent deletes them after 30 days (its default)"),
        ("[", "the agent deletes them after 30 days (its default)"),
        ("[]", "the agent deletes them after 30 days (its default)"),
    ],
)
def test_claude_code_says_it_in_days(text: str, said: str, tmp_path: Path) -> None:
    settings(tmp_path, ".claude", text)
    assert kept("claude-code", tmp_path, {}) == said
    elsewhere = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert "30 days (its default)" in kept("claude-code", tmp_path, elsewhere)


@pytest.mark.parametrize(
    ("retention", "said"),
    [
        ("{}", UNSAID),
        ('{"enabled": false}', "the agent deletes none (sessionRetention is off)"),
        ('{"enabled": true, "maxAge": "2w"}', "the agent deletes old ones, after 14 days"),
        ('{"enabled": true, "maxAge": "12h"}', "the agent deletes old ones, after 0.5 days"),
        ('{"enabled": true, "maxCount": 50}', "the agent deletes old ones"),
        ('{"enabled": true, "maxAge": "soon"}', "the agent deletes old ones"),
        ("[]", UNSAID),
    ],
)
def test_gemini_says_it_as_an_age(retention: str, said: str, tmp_path: Path) -> None:
    settings(tmp_path, ".gemini", f'{{"general": {{"sessionRetention": {retention}}}}}')
    assert kept("gemini", tmp_path, {}) == said
    assert kept("gemini", tmp_path / "elsewhere", {"GEMINI_CLI_HOME": str(tmp_path)}) == said
    assert kept("gemini", tmp_path / "elsewhere", {}) == UNSAID


def test_of_the_others_it_is_not_known(tmp_path: Path) -> None:
    known = {harvester.agent for harvester in harvesters() if kept(harvester.agent, tmp_path, {})}
    assert known == {"claude-code", "gemini", "openclaw"}
