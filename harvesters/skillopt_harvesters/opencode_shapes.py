"""The parts of OpenCode's records that are read (JSON trees to 1.3, database from 1.2; opencode `message-v2.ts`)."""

from __future__ import annotations

import msgspec

from skillopt_harvesters.content import NOTHING


class Times(msgspec.Struct):
    """Milliseconds."""

    created: int | float | None = None
    updated: int | float | None = None
    completed: int | float | None = None
    start: int | float | None = None
    end: int | float | None = None


class Cache(msgspec.Struct):
    read: int | None = None
    write: int | None = None


class Tokens(msgspec.Struct):
    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache: Cache | None = None


class Said(msgspec.Struct):
    message: str | None = None


class Failure(msgspec.Struct):
    name: str | None = None
    data: Said | None = None


class Place(msgspec.Struct):
    cwd: str | None = None
    root: str | None = None


class Named(msgspec.Struct):
    model: str | None = msgspec.field(name="modelID", default=None)


class Revert(msgspec.Struct):
    message: str | None = msgspec.field(name="messageID", default=None)


class Session(msgspec.Struct):
    id: str | None = None
    parent: str | None = msgspec.field(name="parentID", default=None)
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    time: Times | None = None
    revert: Revert | None = None


class Message(msgspec.Struct):
    id: str | None = None
    role: str | None = None
    time: Times | None = None
    path: msgspec.Raw = NOTHING
    model_id: str | None = msgspec.field(name="modelID", default=None)
    model: msgspec.Raw = NOTHING
    tokens: Tokens | None = None
    error: Failure | None = None
    summary: msgspec.Raw = NOTHING


class Metadata(msgspec.Struct):
    exit: int | None = None
    interrupted: bool | None = None


class ToolState(msgspec.Struct):
    status: str | None = None
    input: msgspec.Raw = NOTHING
    output: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    metadata: Metadata | None = None
    time: Times | None = None


class Part(msgspec.Struct):
    id: str | None = None
    message: str | None = msgspec.field(name="messageID", default=None)
    type: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    call: str | None = msgspec.field(name="callID", default=None)
    tool: str | None = None
    state: ToolState | None = None
    command: str | None = None
    time: Times | None = None
