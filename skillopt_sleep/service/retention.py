"""How long an agent keeps its own transcripts, as far as its documentation and its settings say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

DEFAULT_DAYS: Final = 30
"""Claude Code deletes transcripts after this many days where its settings say nothing (its documentation)."""
_AGE: Final = re.compile(r"(\d{1,6}) ?([hdwm])", re.IGNORECASE)
_DAYS: Final = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}
UNSAID: Final = "its newer versions delete them after 30 days where nothing else is set"


def kept(agent: str, user_home: Path, environ: Mapping[str, str]) -> str:
    """In words; "" where it is not known."""
    if agent == "claude-code":
        days = cleanup_days(user_home, environ)
        return f"the agent deletes them after {days} days" + (" (its default)" if days == DEFAULT_DAYS else "")
    if agent == "gemini":
        return _gemini(user_home, environ)
    if agent == "openclaw":  # session.maintenance.pruneAfter; its settings are JSON with comments and are not read
        return UNSAID
    return ""


def cleanup_days(user_home: Path, environ: Mapping[str, str]) -> int:
    """`cleanupPeriodDays` of Claude Code's own settings, its default where they do not say."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or user_home / ".claude")
    days = _settings(folder / "settings.json").get("cleanupPeriodDays")
    return days if isinstance(days, int) and not isinstance(days, bool) else DEFAULT_DAYS


def _gemini(user_home: Path, environ: Mapping[str, str]) -> str:
    """`general.sessionRetention` of its settings; its default was off, and became 30 days."""
    folder = Path(environ.get("GEMINI_CLI_HOME") or user_home)
    general = _settings(folder / ".gemini" / "settings.json").get("general")
    said = general.get("sessionRetention") if isinstance(general, dict) else None
    if not isinstance(said, dict) or "enabled" not in said:
        return UNSAID
    if said["enabled"] is not True:
        return "the agent deletes none (sessionRetention is off)"
    days = _in_days(said.get("maxAge"))
    return "the agent deletes old ones" + ("" if days is None else f", after {days:g} days")


def _in_days(age: object) -> float | None:
    found = _AGE.fullmatch(age) if isinstance(age, str) else None
    return int(found[1]) * _DAYS[found[2].lower()] if found else None


def _settings(path: Path) -> dict[str, Any]:
    """A settings file; nothing where it is not there or no JSON."""
    try:
        said = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
