"""The parts of Gemini CLI's records that are read (documents 0.8 to 0.39, lines from 0.40; gemini-cli
`chatRecordingTypes.ts`)."""

from __future__ import annotations

import msgspec

from skillopt_harvesters.content import NOTHING
from skillopt_harvesters.jsonl import Line


class Tokens(msgspec.Struct):
    """`input` counts what was cached too; `thoughts` are written by the model, `tool` read by it."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    thoughts: int | None = None
    tool: int | None = None


class Call(msgspec.Struct):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    status: str | None = None
    timestamp: str | int | float | None = None
    error: msgspec.Raw = NOTHING


class Message(Line, rename="camel"):
    """A message of a conversation. `role`, `parts` and `ts` are how some versions call type, content and timestamp."""

    id: str | None = None
    type: str | None = None
    role: str | None = None
    content: msgspec.Raw = NOTHING
    display_content: msgspec.Raw = NOTHING
    parts: msgspec.Raw = NOTHING
    ts: str | int | float | None = None
    model: str | None = None
    tokens: Tokens | None = None
    tool_calls: list[msgspec.Raw] | None = None


class Head(msgspec.Struct, rename="camel"):
    """What is said of a conversation as a whole: by a document, by the first line, or by a patch."""

    session_id: str | None = None
    project_hash: str | None = None
    start_time: str | int | float | None = None
    last_updated: str | int | float | None = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[msgspec.Raw] | None = None
    history: list[msgspec.Raw] | None = None


class Entry(Line, rename="camel"):
    """What tells apart the lines of a log: a message, what is said of the whole, a patch of it, or an undoing."""

    id: str | None = None
    session_id: str | None = None
    project_hash: str | None = None
    patch: msgspec.Raw = msgspec.field(name="$set", default=NOTHING)
    rewind: str | None = msgspec.field(name="$rewindTo", default=None)


class Answer(msgspec.Struct):
    """What a tool gave to the model."""

    output: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


class Response(msgspec.Struct):
    response: msgspec.Raw = NOTHING
