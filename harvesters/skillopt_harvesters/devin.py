"""Devin's command line: `cli/sessions.db`, tables `sessions` and `message_nodes` (transcript-formats.md 5).

The messages of a session are a forest: retries and edits leave branches behind, which are most of the table. The live
conversation is the chain from the node that `sessions.main_chain_id` names up to its root. Only descriptions of all
this are at hand; what a failed tool looks like is the least certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters.content import NOTHING, as_written, decoded, plain
from skillopt_harvesters.jsonl import Line
from skillopt_harvesters.model import Author, Batch, Cursor, Kind, Outcome, Source, Trouble, Usage
from skillopt_harvesters.places import named
from skillopt_harvesters.simple_turns import SimpleTurns
from skillopt_harvesters.sqlite_ro import Database, database_source, schema_text
from skillopt_harvesters.sqlite_sessions import read_sessions, row_of, standing
from skillopt_harvesters.turns import Conversation, new_facts

PARSER = 1
AGENT = "devin"
DATABASE = "sessions.db"
NODE = "SELECT chat_message, created_at FROM message_nodes WHERE row_id = ?"
EXIT = re.compile(r"(?i:\A|\n)\W{0,4}(?i:exit code|exited with code)[: ]+(-?\d+)\W{0,4}(?:\n|\Z)")
REFUSED = ("rejected by the user", "rejected by user", "user rejected", "denied by the user", "user denied")


class Metrics(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None


class Metadata(msgspec.Struct):
    is_user_input: bool | None = None
    is_error: bool | None = None
    generation_model: str | None = None
    metrics: Metrics | None = None


class Function(msgspec.Struct):
    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class Call(Function):
    id: str | None = None
    function: Function | None = None


class Message(msgspec.Struct):
    """A node's message."""

    role: str | None = None
    content: msgspec.Raw = NOTHING
    tool_calls: list[msgspec.Raw] | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None
    metadata: Metadata | None = None


class Update(msgspec.Struct):
    """What became of a call, as the agent's protocol tells it."""

    status: str | None = None


class Devin:
    """The `Harvester` of Devin's command line."""

    agent = AGENT

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        return [named(home, environ, "XDG_DATA_HOME", ".local/share") / "devin/cli"]

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        return database_source(AGENT, root / DATABASE, str(root), trouble)

    def recognises(self, path: Path, head: bytes) -> bool:
        schema = schema_text(path, head)
        return b"message_nodes" in schema and b"chat_message" in schema

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        return read_sessions(source, cursor, Sessions(), PARSER)


class Sessions:
    """The `Shelf` of Devin."""

    agent = AGENT

    def check(self, database: Database) -> None:
        database.require("sessions", "id", "working_directory")
        database.require("message_nodes", "row_id", "session_id", "node_id", "parent_node_id", "chat_message")

    def sessions(self, database: Database) -> Iterator[tuple[str, bytes]]:
        """The token holds the session's own row and its newest node. Hidden sessions are read like others."""
        nodes = "SELECT count(*), max(row_id) FROM message_nodes WHERE session_id = ?"
        for (name,) in database.rows("SELECT id FROM sessions ORDER BY rowid"):
            if isinstance(name, bytes):
                key = name.decode("utf-8", "replace")
                own = standing(database, "SELECT * FROM sessions WHERE id = ?", key)
                yield key, repr((own, database.row(nodes, key))).encode("utf-8", "replace")

    def tell(self, database: Database, source: Source, name: str) -> SimpleTurns[Line]:
        own = database.named("SELECT * FROM sessions WHERE id = ?", name) or {}
        turns = DevinTurns(source, name)
        turns.known(own)
        states = states_of(database, name)
        for node, row in chain_of(database, turns, name, own.get("main_chain_id")):
            turns.number += 1
            found = row_of(database, turns, NODE, row)
            if found is not None:
                turns.node(node, found, states)
        turns.leave_open()
        return turns


def chain_of(database: Database, turns: DevinTurns, name: str, tip: Any) -> list[tuple[int, int]]:
    """Node and row ids of the live conversation, from its root on. Without a tip that exists, the newest node is it."""
    nodes: dict[Any, tuple[Any, int]] = {}
    newest: Any = None
    order = "SELECT node_id, parent_node_id, row_id FROM message_nodes WHERE session_id = ? ORDER BY row_id"
    for node, parent, row in database.rows(order, name):
        nodes[node] = (parent, row)
        newest = node
    at = tip if tip in nodes else newest
    chain: list[tuple[int, int]] = []
    while at in nodes:
        parent, row = nodes.pop(at)
        chain.append((at, row))
        at = parent
    if nodes:
        turns.skipped["message on a branch that was given up"] += len(nodes)
    return chain[::-1]


def states_of(database: Database, name: str) -> dict[str, str]:
    """What became of a session's calls, where a table says so."""
    if not database.columns("tool_call_state") >= {"session_id", "tool_call_id", "tool_call_update_json"}:
        return {}
    found = {}
    rows = "SELECT tool_call_id, tool_call_update_json FROM tool_call_state WHERE session_id = ?"
    for call, update in database.rows(rows, name):
        told = decoded(Update, update)
        if told is not None and told.status and isinstance(call, bytes):
            found[call.decode("utf-8", "replace")] = told.status
    return found


class DevinTurns(SimpleTurns[Line]):
    """One session."""

    def __init__(self, source: Source, name: str) -> None:
        super().__init__(source, Conversation(facts=new_facts(AGENT)), name)
        self.number = 0

    def known(self, own: Mapping[str, Any]) -> None:
        facts = self.facts
        facts.title = text(own.get("title"))
        self.been_in(text(own.get("working_directory")))
        self.used(text(own.get("model")))
        self.span(self.at(seconds(own.get("created_at"))))
        self.span(self.at(seconds(own.get("last_activity_at"))))

    def node(self, node: int, row: tuple[Any, ...], states: Mapping[str, str]) -> None:
        """A message of the live conversation."""
        written = row[0]
        message = decoded(Message, written)
        self.start = self.number
        self.end = self.number + (len(written) if isinstance(written, bytes) else 0)
        self.stamp = seconds(row[1])
        self.span(self.now())
        if message is None:
            self.unknown += 1
            self.skipped["not JSON"] += 1
            return
        key = f"{self.named}:{node}"
        if message.role == "user":
            self.user(key, message)
        elif message.role in ("assistant", "agent"):
            self.assistant(key, message)
        elif message.role == "tool":
            self.result(message, states)
        elif message.role == "system":
            self.skipped["message of role system"] += 1
        else:
            self.unknown += 1
            self.skipped[f"message of role {message.role!s:.20}"] += 1
            return
        self.understood += 1

    def user(self, key: str, message: Message) -> None:
        words = plain(message.content).strip()
        if message.metadata is not None and message.metadata.is_user_input is False:
            self.skipped["injected"] += 1
        elif not words:
            self.skipped["no words"] += 1
        else:
            self.leave_open()
            self.prompt(self.event(key, Kind.PROMPT, Author.PERSON, clip.words(words)))

    def assistant(self, key: str, message: Message) -> None:
        metadata = message.metadata or Metadata()
        self.used(metadata.generation_model)
        self.tokens(key, metadata)
        words = plain(message.content).strip()
        if words:
            self.answered(self.event("", Kind.ANSWER, Author.AGENT, clip.words(words)))
        for number, raw in enumerate(message.tool_calls or ()):
            call = decoded(Call, bytes(raw))
            if call is not None:
                told = call.function or call
                name = call.id or f"{key}:{number}"
                self.called(f"{key}:{name}", name, told.name or call.name or "", told.arguments, key)

    def tokens(self, key: str, metadata: Metadata) -> None:
        spent = metadata.metrics
        if spent is None:
            return
        self.spend(
            Usage(
                key=key,
                input=spent.input_tokens or 0,
                output=spent.output_tokens or 0,
                cache_read=spent.cache_read_tokens or 0,
                cache_write=spent.cache_creation_tokens or 0,
                model=metadata.generation_model or "",
                at_ms=self.now(),
            )
        )

    def result(self, message: Message, states: Mapping[str, str]) -> None:
        call = self.closed(message.tool_call_id or "")
        if call is None:
            self.skipped["result without its call"] += 1
            return
        words = as_written(message.content)
        failed = bool(message.is_error or (message.metadata is not None and message.metadata.is_error))
        outcome = outcome_of(words, states.get(call.call_id, ""), failed=failed)
        self.ended(call, outcome, words)
        if outcome is Outcome.INTERRUPTED:
            self.broken_off()


def outcome_of(words: str, state: str, *, failed: bool) -> Outcome:
    """How a call ended: as its state says, else as its result says in the code with which a command ended."""
    head = words[:300].lower()
    if any(mark in head for mark in REFUSED) and (failed or state == "failed" or len(words) < 300):
        return Outcome.REFUSED
    if state in ("cancelled", "canceled"):
        return Outcome.INTERRUPTED
    codes = EXIT.findall(words[-200:]) + EXIT.findall(words[:200])
    return Outcome.ERROR if failed or state == "failed" or any(code != "0" for code in codes) else Outcome.OK


def text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def seconds(value: Any) -> int | None:
    return value if isinstance(value, int) else None
