"""Claude Code's transcripts: `projects/<slug>/<session>.jsonl` and the sub-agents' files below
(transcript-formats.md 1).

The slug is a lossy name of a folder and is never decoded; the project comes from the records' own `cwd`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from skillopt_harvesters.claude_records import State
from skillopt_harvesters.claude_session import ClaudeFold
from skillopt_harvesters.claude_shapes import Record
from skillopt_harvesters.fold import follow
from skillopt_harvesters.jsonl import REFUSED, RecordReader
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble
from skillopt_harvesters.turns import Conversation, new_facts
from skillopt_harvesters.walk import files_below, head_records, spelled

PARSER = 2
AGENT = "claude-code"
MARKS = {
    "summary": "leafUuid",
    "queue-operation": "operation",
    "attachment": "attachment",
    "progress": "data",
    "file-history-snapshot": "snapshot",
    "system": "subtype",
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "last-prompt": "lastPrompt",
    "mode": "mode",
    "permission-mode": "permissionMode",
}
"""What a record of each kind holds and no other agent's does, beside its session's id."""
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
NO_SESSIONS = (f"{os.sep}journal.jsonl", f"{os.sep}history.jsonl")

_reader = RecordReader(Record)
_state = msgspec.msgpack.Decoder(State)


class ClaudeCode:
    """The `Harvester` of Claude Code."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$CLAUDE_CONFIG_DIR` moves the whole tree; some installations keep it under `.config`."""
        moved = environ.get("CLAUDE_CONFIG_DIR")
        if moved:
            return [Path(moved) / "projects"]
        desktop = home / "Library/Application Support/Claude/local-agent-mode-sessions"
        return [home / ".claude/projects", home / ".config/claude/projects", desktop]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        for source in files_below(AGENT, root, trouble, (".jsonl",)):
            if not source.path.endswith(NO_SESSIONS):
                yield source

    def recognises(self, path: Path, head: bytes) -> bool:
        """By the first record of a kind of its own, unless one before it is another tool's."""
        for record in head_records(head):
            if is_foreign(record):
                return False
            if is_own(record):
                return True
        return False

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        stem = spelled(os.path.basename(source.path).removesuffix(".jsonl"))  # noqa: PTH119  # for each file
        subagent = stem.startswith("agent-") or "/subagents/" in source.path.replace("\\", "/")

        def begin(state: bytes) -> ClaudeFold:
            return ClaudeFold(source, restored(state), own_id(stem, subagent), subagent)

        return follow(source, cursor, _reader, begin, PARSER)


def is_foreign(record: Mapping[str, Any]) -> bool:
    """Whether a record is of a tool that writes alike: Qwen Code keeps `message.parts`, exporters name the agent."""
    agent = record.get("agentSlug") or record.get("agent") or "claude"
    message = record.get("message")
    parts = isinstance(message, dict) and "parts" in message
    return parts or not str(agent).startswith("claude") or "systemPayload" in record or "payload" in record


def is_own(record: Mapping[str, Any]) -> bool:
    """Whether a record is of a kind that Claude Code writes into its transcripts."""
    kind, message = record.get("type"), record.get("message")
    if kind in ("user", "assistant", None):
        if not isinstance(message, dict) or not ("content" in message or "usage" in message):
            return False
        marks = ("uuid", "timestamp", "sessionId") if kind else ("sessionId",)
        return any(mark in record for mark in marks) and ("session_id" not in record or "sessionId" in record)
    return (
        kind in MARKS
        and MARKS[kind] in record
        and (kind == "summary" or "uuid" in record or ("sessionId" in record and kind != "system"))
    )


def restored(state: bytes) -> State:
    """The state of an earlier reading, or a new one."""
    if state:
        try:
            return _state.decode(state)
        except REFUSED:
            pass
    return State(talk=Conversation(facts=new_facts(AGENT)))


def own_id(stem: str, subagent: bool) -> str:
    """The session's id as the file's name says it: all of it, or a uuid at its end (copies are named like that)."""
    if subagent:
        return stem
    tail = stem[-36:]
    return tail if is_uuid(tail) else stem


def is_uuid(text: str) -> bool:
    return UUID.fullmatch(text) is not None
