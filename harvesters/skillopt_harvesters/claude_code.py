"""Claude Code's transcripts: `projects/<slug>/<session>.jsonl` and the sub-agents' files below
(transcript-formats.md 1).

The slug is a lossy name of a folder and is never decoded; the project comes from the records' own `cwd`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from skillopt_harvesters.claude_session import ClaudeFold, State
from skillopt_harvesters.claude_shapes import Record
from skillopt_harvesters.fold import follow
from skillopt_harvesters.jsonl import REFUSED, RecordReader
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble
from skillopt_harvesters.turns import Conversation, new_facts
from skillopt_harvesters.walk import files_below, head_records

PARSER = 1
AGENT = "claude-code"
TYPES = {
    "user", "assistant", "system", "summary", "progress", "file-history-snapshot", "queue-operation", "attachment",
}  # fmt: skip
NO_SESSIONS = {"journal.jsonl", "history.jsonl"}

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
            if Path(source.path).name not in NO_SESSIONS:
                yield source

    def recognises(self, path: Path, head: bytes) -> bool:
        """Records with a `type` of this program and a `sessionId`, a `uuid` or a `message`."""
        for record in head_records(head):
            kind = record.get("type")
            if isinstance(kind, str) and isinstance(record.get("payload"), dict):
                return False
            if kind in TYPES and ("sessionId" in record or "uuid" in record or "leafUuid" in record):
                return True
            if kind is None and "sessionId" in record and isinstance(record.get("message"), dict):
                return True
        return False

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        name = Path(source.path).name
        stem = name.removesuffix(".jsonl")
        subagent = stem.startswith("agent-") or "/subagents/" in source.path.replace("\\", "/")

        def begin(state: bytes) -> ClaudeFold:
            return ClaudeFold(source, restored(state), own_id(stem, subagent), subagent)

        return follow(source, cursor, _reader, begin, PARSER)


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
    return (
        len(text) == 36
        and all(text[i] == "-" for i in (8, 13, 18, 23))
        and all(c in "0123456789abcdefABCDEF-" for c in text)
    )
