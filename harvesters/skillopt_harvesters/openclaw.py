"""OpenClaw's sessions: `agents/<agent>/sessions/<id>.jsonl`, written as Pi writes its own, and what stays of those that
were deleted or reset: `<id>.jsonl.deleted.<time>`, `.reset.<time>`, `.full.bak` (transcript-formats.md 5).

A file that was renamed, or kept as a copy, gives the same keys as before: what it holds counts once.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillopt_harvesters.model import Batch, Cursor, Origin, Source, Trouble
from skillopt_harvesters.openclaw_words import said
from skillopt_harvesters.pi import is_head, looks_openclaw
from skillopt_harvesters.pi_session import PiTurns, State, Tree
from skillopt_harvesters.pi_tree import read_tree
from skillopt_harvesters.places import folder
from skillopt_harvesters.walk import entries_below, head_records, source_of, spelled

PARSER = 1
AGENT = "openclaw"
SESSIONS = "sessions"
KEPT = (".jsonl.deleted.", ".jsonl.reset.", ".jsonl.full.bak")
TRACE = ".trajectory.jsonl"
"""Ends the name of a trace, which repeats a session."""


class OpenClaw:
    """The `Harvester` of OpenClaw."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$OPENCLAW_STATE_DIR`, else its folder below the home and that under its older name."""
        moved = environ.get("OPENCLAW_STATE_DIR")
        states = [folder(home, moved)] if moved else [home / ".openclaw", home / ".clawdbot"]
        return [state / "agents" for state in states]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        for path, found in entries_below(root, trouble):
            below = Path(path).relative_to(root).parts
            if len(below) != 3 or below[1] != SESSIONS or not is_session(below[2]):
                continue
            if stat.S_ISREG(found.st_mode):
                yield source_of(AGENT, path, str(root), found)
            else:
                trouble.append(Trouble(path, 0, "not a regular file"))

    def recognises(self, path: Path, head: bytes) -> bool:
        first = next(head_records(head, 1), None)
        return first is not None and is_head(first) and looks_openclaw(path, head)

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        native = spelled(Path(source.path).name.partition(".jsonl")[0])

        def make(state: State, tree: Tree | None, before: frozenset[bytes]) -> PiTurns:
            return OpenClawTurns(source, state, native, tree, before)

        return read_tree(source, cursor, make, AGENT, PARSER)


def is_session(name: str) -> bool:
    if name.endswith(".jsonl"):
        return not name.endswith(TRACE)
    return any(mark in name for mark in KEPT)


class OpenClawTurns(PiTurns):
    """One session."""

    def typed(self, text: str) -> tuple[str, str]:
        found = said(text)
        if found.machine and not self.s.starts and self.facts.origin is Origin.INTERACTIVE:
            self.facts.origin = Origin.SUBAGENT if found.machine == "sub-agent" else Origin.HEADLESS
        return found.words, found.why
