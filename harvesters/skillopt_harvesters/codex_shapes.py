"""The parts of Codex's records that are read (transcript-formats.md 2.2; no wrapper to 0.171.0).

A line is `{timestamp, type, payload}`, or in the oldest files the payload itself. What few records hold has a shape of
its own, because each field of a shape costs time in every record that lacks it.
"""

from __future__ import annotations

import msgspec

from skillopt_harvesters.jsonl import Line

NOTHING = msgspec.Raw(b"null")


class Payload(Line, gc=False):
    """What a payload of the frequent kinds may hold. What takes several forms is kept raw."""

    type: str | None = None
    id: str | None = None
    role: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = NOTHING
    call_id: str | None = None
    output: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING
    message: msgspec.Raw = NOTHING
    info: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    action: msgspec.Raw = NOTHING
    status: str | None = None
    exit_code: int | None = None
    success: bool | None = None
    result: msgspec.Raw = NOTHING
    item: msgspec.Raw = NOTHING


class Record(Line, gc=False):
    """One line."""

    type: str | None = None
    payload: Payload | None = None


class FullPayload(Payload, gc=False):
    """What a payload of any kind may hold, and a line of the oldest files."""

    images: msgspec.Raw = NOTHING
    local_images: msgspec.Raw = NOTHING
    reason: str | None = None
    usage: msgspec.Raw = NOTHING
    response_id: str | None = None
    turn_id: str | None = None
    error: msgspec.Raw = NOTHING
    cwd: str | None = None
    model: str | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: msgspec.Raw = NOTHING
    thread_source: str | None = None
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    git: msgspec.Raw = NOTHING
    thread_name: str | None = None
    user_facing_hint: str | None = None
    record_type: str | None = None


class FullRecord(msgspec.Struct, gc=False):
    payload: FullPayload | None = None


class Piece(msgspec.Struct, gc=False):
    """An item of a message's content, or of a tool's output."""

    type: str | None = None
    text: str | None = None


class Output(msgspec.Struct, gc=False):
    """A call's output as an object."""

    content: msgspec.Raw = NOTHING
    text: str | None = None
    success: bool | None = None


class Metadata(msgspec.Struct, gc=False):
    exit_code: int | None = None


class ShellOutput(msgspec.Struct, gc=False, forbid_unknown_fields=False):
    """Older builds put this JSON into the output text."""

    output: str
    metadata: Metadata


class Tokens(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None


class TokenInfo(msgspec.Struct, gc=False):
    total_token_usage: Tokens | None = None
    last_token_usage: Tokens | None = None


class Item(msgspec.Struct, gc=False):
    """What an `item_completed` event reports."""

    type: str | None = None
    id: str | None = None
    content: msgspec.Raw = NOTHING
    status: str | None = None
    exit_code: int | None = None
    result: msgspec.Raw = NOTHING


class Result(msgspec.Struct, gc=False, rename={"is_error": "isError", "ok": "Ok", "err": "Err"}):
    """What an MCP tool gave, also as Rust writes a result."""

    is_error: bool | None = None
    ok: msgspec.Raw = NOTHING
    err: msgspec.Raw = NOTHING


class Git(msgspec.Struct, gc=False):
    commit_hash: str | None = None
    branch: str | None = None
    repository_url: str | None = None


class Failure(msgspec.Struct, gc=False):
    message: str | None = None


text = msgspec.json.Decoder(str)
pieces = msgspec.json.Decoder(str | list[Piece])
output = msgspec.json.Decoder(str | list[Piece] | Output)
shell_output = msgspec.json.Decoder(ShellOutput)
token_info = msgspec.json.Decoder(TokenInfo)
tokens = msgspec.json.Decoder(Tokens)
items = msgspec.json.Decoder(Item)
results = msgspec.json.Decoder(Result)
gits = msgspec.json.Decoder(Git)
failures = msgspec.json.Decoder(Failure | str)
strings = msgspec.json.Decoder(str)
lists = msgspec.json.Decoder(list[msgspec.Raw])
