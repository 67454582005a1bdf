"""Gemini CLI's conversations: `tmp/<project>/chats/session-*.json`, from 0.40 `.jsonl`, and the sub-agents' files
below `chats/<session>/` (transcript-formats.md 5). A log changes its past, so it is read whole when it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skillopt_harvesters.gemini_log import told
from skillopt_harvesters.gemini_session import AGENT, GeminiTurns, loose_id
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble
from skillopt_harvesters.places import folder
from skillopt_harvesters.simple_turns import whole_batch
from skillopt_harvesters.walk import files_below, head_records
from skillopt_harvesters.whole import content_of, unchanged

PARSER = 1
KINDS = (b'"gemini"', b'"model"')
BOM = b"\xef\xbb\xbf"


class Gemini:
    """The `Harvester` of Gemini CLI."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """`$GEMINI_CLI_HOME` stands for the home; in its sandbox on a Mac the agent writes below `.cache`."""
        base = folder(home, environ["GEMINI_CLI_HOME"]) if environ.get("GEMINI_CLI_HOME") else home
        return [base / ".gemini/tmp", base / ".cache/.gemini/tmp"]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """Of a conversation that lies both as a document and as a log, the log counts."""
        found = [source for source in files_below(AGENT, root, trouble, (".json", ".jsonl")) if is_chat(root, source)]
        logs = {source.path.removesuffix("l") for source in found if source.path.endswith(".jsonl")}
        yield from (source for source in found if source.path not in logs)

    def recognises(self, path: Path, head: bytes) -> bool:
        first = next(head_records(head, 1), None)
        if first is not None and "projectHash" in first and "sessionId" in first:
            return True
        text = head.removeprefix(BOM).lstrip()
        if not text.startswith(b"{"):
            return False
        if b'"projectHash"' in text and b'"sessionId"' in text and b'"messages"' in text:
            return True
        if b'"history"' in text and b'"parts"' in text and b'"role"' in text:
            return any(kind in text for kind in KINDS)
        lone = b'"type": "gemini"' in text or b'"type":"gemini"' in text
        return lone and any(name in text for name in (b'"toolCalls"', b'"thoughts"', b'"tokens"'))

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        content = content_of(source)
        if not unchanged(content, cursor, PARSER):
            turns = GeminiTurns(source, loose_id(Path(source.path), content))
            turns.tell(told(content))
            yield whole_batch(turns, content, cursor, PARSER)


def is_chat(root: Path, source: Source) -> bool:
    """`<project>/chats/session-*` is a conversation, `<project>/chats/<session>/*` one of a sub-agent."""
    below = Path(source.path).relative_to(root).parts
    if len(below) == 3:
        return below[1] == "chats" and below[2].startswith("session-")
    return len(below) == 4 and below[1] == "chats"
