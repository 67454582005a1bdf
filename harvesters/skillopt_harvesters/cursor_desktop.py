"""Cursor's editor: `User/globalStorage/state.vscdb`, table `cursorDiskKV`, whose keys are `composerData:<session>` and
`bubbleId:<session>:<message>`. Only descriptions of it are at hand.

A session whose transcript lies among Cursor's projects is read from there and passed over here: it has the same id.
Other tables and keys of the file (sign-in tokens stand there) are never read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.content import NOTHING, as_written, decoded
from skillopt_harvesters.cursor_words import spoken, typed
from skillopt_harvesters.jsonl import Line, clean_text
from skillopt_harvesters.model import Author, Batch, Cursor, Kind, Outcome, Source, Usage
from skillopt_harvesters.simple_turns import SimpleTurns
from skillopt_harvesters.sqlite_ro import Database
from skillopt_harvesters.sqlite_sessions import read_sessions, row_of, standing
from skillopt_harvesters.turns import Conversation, new_facts

PARSER = 1
AGENT = "cursor"
TABLE = "cursorDiskKV"
COMPOSER = "composerData:"
BUBBLE = "bubbleId:"
AFTER = ";"
"""The character behind `:`, with which a range of keys ends."""
PERSON = 1
FAILED = {"error", "failed"}
CANCELLED = {"cancelled", "canceled", "aborted"}
OPEN = {"pending", "running", "loading", "queued"}
PROJECTS = ".cursor/projects"


class Name(msgspec.Struct, rename="camel"):
    model_name: str | None = None


class Header(msgspec.Struct, rename="camel"):
    bubble_id: str | None = None


class Composer(msgspec.Struct, rename="camel"):
    name: str | None = None
    created_at: str | int | float | None = None
    last_updated_at: str | int | float | None = None
    model_config_: Name | None = msgspec.field(name="modelConfig", default=None)
    full_conversation_headers_only: list[Header] | None = None
    conversation: list[msgspec.Raw] | None = None


class Tool(msgspec.Struct, rename="camel"):
    name: str | None = None
    tool_call_id: str | None = None
    status: str | None = None
    user_decision: str | None = None
    raw_args: msgspec.Raw = NOTHING
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


class Tokens(msgspec.Struct, rename="camel"):
    input_tokens: int | None = None
    output_tokens: int | None = None


class Bubble(Line, rename="camel"):
    """A message, under one of the several names that its text has had."""

    type: int | None = None
    bubble_id: str | None = None
    text: str | None = None
    raw_text: str | None = None
    content: msgspec.Raw = NOTHING
    message: msgspec.Raw = NOTHING
    created_at: str | int | float | None = None
    workspace_project_dir: str | None = None
    model_info: Name | None = None
    tool_former_data: Tool | None = None
    token_count: Tokens | None = None

    @property
    def words(self) -> str:
        return self.text or self.raw_text or as_written(self.content) or as_written(self.message)


def read_desktop(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
    return read_sessions(source, cursor, Composers(transcripts_of(Path(source.path))), PARSER)


def transcripts_of(path: Path) -> frozenset[str]:
    """The ids of the sessions that have a transcript of their own among the projects of the same home."""
    for parent in path.parents:
        projects = parent / PROJECTS
        try:
            if projects.is_dir():
                found = projects.glob("*/agent-transcripts/*")
                return frozenset(entry.name.partition(".")[0] for entry in found)
        except OSError:
            continue
    return frozenset()


class Composers:
    """The `Shelf` of Cursor's editor."""

    agent = AGENT

    def __init__(self, elsewhere: frozenset[str]) -> None:
        self._elsewhere = elsewhere

    def check(self, database: Database) -> None:
        database.require(TABLE, "key", "value")

    def sessions(self, database: Database) -> Iterator[tuple[str, bytes]]:
        """The token holds the session's own row and the newest row of its messages: a row that is replaced is new."""
        keys = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ?"
        for (key,) in database.rows(keys, COMPOSER, COMPOSER[:-1] + AFTER):
            name = text_of(key).removeprefix(COMPOSER)
            if name and name not in self._elsewhere:
                own = standing(database, "SELECT value FROM cursorDiskKV WHERE key = ?", COMPOSER + name)
                held = digest(own[0]) if isinstance(own, tuple) and isinstance(own[0], bytes) else own
                newest = "SELECT count(*), max(rowid) FROM cursorDiskKV WHERE key >= ? AND key < ?"
                said = database.row(newest, *range_of(name))
                yield name, f"{held} {said}".encode()

    def tell(self, database: Database, source: Source, name: str) -> SimpleTurns[Line]:
        found = database.row("SELECT value FROM cursorDiskKV WHERE key = ?", COMPOSER + name)
        composer = decoded(Composer, found[0] if found else None)
        turns = ComposerTurns(source, name)
        if composer is not None:
            turns.known(composer)
            for raw in bubbles_of(database, turns, name, composer):
                turns.bubble(raw)
            turns.leave_open()
        return turns


def bubbles_of(database: Database, turns: ComposerTurns, name: str, composer: Composer) -> Iterator[bytes]:
    """A session's messages in their order: those that its own row lists, else as they were written."""
    if composer.conversation:
        yield from (bytes(raw) for raw in composer.conversation)
        return
    listed = [header.bubble_id for header in composer.full_conversation_headers_only or () if header.bubble_id]
    if listed:
        keys = [f"{BUBBLE}{name}:{bubble}" for bubble in listed]
    else:
        order = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY rowid"
        keys = [text_of(key) for (key,) in database.rows(order, *range_of(name))]
    for key in keys:
        found = row_of(database, turns, "SELECT value FROM cursorDiskKV WHERE key = ?", key)
        if found is not None and isinstance(found[0], bytes):
            yield found[0]


def range_of(name: str) -> tuple[str, str]:
    return f"{BUBBLE}{name}:", f"{BUBBLE}{name}{AFTER}"


def text_of(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


class ComposerTurns(SimpleTurns[Line]):
    """One session of the editor."""

    def __init__(self, source: Source, name: str) -> None:
        super().__init__(source, Conversation(facts=new_facts(AGENT)), name)
        self.number = 0

    def known(self, composer: Composer) -> None:
        self.facts.title = composer.name or ""
        self.span(self.at(composer.created_at))
        self.span(self.at(composer.last_updated_at))
        self.used(composer.model_config_.model_name if composer.model_config_ else None)

    def bubble(self, raw: bytes) -> None:
        """One message as it is written; its number is its place."""
        self.number += 1
        self.start, self.end = self.number, self.number + len(raw)
        bubble = decoded(Bubble, raw)
        if bubble is None:
            self.unknown += 1
            self.skipped["not a message"] += 1
            return
        self.understood += 1
        self.stamp = bubble.timestamp if bubble.timestamp is not None else bubble.created_at
        self.span(self.now())
        self.been_in(bubble.workspace_project_dir)
        key = f"{self.named}:{bubble.bubble_id or self.number}"
        if bubble.type == PERSON:
            self.user(key, typed(bubble.words))
        else:
            self.agent(key, bubble)

    def user(self, key: str, words: str) -> None:
        if not words:
            self.skipped["no words"] += 1
            return
        self.leave_open()
        self.prompt(self.event(key, Kind.PROMPT, Author.PERSON, clip.words(words)))

    def agent(self, key: str, bubble: Bubble) -> None:
        self.used(bubble.model_info.model_name if bubble.model_info else None)
        spent = bubble.token_count
        if spent is not None and (spent.input_tokens or spent.output_tokens):
            self.spend(Usage(key=key, input=spent.input_tokens or 0, output=spent.output_tokens or 0, at_ms=self.now()))
        if bubble.tool_former_data is not None:
            self.tool(key, bubble.tool_former_data)
        elif words := spoken(bubble.words):
            self.answered(self.event("", Kind.ANSWER, Author.AGENT, clip.words(words)))

    def tool(self, key: str, tool: Tool) -> None:
        name = tool.tool_call_id or key
        call = self.called(key, name, tool.name or "", tool.params if tool.raw_args == NOTHING else tool.raw_args)
        outcome = outcome_of(tool)
        if outcome is Outcome.OPEN:
            return
        self.closed(name)
        self.ended(call, outcome, inner(tool.error) or inner(tool.result))
        if outcome is Outcome.INTERRUPTED:
            self.broken_off()


def inner(raw: msgspec.Raw) -> str:
    """A text that is often JSON inside a JSON string."""
    text = as_written(raw)
    if not text.startswith('"'):
        return text
    try:
        return clean_text(json.loads(text, strict=False))
    except (ValueError, TypeError, RecursionError):
        return text


def outcome_of(tool: Tool) -> Outcome:
    if tool.user_decision == "rejected":
        return Outcome.REFUSED
    if tool.status in CANCELLED:
        return Outcome.INTERRUPTED
    if tool.status in FAILED or tool.error != NOTHING:
        return Outcome.ERROR
    return Outcome.OPEN if tool.status in OPEN else Outcome.OK
