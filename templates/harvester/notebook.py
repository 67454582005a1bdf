"""A harvester: sessions of an agent that keeps `~/.notebook/sessions/NAME.jsonl`, one message a line.

{"id": "m1", "at": 1790000000000, "from": "person", "text": "Fix the build"}
{"id": "m2", "at": 1790000001000, "from": "agent", "text": "Done."}
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skillopt_harvesters import Author, Batch, Cursor, Event, Kind, SessionFacts, Source, Trouble, Unreadable

AGENT = "notebook"
PARSER = 1
"""Raise it when the same bytes give other events: then a file is read anew."""
KINDS = {"person": (Kind.PROMPT, Author.PERSON), "agent": (Kind.ANSWER, Author.AGENT)}


class Notebook:
    """Read-only: nothing under the agent's folders is ever written, locked or created."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """Where this agent keeps its transcripts, existing or not. Only what is given may be asked."""
        return [Path(environ.get("NOTEBOOK_HOME") or home / ".notebook") / "sessions"]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """Sources below a root, by name alone; what cannot be walked is said."""
        try:
            entries = sorted(os.scandir(root), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        except OSError as problem:
            trouble.append(Trouble(str(root), 0, (problem.strerror or str(problem)).lower()))
            return
        for entry in entries:
            if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                yield Source(
                    agent=AGENT,
                    path=entry.path,
                    root=str(root),
                    size=found.st_size,
                    mtime_ns=found.st_mtime_ns,
                    device=found.st_dev,
                    inode=found.st_ino,
                )

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a loose file is of this format, by its first bytes."""
        record = _record(head.split(b"\n", 1)[0])
        return record is not None and record.get("from") in KINDS and {"id", "at", "text"} <= set(record)

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        """What came since the cursor, whole lines only: the last line may still be written to."""
        try:
            content = Path(source.path).read_bytes()
        except OSError as problem:
            raise Unreadable(source.path, (problem.strerror or str(problem)).lower()) from problem
        start = cursor.offset if cursor and _goes_on(content, cursor) else 0
        end = content.rfind(b"\n") + 1
        if end <= start:
            return
        cursor = Cursor(parser=PARSER, offset=end, before=_digest(content[:end]))
        session = SessionFacts(agent=AGENT, native_id=Path(source.path).stem)
        batch = Batch(session=session, events=[], usage=[], cursor=cursor)
        at = 0
        for line in content[:end].splitlines(keepends=True):
            _take(line, at, batch, new=at >= start)
            at += len(line)
        yield batch


def _take(line: bytes, offset: int, batch: Batch, *, new: bool) -> None:
    """One line into the batch: facts from all lines, events from new ones. What is not understood is counted."""
    record = _record(line)
    kind = KINDS.get(str(record.get("from"))) if record else None
    if record is None or kind is None or not isinstance(record.get("text"), str):
        batch.unknown += new
        return
    at = record["at"] if isinstance(record.get("at"), int) else None
    batch.session.started_ms = batch.session.started_ms or at
    batch.session.ended_ms = at or batch.session.ended_ms
    if new:
        batch.understood += 1
        batch.events.append(
            Event(
                key=f"{batch.session.native_id}:{record.get('id')}",
                kind=kind[0],
                author=kind[1],
                offset=offset,
                length=len(line),
                at_ms=at,
                text=record["text"],
            )
        )


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _goes_on(content: bytes, cursor: Cursor) -> bool:
    """Whether the file still begins as it did: a replaced file is read anew."""
    return cursor.parser == PARSER and cursor.before == _digest(content[: cursor.offset])


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
