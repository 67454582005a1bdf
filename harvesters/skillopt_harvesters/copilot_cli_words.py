"""What Copilot CLI's own words say: how a call ended, which skills were offered (transcript-formats.md 3.2, 3.3)."""

from __future__ import annotations

import re

import msgspec

from skillopt_harvesters import copilot_cli_shapes as shapes
from skillopt_harvesters.glance import Glance, glance
from skillopt_harvesters.model import Outcome

LOOK = 96
"""Bytes at the end of an output in which the exit code stands."""
OFFER = re.compile(r"<skill>\s*<name>([^<>\s]+)</name>")


def outcome_of(failure: str | shapes.Failure | None) -> Outcome:
    """A failed tool: by itself, unless its error code says that it was not allowed to run."""
    code = failure.code if isinstance(failure, shapes.Failure) and failure.code else ""
    if code in ("rejected", "denied") or "rejected" in code:
        return Outcome.REFUSED
    if "permission" in code or "denied" in code or "policy" in code:
        return Outcome.DENIED
    return Outcome.INTERRUPTED if code in ("aborted", "cancelled", "interrupted") else Outcome.ERROR


def glance_at(raw: msgspec.Raw) -> Glance | None:
    """What is kept of an output that stands raw in its record; None where its last line may tell of a failure."""
    written = memoryview(raw)
    last = bytes(written[-LOOK:])
    if b" exit code " in last and b" exit code 0>" not in last:
        return None
    return glance(raw) if len(written) > 2 * LOOK else None


def without_exit_code(text: str) -> tuple[str, int | None]:
    """A shell's output without the line in which the program appends the exit code, and that code."""
    at = text.rfind("\n<") if not text.startswith("<") else 0
    last = text[at:].strip() if at >= 0 else ""
    _, found, code = last.partition("exit code ")
    if found and last.startswith("<") and last.endswith(">") and code[:-1].lstrip("-").isdigit():
        return text[:at], int(code[:-1])
    return text, None


def offered_skills(text: str) -> list[str]:
    """The names of the skills that a system message lists for the model (seen in 1.0.102)."""
    _, found, listed = text.partition("<available_skills>")
    return OFFER.findall(listed.partition("</available_skills>")[0]) if found else []
