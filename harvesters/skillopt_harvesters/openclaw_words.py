"""What the person said, out of the text of an OpenClaw message: notes on where it came from stand around it, and
much of what comes as a person's message is the program's own."""

from __future__ import annotations

import re
from typing import NamedTuple

NOTE = re.compile(r"\A[^\n]{0,120}\(untrusted[^\n)]*\):\s*```json\s.*?(?:```|\Z)\s*", re.DOTALL)
SYSTEM_LINE = re.compile(r"\A(?:System(?: \([^\n)]*\))?: [^\n]*(?:\n|\Z))+\s*")
STAMP = re.compile(r"\A\[(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d[^\]\n]*\]\s*")
CHANNEL = re.compile(
    r"\A\[(?:Telegram|WhatsApp|Discord|Slack|Signal|iMessage|WebChat|Matrix|Teams|Google Chat)\b[^\]\n]*\]\s*"
)
MESSAGE_ID = re.compile(r"\s*\[message_id: [^\]\n]*\]\s*\Z")
MEDIA = re.compile(r"^\[media attached:[^\n]*\]\s*", re.MULTILINE)

HEARTBEAT = ("read heartbeat.md", "heartbeat_ok")
NEW_SESSION = ("a new session was started via /new", "via /new or /reset")
FLUSH = "pre-compaction memory flush"
SYSTEM_MESSAGE = ("[system message]", "an async command you ran earlier has completed")
CRON = "[cron"
SUBAGENT = ("[subagent context]", "[subagent task]")


class Said(NamedTuple):
    """The person's words, or why there are none. `machine`: the session was begun by a timer or another session."""

    words: str = ""
    why: str = ""
    machine: str = ""


def said(text: str) -> Said:
    """What the person said."""
    words = without_notes(text.strip())
    low = words[:4096].lower()
    if low.startswith(CRON):
        return Said(why="timer", machine="timer")
    if low.startswith(SUBAGENT):
        return Said(why="sub-agent's task", machine="sub-agent")
    if any(mark in low for mark in HEARTBEAT):
        return Said(why="heartbeat")
    if any(mark in low for mark in NEW_SESSION) or low.startswith(FLUSH) or low.startswith(SYSTEM_MESSAGE):
        return Said(why="housekeeping")
    if not words:
        return Said(why="no words")
    return Said(words)


def without_notes(text: str) -> str:
    """The text without the notes in front of and behind it."""
    while True:
        shorter = text
        for pattern in (NOTE, SYSTEM_LINE, STAMP, CHANNEL):
            shorter = pattern.sub("", shorter, count=1)
        if shorter == text:
            break
        text = shorter
    return MEDIA.sub("", MESSAGE_ID.sub("", text)).strip()
