"""What the person typed, out of the text that Cursor sends: tagged blocks of context stand around it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
TAGS = (
    *("timestamp", "system_reminder", "system_notification", "task_notification", "attached_files", "user_info"),
    *("manually_attached_skills", "agent_skills", "available_skills", "rules", "image_files", "mcp_meta_tools"),
    *("dynamic_tools", "open_and_recently_viewed_files", "project_layout", "git_status", "additional_data"),
    *("external_links", "cursor_rules_context", "always_applied_workspace_rules", "agent_transcripts"),
    "uploaded_files",
)
CONTEXT = re.compile(rf"<({'|'.join(TAGS)})\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL)
TIME = re.compile(
    r"<timestamp>\s*(?:\w+,\s*)?(\w{3})\w*\.?\s+(\d{1,2}),\s*(\d{4}),\s*(\d{1,2}):(\d\d)\s*([AP]M)\s*"
    r"\(UTC(?:([+-])(\d{1,2})(?::?(\d\d))?)?\)\s*</timestamp>"
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
REDACTED = "[REDACTED]"
"""Stands where Cursor keeps back what the model thought."""


def typed(text: str) -> str:
    """The person's words; "" where the text is context alone."""
    found = [words.strip() for words in QUERY.findall(text)]
    if found:
        return "\n".join(filter(None, found))
    return CONTEXT.sub("", text).strip()


def said_at(text: str) -> int | None:
    """The time that stands in the text, UTC milliseconds to the minute. One without its zone is none."""
    found = TIME.search(text)
    if found is None or found[1] not in MONTHS:
        return None
    hour = int(found[4]) % 12 + (12 if found[6] == "PM" else 0)
    try:
        moment = datetime(int(found[3]), MONTHS.index(found[1]) + 1, int(found[2]), hour, int(found[5]), tzinfo=UTC)
        ahead = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
        return int((moment - ahead if found[7] != "-" else moment + ahead).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def spoken(text: str) -> str:
    """The agent's words, without what was kept back."""
    return text.replace(REDACTED, "").strip()
