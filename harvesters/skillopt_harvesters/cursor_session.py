"""Cursor's transcripts, record by record, to events.

The records have neither ids nor times, and the results of calls are mostly left out: keys count within the turn, times
are those that stand in the prompts, and a call without a result stays open.
"""

from __future__ import annotations

import re

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters.content import NOTHING, Block, as_written, blocks_of, text_of
from skillopt_harvesters.cursor_words import said_at, spoken, typed
from skillopt_harvesters.jsonl import Line, clean_text
from skillopt_harvesters.model import Author, Event, Kind, Origin, Outcome, Source
from skillopt_harvesters.places import Place
from skillopt_harvesters.simple_turns import SimpleTurns
from skillopt_harvesters.turns import Conversation, new_facts

AGENT = "cursor"
ABORTED = "aborted"
CALLS = {"tool_use", "tool-use", "tool_call", "tool-call"}
RESULTS = {"tool_result", "tool-result"}
_OTHER = re.compile(r"[^A-Za-z0-9]+")


class Message(msgspec.Struct):
    content: msgspec.Raw = NOTHING


class Record(Line):
    """A line: a message, or the end of a turn."""

    role: str | None = None
    type: str | None = None
    message: Message | None = None
    model: str | None = None
    status: str | None = None
    error: msgspec.Raw = NOTHING


class State(msgspec.Struct, kw_only=True):
    """What is carried from batch to batch. `turn` and `calls` count."""

    talk: Conversation
    turn: int = 0
    calls: int = 0


def new_state() -> State:
    return State(talk=Conversation(facts=new_facts(AGENT)))


class CursorTurns(SimpleTurns[Record]):
    """One transcript. `slug` is the name of the project's folder among Cursor's, "" where it is not known."""

    def __init__(self, source: Source, state: State, named: str, slug: str = "", parent: str = "") -> None:
        super().__init__(source, state.talk, named)
        self.s = state
        self.slug = slug
        self.place = Place(lambda folder: slugged(folder) == slugged(slug)) if slug else None
        if parent:
            self.facts.origin, self.facts.parent = Origin.SUBAGENT, clean_text(parent)

    def take(self, record: Record) -> bool:
        if record.type == "turn_ended":
            self.turn_ended(record)
            return True
        blocks = blocks_of(record.message.content) if record.message is not None else []
        if record.role in ("user", "human"):
            self.user(blocks)
        elif record.role in ("assistant", "model"):
            self.used(record.model)
            self.assistant(blocks)
        elif record.role != "system":
            self.skipped[f"unknown record {record.role or record.type!s:.40}"] += 1
            return False
        return True

    # -- the person

    def user(self, blocks: list[Block]) -> None:
        for block in blocks:
            if block.type in RESULTS:
                self.result(block)
        text = text_of(blocks)
        if text.strip():
            self.asked(typed(text), said_at(text))
        elif not any(block.type in RESULTS for block in blocks):
            self.skipped["empty"] += 1

    def asked(self, words: str, ms: int | None) -> None:
        """A prompt, unless there are no words of the person's in it."""
        if not words:
            self.skipped["injected"] += 1
            return
        if self.facts.origin is Origin.SUBAGENT:
            self.skipped["sub-agent's prompt"] += 1
            return
        self.leave_open()
        self.stamp = ms
        self.span(self.now())
        self.s.turn += 1
        self.s.calls = 0
        self.prompt(self.event(f"{self.named}:{self.s.turn}", Kind.PROMPT, Author.PERSON, clip.words(words)))

    def turn_ended(self, record: Record) -> None:
        error = as_written(record.error)
        if record.status == "error" and ABORTED in error:
            self.broken_off()
        elif record.status == "error":
            key = f"{self.named}:{self.s.turn}:error"
            self.emit(self.event(key, Kind.ERROR, Author.HARNESS, clip.error_text(error)))
        self.leave_open()

    # -- the agent

    def assistant(self, blocks: list[Block]) -> None:
        text = spoken("\n".join(block.text for block in blocks if block.text and block.type not in CALLS))
        if text:
            self.answered(self.event("", Kind.ANSWER, Author.AGENT, clip.words(text)))
        for block in blocks:
            if block.type in CALLS:
                self.tool(block.id or block.tool_call_id, block.name or "", block.input)
            elif block.type in RESULTS:
                self.result(block)

    def tool(self, name: str | None, tool: str, arguments: msgspec.Raw | str) -> Event:
        self.s.calls += 1
        key = f"{self.named}:{self.s.turn}:call:{self.s.calls}"
        call = self.called(key, name or f"{self.s.turn}:{self.s.calls}", tool, arguments)
        if self.place is not None and not self.facts.cwds:
            self.been_in(self.place.look(call.arguments))
        return call

    def result(self, block: Block) -> None:
        """A result names its call, or is that of the call that has waited longest."""
        known = next((name for name in (block.tool_use_id, block.tool_call_id) if name in self.talk.calls), None)
        name = known or next(iter(self.talk.calls), None)
        call = self.closed(name) if name is not None else None
        if call is None:
            self.skipped["result without its call"] += 1
            return
        text = as_written(block.content) or block.text or ""
        self.ended(call, Outcome.ERROR if block.is_error else Outcome.OK, text)

    def state(self) -> bytes:
        return msgspec.msgpack.encode(self.s)


def slugged(folder: str) -> str:
    """A folder as Cursor names it among its projects: what is no letter or digit is a hyphen."""
    return _OTHER.sub("-", folder).strip("-")
