"""OpenCode's sessions: the database `opencode.db`, and the tree of JSON files in `storage/` before it
(transcript-formats.md 5)."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillopt_harvesters.bytestream import why
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble
from skillopt_harvesters.opencode_database import PARSER, Sessions
from skillopt_harvesters.opencode_files import find_files, read_files
from skillopt_harvesters.opencode_session import AGENT
from skillopt_harvesters.places import folder, named
from skillopt_harvesters.sqlite_ro import MAGIC, database_source, is_database, schema_text
from skillopt_harvesters.sqlite_sessions import read_sessions
from skillopt_harvesters.walk import head_records

TABLES = (b"session", b"message", b"part")
PROJECT = "project"


class OpenCode:
    """The `Harvester` of OpenCode."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$OPENCODE_DB` names the database itself."""
        data = named(home, environ, "XDG_DATA_HOME", ".local/share") / "opencode"
        moved = environ.get("OPENCODE_DB")
        return [data, folder(home, moved)] if moved and moved != ":memory:" else [data]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """The databases (one for each release channel), then the sessions in files: also where a database holds them
        too, since moving them may have been broken off. They have the same keys."""
        try:
            if not stat.S_ISDIR(root.stat().st_mode):
                yield from database_source(AGENT, root, str(root.parent), trouble)
                return
            databases = sorted(path for path in root.iterdir() if is_name(path.name))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as problem:
            trouble.append(Trouble(str(root), 0, why(problem)))
            return
        for path in databases:
            yield from database_source(AGENT, path, str(root), trouble)
        for storage in (root / "storage", root):
            if (storage / "session").is_dir():
                yield from find_files(storage, str(root), trouble)

    def recognises(self, path: Path, head: bytes) -> bool:
        if head.startswith(MAGIC):
            return holds_tables(schema_text(path, head))
        record = next(head_records(b" ".join(head.split(b"\n")), 1), None)
        if record is None or not isinstance(record.get("time"), dict):
            return False
        return "directory" in record and "projectID" in record and isinstance(record.get("id"), str)

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        if is_database(Path(source.path)):
            return read_sessions(source, cursor, Sessions(), PARSER)
        return read_files(source, cursor)


def is_name(name: str) -> bool:
    """`opencode.db`, `opencode-<channel>.db`."""
    return name.startswith("opencode") and name.endswith(".db")


def holds_tables(schema: bytes) -> bool:
    low = schema.lower().replace(b"`", b"").replace(b'"', b"").replace(b"if not exists ", b"")
    return all(b"create table " + table in low for table in TABLES) and b"project_id" in low
