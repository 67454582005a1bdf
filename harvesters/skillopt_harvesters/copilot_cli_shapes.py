"""The parts of Copilot CLI's events that are read (transcript-formats.md 3.2; 0.0.407 to 1.0.102)."""

from __future__ import annotations

import msgspec

from skillopt_harvesters.jsonl import Line

NOTHING = msgspec.Raw(b"null")


class Context(msgspec.Struct, gc=False, rename="camel"):
    cwd: str | None = None
    git_root: str | None = None
    branch: str | None = None
    head_commit: str | None = None
    repository: str | None = None


class ToolRequest(msgspec.Struct, gc=False, rename="camel"):
    tool_call_id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class ShellExecution(msgspec.Struct, gc=False, rename="camel"):
    exit_code: int | None = None


class Result(msgspec.Struct, gc=False):
    """A tool's result, or how a permission was answered."""

    content: msgspec.Raw = NOTHING
    kind: str | None = None
    feedback: str | None = None


class Data(msgspec.Struct, gc=False, rename="camel"):
    """What the `data` of any event may hold. What takes several forms is kept raw."""

    session_id: str | None = None
    copilot_version: str | None = None
    selected_model: str | None = None
    new_model: str | None = None
    context: Context | None = None
    cwd: str | None = None
    git_root: str | None = None
    branch: str | None = None
    head_commit: str | None = None
    content: msgspec.Raw = NOTHING
    source: str | None = None
    is_autopilot_continuation: bool | None = None
    delivery: str | None = None
    message_id: str | None = None
    api_call_id: str | None = None
    model: str | None = None
    tool_requests: list[ToolRequest] | None = None
    output_tokens: int | None = None
    parent_tool_call_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: msgspec.Raw = NOTHING
    success: bool | None = None
    result: Result | str | float | bool | list[msgspec.Raw] | None = None
    error: msgspec.Raw = NOTHING
    shell_execution: ShellExecution | None = None
    request_id: str | None = None
    permission_request: msgspec.Raw = NOTHING
    reason: str | None = None
    usage: msgspec.Raw = NOTHING
    model_metrics: msgspec.Raw = NOTHING
    accounting_snapshot: msgspec.Raw = NOTHING
    message: msgspec.Raw = NOTHING
    error_type: str | None = None
    name: str | None = None
    path: str | None = None
    detached_from_spawning_parent_session_id: str | None = None


class Record(Line, gc=False, rename="camel"):
    """One line. The last fields are those of flat logs without `data`."""

    type: str | None = None
    id: str | None = None
    agent_id: str | None = None
    data: Data | None = None
    session_id: str | None = msgspec.field(default=None, name="session_id")
    cwd: str | None = None
    prompt: str | None = None
    output: str | None = None
    result: msgspec.Raw = NOTHING


class Failure(msgspec.Struct, gc=False):
    message: str | None = None
    code: str | None = None


class Asked(msgspec.Struct, gc=False, rename="camel"):
    tool_call_id: str | None = None


class Tokens(msgspec.Struct, gc=False, rename="camel"):
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    api_call_id: str | None = None


class Metric(msgspec.Struct, gc=False):
    usage: Tokens | None = None


class Snapshot(msgspec.Struct, gc=False, rename="camel"):
    model_metrics: dict[str, Metric] | None = None


text = msgspec.json.Decoder(str)
failures = msgspec.json.Decoder(str | Failure)
asked = msgspec.json.Decoder(Asked)
tokens = msgspec.json.Decoder(Tokens)
metrics = msgspec.json.Decoder(dict[str, Metric])
snapshots = msgspec.json.Decoder(Snapshot)
