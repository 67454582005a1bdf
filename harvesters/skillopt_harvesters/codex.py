"""Codex's rollouts: `sessions/YYYY/MM/DD/rollout-*.jsonl` and `archived_sessions/`, plain or compressed
(transcript-formats.md 2)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import msgspec
import zstandard

from skillopt_harvesters.bytestream import open_regular
from skillopt_harvesters.claude_code import is_uuid
from skillopt_harvesters.codex_session import CodexFold
from skillopt_harvesters.codex_shapes import Record
from skillopt_harvesters.codex_turns import State
from skillopt_harvesters.fold import batches, follow
from skillopt_harvesters.jsonl import REFUSED, RecordReader
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble
from skillopt_harvesters.turns import Conversation, new_facts
from skillopt_harvesters.walk import HEAD_BYTES, files_below, head_records, spelled
from skillopt_harvesters.zstd_frames import MAGIC, is_whole

PARSER = 2
AGENT = "codex"
WRAPPED = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
BARE = {"message", "function_call", "function_call_output"}

_reader = RecordReader(Record)
_state = msgspec.msgpack.Decoder(State)


class Codex:
    """The `Harvester` of Codex."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        base = Path(environ["CODEX_HOME"]) if environ.get("CODEX_HOME") else home / ".codex"
        return [base / "sessions", base / "archived_sessions"]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """Of a rollout that lies both plain and compressed the plain one counts."""
        found = list(files_below(AGENT, root, trouble, (".jsonl", ".jsonl.zst")))
        plain = {source.path for source in found}
        for source in found:
            if not (source.path.endswith(".zst") and source.path.removesuffix(".zst") in plain):
                yield source

    def recognises(self, path: Path, head: bytes) -> bool:
        if head.startswith(MAGIC):
            head = first_bytes(head)
        for record in head_records(head):
            if isinstance(record.get("payload"), dict):
                if record.get("type") in WRAPPED:
                    return True
            else:
                return is_head(record) or is_bare(record)
        return False

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        stem = spelled(Path(source.path).name.removesuffix(".zst").removesuffix(".jsonl"))
        named = stem[-36:] if is_uuid(stem[-36:]) else stem

        def begin(state: bytes) -> CodexFold:
            return CodexFold(source, restored(state), named)

        if source.path.endswith(".zst"):
            return compressed(source, begin(b""))
        return follow(source, cursor, _reader, begin, PARSER)


def is_head(record: Mapping[str, Any]) -> bool:
    """The first line of the oldest format."""
    return "id" in record and "timestamp" in record and "instructions" in record and "type" not in record


def is_bare(record: Mapping[str, Any]) -> bool:
    """An item of the oldest format, if the head of its file is missing."""
    if record.get("record_type") == "state":
        return True
    kind = record.get("type")
    return kind in BARE and ("call_id" in record or ("role" in record and isinstance(record.get("content"), list)))


def restored(state: bytes) -> State:
    if state:
        try:
            return _state.decode(state)
        except REFUSED:
            pass
    return State(talk=Conversation(facts=new_facts(AGENT)))


def first_bytes(head: bytes) -> bytes:
    """What the beginning of a compressed file unpacks to."""
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(head)[:HEAD_BYTES]
    except zstandard.ZstdError:
        return b""


class Unpacked:
    """The unpacked content of a compressed file, as a stream."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        self.trouble = ""

    def read(self, size: int) -> bytes:
        try:
            content = self._stream.read(size)
            if not content and not is_whole(self._file):
                self.trouble = "compressed content is cut off"
        except (zstandard.ZstdError, OSError) as problem:
            self.trouble = f"compressed content is damaged: {problem}"
            return b""
        return content


def compressed(source: Source, fold: CodexFold) -> Iterator[Batch]:
    """Batches of a compressed rollout, which never grows: Codex unpacks it before it appends. Always read whole."""
    fd, _ = open_regular(source.path)
    with os.fdopen(fd, "rb") as file:
        yield from batches(Unpacked(file), 0, _reader, fold, PARSER, lambda offset: "")
