"""Records as the agents write them, made by hand: one function a record."""

from __future__ import annotations

from itertools import count
from typing import Any

ids = count(1)
SESSION = "11111111-2222-4333-8444-555555555555"


def uuid() -> str:
    return f"00000000-0000-4000-8000-{next(ids):012d}"


def at(second: int) -> str:
    return f"2026-11-20T10:{second // 60:02d}:{second % 60:02d}.000Z"


# -- Claude Code


def claude(kind: str, second: int, **more: Any) -> dict[str, Any]:
    record = {"type": kind, "uuid": uuid(), "sessionId": SESSION, "timestamp": at(second), "cwd": "/work/shop"}
    return {**record, "isSidechain": False, "version": "2.1.197", "gitBranch": "main", **more}


def user(text: Any, second: int, **more: Any) -> dict[str, Any]:
    return claude("user", second, message={"role": "user", "content": text}, **more)


def says(
    text: str, second: int, message: str = "msg_0123456789abcdefghij", output: int = 5, **more: Any
) -> dict[str, Any]:
    return blocks([{"type": "text", "text": text}], second, message, output, **more)


def blocks(content: list[Any], second: int, message: str, output: int = 5, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": output, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}
    said = {"id": message, "role": "assistant", "model": "claude-x", "content": content, "usage": usage}
    return claude("assistant", second, message=said, **more)


def calls(tool: str, name: str, second: int, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    call = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
    return blocks([call], second, f"msg_{name}_{'0' * 16}", **more)


def gives(name: str, text: Any, second: int, error: bool = False, structured: Any = "x", **more: Any) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": error}
    return user([result], second, toolUseResult=structured, **more)


def queue(operation: str, second: int, text: str | None = None) -> dict[str, Any]:
    record = {"type": "queue-operation", "operation": operation, "timestamp": at(second), "sessionId": SESSION}
    return record if text is None else {**record, "content": text}


REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
WORDLESS = REFUSAL + "STOP what you are doing and wait for the user to tell you how to proceed."
FOR_TOOL_USE = "[Request interrupted by user for tool use]"


def refusal(said: str) -> str:
    return f"{REFUSAL}To tell you how to proceed, the user said:\n{said}"


# -- Codex

THREAD = "01999999-0000-7000-8000-000000000001"


def codex(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": at(second), "type": kind, "payload": payload}


def meta(second: int = 0, thread: str = THREAD, **more: Any) -> dict[str, Any]:
    git = {"commit_hash": "abc", "branch": "main", "repository_url": "https://example.invalid/shop.git"}
    given = {"cwd": "/work/shop", "originator": "codex-tui", "cli_version": "0.171.0", "source": "cli", "git": git}
    return codex("session_meta", second, id=thread, timestamp=at(second), **{**given, **more})


def item(role: str, text: str, second: int) -> dict[str, Any]:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return codex("response_item", second, type="message", role=role, content=[part])


def typed(text: str, second: int, **more: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="user_message", message=text, **more)


def function(name: str, second: int, arguments: str, tool: str = "exec_command") -> dict[str, Any]:
    return codex("response_item", second, type="function_call", name=tool, arguments=arguments, call_id=name)


def output(name: str, text: Any, second: int) -> dict[str, Any]:
    return codex("response_item", second, type="function_call_output", call_id=name, output=text)


def spent(count: int | None) -> dict[str, int] | None:
    return None if count is None else {"input_tokens": count, "output_tokens": 0, "total_tokens": count}


def tokens(total: int | None, last: int | None, second: int) -> dict[str, Any]:
    info = {"total_token_usage": spent(total), "last_token_usage": spent(last)}
    return codex("event_msg", second, type="token_count", info=info)


# -- Copilot CLI


def copilot(kind: str, second: int, **data: Any) -> dict[str, Any]:
    more = {"agentId": data.pop("agentId")} if "agentId" in data else {}
    return {"type": kind, "data": data, "id": uuid(), "timestamp": at(second), "parentId": None, **more}


def started(second: int = 0, **more: Any) -> dict[str, Any]:
    place = {"cwd": "/work/shop", "gitRoot": "/work/shop", "branch": "main", "headCommit": "abc"}
    return copilot("session.start", second, sessionId=SESSION, copilotVersion="1.0.102", context=place, **more)


def asks(name: str, second: int, arguments: dict[str, Any], tool: str = "bash", text: str = "") -> dict[str, Any]:
    request = {"toolCallId": name, "name": tool, "arguments": arguments, "type": "function"}
    return copilot("assistant.message", second, messageId=uuid(), content=text, toolRequests=[request])


def finished(name: str, second: int, text: str, success: bool = True, **more: Any) -> dict[str, Any]:
    result = {"content": text}
    return copilot("tool.execution_complete", second, toolCallId=name, success=success, result=result, **more)


# -- VS Code


def request(number: int, text: str, answer: str = "done", **more: Any) -> dict[str, Any]:
    return {
        "requestId": f"request_00000000-0000-4000-8000-{number:012d}",
        "timestamp": 1_795_000_000_000 + number * 60_000,
        "message": {"text": text, "parts": []},
        "modelId": "copilot/x",
        "response": [{"value": answer}],
        **more,
    }
