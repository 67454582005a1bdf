"""What a proposal changes, line by line."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from skillopt_sleep.domain.proposals import Proposal


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff without its sign: added, removed, context, or the heading of a hunk."""

    kind: Literal["+", "-", " ", "@"]
    text: str


def diff_lines(before: str, after: str, context: int = 3) -> tuple[DiffLine, ...]:
    """The changed lines with `context` lines around them; empty where nothing changed."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=context, lineterm="")
    return tuple(_line(line) for line in list(lines)[2:])


def unified(proposal: Proposal, after: str | None = None) -> str:
    """The proposal as a unified diff of its document, against what is live; `after` for some of its edits alone."""
    name = "SKILL.md" if proposal.document.kind != "memory" else f"block {proposal.document.name}"
    new = proposal.candidate if after is None else after
    lines = difflib.unified_diff(
        proposal.base.splitlines(), new.splitlines(), f"live/{name}", f"proposed/{name}", lineterm=""
    )
    return "\n".join(lines)


def _line(line: str) -> DiffLine:
    if line.startswith("@@"):
        return DiffLine("@", line)
    kind: Literal["+", "-", " "] = "+" if line[0] == "+" else "-" if line[0] == "-" else " "
    return DiffLine(kind, line[1:])
