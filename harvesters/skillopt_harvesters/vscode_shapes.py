"""The parts of VS Code's chat sessions that are read (transcript-formats.md 4.2; documents and readers, few files)."""

from __future__ import annotations

import msgspec

NOTHING = msgspec.Raw(b"null")


class Identifier(msgspec.Struct):
    value: str | None = None


class Agent(msgspec.Struct, rename="camel"):
    extension_version: str | None = None
    extension_id: msgspec.Raw = NOTHING


class Name(msgspec.Struct):
    name: str | None = None


class State(msgspec.Struct, rename="camel"):
    value: int | None = None
    completed_at: float | None = None


class Function(msgspec.Struct):
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class Round(msgspec.Struct, rename="camel"):
    tool_calls: list[Function] | None = None


class Metadata(msgspec.Struct, rename="camel"):
    session_id: str | None = None
    tool_call_rounds: list[Round] | None = None
    tool_call_results: dict[str, msgspec.Raw] | None = None


class Failure(msgspec.Struct):
    message: str | None = None


class Result(msgspec.Struct, rename="camel"):
    metadata: Metadata | None = None
    error_details: Failure | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None


class Tokens(msgspec.Struct, rename="camel"):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Touched(msgspec.Struct, rename="camel"):
    uri: msgspec.Raw = NOTHING
    event_kind: int | None = None


class Request(msgspec.Struct, rename="camel"):
    """One turn."""

    request_id: str | None = None
    timestamp: float | None = None
    message: msgspec.Raw = NOTHING
    model_id: str | None = None
    agent: Agent | None = None
    slash_command: Name | None = None
    response: list[msgspec.Raw] | None = None
    result: Result | None = None
    model_state: State | None = None
    is_canceled: bool | None = None
    vote: int | None = None
    vote_down_reason: str | None = None
    should_be_removed_on_send: msgspec.Raw = NOTHING
    is_hidden: bool | None = None
    is_system_initiated: bool | None = None
    confirmation: msgspec.Raw = NOTHING
    edited_file_events: list[Touched] | None = None
    usage: Tokens | None = None


class Session(msgspec.Struct, rename="camel"):
    """The whole state."""

    session_id: str | None = None
    creation_date: float | None = None
    last_message_date: float | None = None
    custom_title: str | None = None
    requests: list[msgspec.Raw] = []


class Message(msgspec.Struct):
    text: str | None = None


class Terminal(msgspec.Struct, rename="camel"):
    kind: str | None = None
    command_line: msgspec.Raw = NOTHING
    command: str | None = None
    terminal_command_state: Exit | None = None
    terminal_command_output: Message | None = None


class Exit(msgspec.Struct, rename="camel"):
    exit_code: int | None = None


class CommandLine(msgspec.Struct, rename="camel"):
    original: str | None = None
    user_edited: str | None = None
    tool_edited: str | None = None


class Details(msgspec.Struct, rename="camel"):
    input: msgspec.Raw = NOTHING
    output: msgspec.Raw = NOTHING
    is_error: bool | None = None


class Part(msgspec.Struct, rename="camel"):
    """One part of a response."""

    kind: str | None = None
    value: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING
    name: str | None = None
    inline_reference: msgspec.Raw = NOTHING
    tool_id: str | None = None
    tool_call_id: str | None = None
    is_confirmed: msgspec.Raw = NOTHING
    is_complete: bool | None = None
    result_details: msgspec.Raw = NOTHING
    tool_specific_data: msgspec.Raw = NOTHING
    invocation_message: msgspec.Raw = NOTHING
    past_tense_message: msgspec.Raw = NOTHING


class Entry(msgspec.Struct):
    """One line of a mutation log."""

    kind: int | None = None
    k: list[str | int] | None = None
    v: msgspec.Raw = NOTHING
    i: int | None = None


class Place(msgspec.Struct):
    """`workspace.json` beside a workspace's chats."""

    folder: str | None = None
    workspace: str | None = None


class Confirmed(msgspec.Struct):
    type: int | str | None = None


class Uri(msgspec.Struct, rename={"fs_path": "fsPath"}):
    fs_path: str | None = None
    path: str | None = None


text = msgspec.json.Decoder(str)
marked = msgspec.json.Decoder(str | Identifier)
messages = msgspec.json.Decoder(str | Message)
parts = msgspec.json.Decoder(Part)
details = msgspec.json.Decoder(Details)
terminals = msgspec.json.Decoder(Terminal)
command_lines = msgspec.json.Decoder(str | CommandLine)
confirmations = msgspec.json.Decoder(bool | Confirmed)
uris = msgspec.json.Decoder(str | Uri)
places = msgspec.json.Decoder(Place)
