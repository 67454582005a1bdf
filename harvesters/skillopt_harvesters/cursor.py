"""Cursor's sessions: `projects/<slug>/agent-transcripts/<id>/<id>.jsonl` (`.txt` in older builds, sub-agents below
`subagents/`), and the editor's database (transcript-formats.md 5).

The slug is a lossy name of a folder and is never decoded. What stands in `chats/*/*/store.db` alone is not read: its
messages are of no described form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from skillopt_harvesters.cursor_desktop import TABLE, read_desktop
from skillopt_harvesters.cursor_session import AGENT, CursorTurns, Record, State, new_state
from skillopt_harvesters.cursor_text import looks_text, read_text
from skillopt_harvesters.fold import follow
from skillopt_harvesters.jsonl import REFUSED, RecordReader
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble
from skillopt_harvesters.places import named
from skillopt_harvesters.sqlite_ro import MAGIC, database_source, is_database, schema_text
from skillopt_harvesters.walk import files_below, head_records, spelled

PARSER = 1
PROJECTS = "projects"
TRANSCRIPTS = "agent-transcripts"
SUBAGENTS = "subagents"
DATABASE = "state.vscdb"
ROLES = {"user", "assistant"}
FOREIGN = {"uuid", "sessionId", "session_id", "timestamp", "type", "id", "parentId", "agent", "agentSlug"}
"""What records of other agents hold that write alike."""

_reader = RecordReader(Record)
_state = msgspec.msgpack.Decoder(State)


class CursorAgent:
    """The `Harvester` of Cursor."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        config = named(home, environ, "XDG_CONFIG_HOME", ".config")
        users = [config / "Cursor/User", home / "Library/Application Support/Cursor/User"]
        if environ.get("APPDATA"):
            users.append(named(home, environ, "APPDATA", "") / "Cursor/User")
        return [home / ".cursor" / PROJECTS, *(user / "globalStorage" for user in users)]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """Of a session that lies both as lines and as text, the lines count."""
        if root.name != PROJECTS:
            yield from database_source(AGENT, root / DATABASE, str(root), trouble)
            return
        found = [
            source
            for source in files_below(AGENT, root, trouble, (".jsonl", ".txt"))
            if TRANSCRIPTS in Path(source.path).relative_to(root).parts
        ]
        lines = {source.path.removesuffix(".jsonl") for source in found if source.path.endswith(".jsonl")}
        yield from (source for source in found if source.path.removesuffix(".txt") not in lines)

    def recognises(self, path: Path, head: bytes) -> bool:
        if head.startswith(MAGIC):
            return TABLE.encode() in schema_text(path, head)
        if looks_text(head):
            return True
        first = next(head_records(head, 1), None)
        return first is not None and is_own(first)

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        path = Path(source.path)
        if is_database(path):
            return read_desktop(source, cursor)
        slug, parent = slug_of(path), parent_of(path)
        if path.suffix == ".txt":
            return read_text(source, cursor, slug, parent)

        def begin(state: bytes) -> CursorTurns:
            return CursorTurns(source, restored(state), spelled(path.stem), slug, parent)

        return follow(source, cursor, _reader, begin, PARSER)


def is_own(record: Mapping[str, Any]) -> bool:
    """A message of a role, or the end of a turn, with nothing of what other agents write beside it."""
    if record.get("type") == "turn_ended":
        return "status" in record
    message = record.get("message")
    if record.get("role") not in ROLES or not isinstance(message, dict):
        return False
    return "content" in message and "role" not in message and not FOREIGN & record.keys()


def slug_of(path: Path) -> str:
    """The name of the project's folder among Cursor's, "" for a file that lies elsewhere."""
    for parent in path.parents:
        if parent.name == TRANSCRIPTS:
            return parent.parent.name
    return ""


def parent_of(path: Path) -> str:
    """The session whose sub-agent this transcript is of, "" for one of the person's own."""
    return spelled(path.parent.parent.name) if path.parent.name == SUBAGENTS else ""


def restored(state: bytes) -> State:
    if state:
        try:
            return _state.decode(state)
        except REFUSED:
            pass
    return new_state()
