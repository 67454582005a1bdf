"""Pi's sessions: `sessions/--<folder>--/<time>_<id>.jsonl`, versions 1 (a list) to 3 (a tree)
(transcript-formats.md 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skillopt_harvesters.model import Batch, Cursor, Source, Trouble
from skillopt_harvesters.pi_session import AGENT, PiTurns, State, Tree, session_of
from skillopt_harvesters.pi_tree import read_tree
from skillopt_harvesters.places import named
from skillopt_harvesters.walk import files_below, head_records

PARSER = 1
ENTRIES = {"message", "model_change", "thinking_level_change", "compaction"}
OPENCLAW = ("openclaw", "clawdbot")
"""Marks of the agent that writes the same format …"""
NAMES = ("id", "cwd", "provider", "modelId", "customType")
"""… and the fields in which they are looked for: never the words of a message."""


class Pi:
    """The `Harvester` of Pi."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$PI_CODING_AGENT_SESSION_DIR` holds the sessions themselves, `$PI_CODING_AGENT_DIR` the agent's folder."""
        if environ.get("PI_CODING_AGENT_SESSION_DIR"):
            return [named(home, environ, "PI_CODING_AGENT_SESSION_DIR", "")]
        return [named(home, environ, "PI_CODING_AGENT_DIR", ".pi/agent") / "sessions"]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        return files_below(AGENT, root, trouble, (".jsonl",))

    def recognises(self, path: Path, head: bytes) -> bool:
        first = next(head_records(head, 1), None)
        return first is not None and is_head(first) and not looks_openclaw(path, head)

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        native = session_of(source.path)

        def make(state: State, tree: Tree | None, before: frozenset[bytes]) -> PiTurns:
            return PiTurns(source, state, native, tree, before)

        return read_tree(source, cursor, make, AGENT, PARSER)


def is_head(record: Mapping[str, Any]) -> bool:
    """The first line of a session."""
    return record.get("type") == "session" and "cwd" in record and "timestamp" in record and "payload" not in record


def looks_openclaw(path: Path, head: bytes) -> bool:
    """Whether a session of this format is one of OpenClaw's: its entries' names say so, or it lies in its folders."""
    for record in head_records(head):
        named = (record.get(name) for name in NAMES)
        if any(isinstance(value, str) and mark in value.lower() for value in named for mark in OPENCLAW):
            return True
    return path.parent.name == "sessions" and path.parent.parent.parent.name == "agents"
