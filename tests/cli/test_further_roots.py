"""Transcripts that lie somewhere else than where the agent keeps them (`harvest.roots`)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Command


@pytest.fixture
def moved(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All of Claude Code's transcripts put into a folder of a backup, named in sleep.toml."""
    home = Path(os.environ["HOME"])
    shutil.move(home / ".claude" / "projects", home / "backup" / "claude")
    written = surroundings / "sleep.toml"
    written.write_text('[harvest.roots]\nclaude-code = ["~/backup/claude"]\n', encoding="utf-8")
    monkeypatch.setenv("SKILLOPT_CONFIG", str(written))
    return home / "backup" / "claude"


def test_they_are_harvested_and_told_by_doctor(moved: Path, command: Command) -> None:
    sessions = command("harvest", "--agent", "claude-code", "--json")
    assert sessions.document["sessions"]["new"] > 10
    found = next(line for line in command("doctor", "--json").lines if line["check"] == "agent claude-code")
    assert str(moved) in found["finding"]


def test_nothing_is_said_to_have_no_effect(moved: Path, command: Command) -> None:
    assert "no effect" not in command("harvest", "--json").err
