"""The page of commands says what the commands say."""

from __future__ import annotations

from pathlib import Path

from skillopt_sleep.cli import overview
from skillopt_sleep.cli.reference import COMMANDS, page

PAGE = Path(__file__).parent.parent.parent / "docs/commands.md"


def test_the_page_is_what_help_prints() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m skillopt_sleep.cli.reference docs/commands.md`"


def test_no_command_is_missing_on_it() -> None:
    assert set(overview.COMMANDS) == {name.split()[0] for name in COMMANDS if name}
