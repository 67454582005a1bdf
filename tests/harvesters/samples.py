"""A small session of every agent, laid down below a home as the agent does it, made by hand.

Each says the same: `PROMPTS`, a command that fails and one that works, `ANSWERS`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

PROMPTS = ["fix the build", "now the tests"]
ANSWERS = ["it builds", "they pass"]
FAILURE = "no rule to make target"
OUTPUT = "all good"
START_MS = 1_795_000_000_000
CWD = "/work/shop"

Sample = Callable[[Path, ModuleType], Path]


def put(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def dumped(*records: Any) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


# -- the four that other tests make sessions of


def claude_code(home: Path, made: ModuleType) -> Path:
    records = [
        made.user(PROMPTS[0], 0),
        made.calls("Bash", "toolu_1", 1, {"command": "make"}),
        made.gives("toolu_1", f"Exit code 2\n{FAILURE}", 2, True),
        made.says(ANSWERS[0], 3, "msg_a0000000000000000000"),
        made.user(PROMPTS[1], 4),
        made.calls("Bash", "toolu_2", 5, {"command": "pytest"}),
        made.gives("toolu_2", OUTPUT, 6),
        made.says(ANSWERS[1], 7, "msg_b0000000000000000000"),
    ]
    return put(home / f".claude/projects/-work-shop/{made.SESSION}.jsonl", dumped(*records))


def codex(home: Path, made: ModuleType) -> Path:
    records = [
        made.meta(),
        made.typed(PROMPTS[0], 1),
        made.function("c1", 2, '{"cmd":"make"}'),
        made.output("c1", f"Exit code: 2\n{FAILURE}", 3),
        made.item("assistant", ANSWERS[0], 4),
        made.typed(PROMPTS[1], 5),
        made.function("c2", 6, '{"cmd":"pytest"}'),
        made.output("c2", OUTPUT, 7),
        made.item("assistant", ANSWERS[1], 8),
    ]
    return put(home / f".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-{made.THREAD}.jsonl", dumped(*records))


def copilot_cli(home: Path, made: ModuleType) -> Path:
    records = [
        made.started(),
        made.copilot("user.message", 1, content=PROMPTS[0]),
        made.asks("c1", 2, {"command": "make"}),
        made.finished("c1", 3, f"{FAILURE}\n<exited with exit code 2>"),
        made.copilot("assistant.message", 4, content=ANSWERS[0], messageId="m1"),
        made.copilot("user.message", 5, content=PROMPTS[1]),
        made.asks("c2", 6, {"command": "pytest"}),
        made.finished("c2", 7, OUTPUT),
        made.copilot("assistant.message", 8, content=ANSWERS[1], messageId="m2"),
    ]
    return put(home / f".copilot/session-state/{made.SESSION}/events.jsonl", dumped(*records))


def copilot_vscode(home: Path, made: ModuleType) -> Path:
    def ran(name: str, command: str, code: int, text: str) -> dict[str, Any]:
        terminal = {
            "kind": "terminal",
            "commandLine": {"original": command},
            "terminalCommandState": {"exitCode": code},
            "terminalCommandOutput": {"text": text},
        }
        call = {"kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": name}
        return {**call, "isConfirmed": True, "isComplete": True, "toolSpecificData": terminal}

    requests = [
        made.request(1, PROMPTS[0], response=[ran("c1", "make", 2, FAILURE), {"value": ANSWERS[0]}]),
        made.request(2, PROMPTS[1], response=[ran("c2", "pytest", 0, OUTPUT), {"value": ANSWERS[1]}]),
    ]
    state = {"version": 3, "sessionId": made.SESSION, "creationDate": START_MS, "responderUsername": "GitHub Copilot"}
    folder = home / ".config/Code/User/workspaceStorage/w1"
    put(folder / "workspace.json", json.dumps({"folder": f"file://{CWD}"}))
    return put(folder / f"chatSessions/{made.SESSION}.json", json.dumps({**state, "requests": requests}))


# -- Cursor


def cursor_said(role: str, *blocks: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "message": {"content": content}}


def cursor_asked(text: str, minute: int = 0) -> dict[str, Any]:
    time = f"<timestamp>Friday, Nov 20, 2026, 10:{minute:02d} AM (UTC+1)</timestamp>"
    return cursor_said("user", f"{time}\n<user_query>\n{text}\n</user_query>")


def cursor_call(name: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Shell", "input": {"command": command, "working_directory": CWD}}


def cursor_gave(name: str, text: str, *, error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": error}


def cursor(home: Path, made: ModuleType) -> Path:
    records = [
        cursor_asked(PROMPTS[0]),
        cursor_said("assistant", "trying", cursor_call("t1", "make")),
        cursor_said("user", cursor_gave("t1", FAILURE, error=True)),
        cursor_said("assistant", ANSWERS[0]),
        {"type": "turn_ended", "status": "success"},
        cursor_asked(PROMPTS[1], 5),
        cursor_said("assistant", cursor_call("t2", "pytest")),
        cursor_said("user", cursor_gave("t2", OUTPUT)),
        cursor_said("assistant", ANSWERS[1]),
        {"type": "turn_ended", "status": "success"},
    ]
    folder = home / f".cursor/projects/work-shop/agent-transcripts/{made.SESSION}"
    return put(folder / f"{made.SESSION}.jsonl", dumped(*records))


# -- Gemini CLI


def gemini_message(number: int, kind: str, text: str, **more: Any) -> dict[str, Any]:
    name = f"00000000-0000-4000-8000-{number:012d}"
    return {"id": name, "timestamp": f"2026-11-20T10:00:{number:02d}.000Z", "type": kind, "content": text, **more}


def gemini_call(name: str, command: str, status: str = "success", **answer: Any) -> dict[str, Any]:
    result = [{"functionResponse": {"id": name, "name": "run_shell_command", "response": answer}}]
    call = {"id": name, "name": "run_shell_command", "args": {"command": command}}
    return {**call, "result": result, "status": status, "timestamp": "2026-11-20T10:00:30.000Z"}


def gemini_head(made: ModuleType, **more: Any) -> dict[str, Any]:
    return {"sessionId": made.SESSION, "projectHash": "ab" * 32, "startTime": "2026-11-20T10:00:00.000Z", **more}


def gemini_messages() -> list[dict[str, Any]]:
    tokens = {"input": 10, "output": 2, "cached": 4, "thoughts": 1, "tool": 0}
    return [
        gemini_message(1, "user", PROMPTS[0]),
        gemini_message(2, "gemini", "", toolCalls=[gemini_call("c1", "make", "error", error=FAILURE)], tokens=tokens),
        gemini_message(3, "gemini", ANSWERS[0], model="gemini-x", tokens=tokens),
        gemini_message(4, "user", PROMPTS[1]),
        gemini_message(5, "gemini", "", toolCalls=[gemini_call("c2", "pytest", output=OUTPUT)]),
        gemini_message(6, "gemini", ANSWERS[1]),
    ]


def gemini(home: Path, made: ModuleType) -> Path:
    place = home / ".gemini/tmp/shop"
    put(place / ".project_root", CWD)
    records = [
        gemini_head(made, kind="main"),
        *gemini_messages(),
        {"$set": {"lastUpdated": "2026-11-20T10:01:00.000Z"}},
    ]
    return put(place / "chats/session-2026-11-20T10-00-11111111.jsonl", dumped(*records))


# -- Pi and OpenClaw


def pi_entry(number: int, parent: int | None, kind: str = "message", **more: Any) -> dict[str, Any]:
    stamp = f"2026-11-20T10:00:{number:02d}.000Z"
    above = None if parent is None else f"e{parent:07d}"
    return {"type": kind, "id": f"e{number:07d}", "parentId": above, "timestamp": stamp, **more}


def pi_user(number: int, parent: int | None, text: str) -> dict[str, Any]:
    return pi_entry(number, parent, message={"role": "user", "content": [{"type": "text", "text": text}]})


def pi_says(number: int, parent: int, text: str = "", call: tuple[str, str] | None = None, **more: Any) -> Any:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    if call is not None:
        content.append({"type": "toolCall", "id": call[0], "name": "bash", "arguments": {"command": call[1]}})
    usage = {"input": 7, "output": number, "cacheRead": 3, "cacheWrite": 1}
    said = {"role": "assistant", "content": content, "model": "claude-x", "usage": usage, "stopReason": "stop"}
    return pi_entry(number, parent, message={**said, **more})


def pi_gives(number: int, parent: int, call: str, text: str, *, error: bool = False) -> dict[str, Any]:
    said = {"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": error}
    return pi_entry(number, parent, message={**said, "content": [{"type": "text", "text": text}]})


def pi_head(made: ModuleType, **more: Any) -> dict[str, Any]:
    return {
        "type": "session",
        "version": 3,
        "id": made.SESSION,
        "timestamp": "2026-11-20T10:00:00.000Z",
        "cwd": CWD,
        **more,
    }


def pi_records(made: ModuleType) -> list[dict[str, Any]]:
    return [
        pi_head(made),
        pi_entry(1, None, "model_change", provider="p", modelId="claude-x"),
        pi_user(2, 1, PROMPTS[0]),
        pi_says(3, 2, call=("call_1", "make")),
        pi_gives(4, 3, "call_1", FAILURE, error=True),
        pi_says(5, 4, ANSWERS[0]),
        pi_user(6, 5, PROMPTS[1]),
        pi_says(7, 6, call=("call_2", "pytest")),
        pi_gives(8, 7, "call_2", OUTPUT),
        pi_says(9, 8, ANSWERS[1]),
    ]


def pi(home: Path, made: ModuleType) -> Path:
    name = f"2026-11-20T10-00-00-000Z_{made.SESSION}.jsonl"
    return put(home / f".pi/agent/sessions/--work-shop--/{name}", dumped(*pi_records(made)))


def openclaw(home: Path, made: ModuleType) -> Path:
    head, change, *rest = pi_records(made)
    runtime = pi_entry(0, None, "custom", customType="openclaw.runtime-context", data={})
    records = [head, runtime, {**change, "parentId": "e0000000"}, *rest]
    return put(home / f".openclaw/agents/main/sessions/{made.SESSION}.jsonl", dumped(*records))


# -- databases


def rows(path: Path, statements: Iterable[tuple[str, tuple[Any, ...]] | str], *, wal: bool = True) -> Path:
    """A database that is closed, as its owner leaves it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
        run(connection, statements)
    return path


def run(connection: sqlite3.Connection, statements: Iterable[tuple[str, tuple[Any, ...]] | str]) -> None:
    for statement in statements:
        connection.execute(*((statement,) if isinstance(statement, str) else statement))


OPENCODE_TABLES = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
    slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT
    NULL, revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created
    integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text
    NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text
    NOT NULL)
""".split(";")


def opencode_session(name: str = "ses_1", parent: str | None = None, updated: int = START_MS) -> Any:
    values = (name, "p1", parent, "s", CWD, "shop", "1.15.12", None, START_MS, updated)
    return "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values


def opencode_message(number: int, role: str, parts: list[dict[str, Any]], session: str = "ses_1", **more: Any) -> Any:
    """A message with its parts, as statements."""
    name, at = f"msg_{session}_{number:06d}", START_MS + number * 1000
    data = {"role": role, "time": {"created": at}, **more}
    yield "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (name, session, at, at, json.dumps(data))
    for place, part in enumerate(parts):
        values = (f"prt_{name}_{place:03d}", name, session, at, at, json.dumps(part))
        yield "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values


def opencode_text(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def opencode_tool(name: str, command: str, status: str = "completed", exit_code: int = 0, **more: Any) -> Any:
    state = {"status": status, "input": {"command": command}, "metadata": {"exit": exit_code}, **more}
    return {"type": "tool", "callID": name, "tool": "bash", "state": {**state, "time": {"start": START_MS + 5}}}


def opencode_turns(session: str = "ses_1") -> list[Any]:
    tokens = {"input": 9, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 3}}
    answer = {"modelID": "claude-x", "tokens": tokens, "path": {"cwd": CWD, "root": CWD}}
    failed = opencode_tool("c1", "make", exit_code=2, output=FAILURE)
    return [
        *opencode_message(1, "user", [opencode_text(PROMPTS[0])], session),
        *opencode_message(2, "assistant", [failed, opencode_text(ANSWERS[0])], session, **answer),
        *opencode_message(3, "user", [opencode_text(PROMPTS[1])], session),
        *opencode_message(
            4, "assistant", [opencode_tool("c2", "pytest", output=OUTPUT), opencode_text(ANSWERS[1])], session
        ),
    ]


def opencode(home: Path, made: ModuleType) -> Path:
    place = home / ".local/share/opencode/opencode.db"
    return rows(place, [*OPENCODE_TABLES, opencode_session(), *opencode_turns()])


DEVIN_TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT NOT NULL, backend_type
    TEXT NOT NULL, model TEXT NOT NULL, agent_mode TEXT NOT NULL, created_at INTEGER
    NOT NULL, last_activity_at INTEGER NOT NULL, title TEXT, main_chain_id INTEGER, hidden
    INTEGER NOT NULL DEFAULT 0, metadata TEXT);
CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY AUTOINCREMENT, session_id
    TEXT NOT NULL, node_id INTEGER NOT NULL, parent_node_id INTEGER, chat_message TEXT
    NOT NULL, created_at INTEGER NOT NULL, metadata TEXT, UNIQUE(session_id, node_id));
CREATE TABLE tool_call_state (session_id TEXT NOT NULL, tool_call_id TEXT NOT NULL,
    tool_call_json TEXT, tool_call_update_json TEXT, PRIMARY KEY (session_id, tool_call_id))
""".split(";")


def devin_session(tip: int | None, name: str = "calm-river") -> Any:
    at = START_MS // 1000
    values = (name, CWD, "local", "model-x", "code", at, at + 60, "Shop", tip, 0, None)
    return "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values


def devin_node(number: int, parent: int | None, role: str, content: Any, name: str = "calm-river", **more: Any) -> Any:
    message = json.dumps({"role": role, "content": content, **more})
    values = (name, number, parent, message, START_MS // 1000 + number)
    insert = "INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at)"
    return f"{insert} VALUES (?, ?, ?, ?, ?)", values


def devin_call(name: str, command: str) -> dict[str, Any]:
    return {"id": name, "index": 0, "name": "exec", "arguments": {"command": command}}


def devin_turns() -> list[Any]:
    metrics = {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": None, "cache_creation_tokens": 1}
    said: dict[str, Any] = {"metadata": {"generation_model": "model-y", "metrics": metrics}}
    failed = {"status": "failed", "toolCallId": "c1"}
    return [
        devin_node(1, None, "user", PROMPTS[0], metadata={"is_user_input": True}),
        devin_node(2, 1, "assistant", "", tool_calls=[devin_call("c1", "make")], **said),
        devin_node(3, 2, "tool", FAILURE, tool_call_id="c1"),
        devin_node(4, 3, "assistant", ANSWERS[0]),
        devin_node(5, 4, "user", PROMPTS[1]),
        devin_node(6, 5, "assistant", "", tool_calls=[devin_call("c2", "pytest")]),
        devin_node(7, 6, "tool", OUTPUT, tool_call_id="c2"),
        devin_node(8, 7, "assistant", ANSWERS[1]),
        ("INSERT INTO tool_call_state VALUES ('calm-river', 'c1', '{}', ?)", (json.dumps(failed),)),
    ]


def devin(home: Path, made: ModuleType) -> Path:
    place = home / ".local/share/devin/cli/sessions.db"
    return rows(place, [*DEVIN_TABLES, devin_session(8), *devin_turns()])


CURSOR_TABLES = [
    "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
    "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
]


def cursor_value(key: str, value: Any) -> Any:
    return "INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value).encode())


def cursor_bubble(number: int, kind: int, text: str, session: str = "comp1", **more: Any) -> Any:
    at = f"2026-11-20T10:00:{number:02d}.000Z"
    bubble = {"_v": 3, "type": kind, "bubbleId": f"b{number}", "text": text, "createdAt": at, **more}
    return cursor_value(f"bubbleId:{session}:b{number}", bubble)


def cursor_tool(name: str, command: str, status: str = "completed", **more: Any) -> dict[str, Any]:
    arguments = json.dumps({"command": command})
    tool = {"name": "run_terminal_command_v2", "toolCallId": name, "status": status, "rawArgs": arguments, **more}
    return {"toolFormerData": tool}


def cursor_desktop_rows(session: str = "comp1") -> list[Any]:
    headers = [{"bubbleId": f"b{number}", "type": 1 if number in (1, 4) else 2} for number in range(1, 7)]
    composer = {"composerId": session, "name": "Shop", "createdAt": START_MS, "modelConfig": {"modelName": "model-x"}}
    return [
        cursor_value(f"composerData:{session}", {**composer, "fullConversationHeadersOnly": headers}),
        cursor_bubble(1, 1, PROMPTS[0], session, workspaceProjectDir=CWD),
        cursor_bubble(2, 2, "", session, **cursor_tool("c1", "make", "error", error=json.dumps(FAILURE))),
        cursor_bubble(3, 2, ANSWERS[0], session, tokenCount={"inputTokens": 5, "outputTokens": 2}),
        cursor_bubble(4, 1, PROMPTS[1], session),
        cursor_bubble(5, 2, "", session, **cursor_tool("c2", "pytest", result=json.dumps(OUTPUT))),
        cursor_bubble(6, 2, ANSWERS[1], session),
    ]


def cursor_desktop(home: Path, made: ModuleType) -> Path:
    place = home / ".config/Cursor/User/globalStorage/state.vscdb"
    return rows(place, [*CURSOR_TABLES, *cursor_desktop_rows()], wal=False)


# -- the older storage of OpenCode


def opencode_files(home: Path, made: ModuleType) -> Path:
    """The same session as in the database, one file a record."""
    storage = home / ".local/share/opencode/storage"
    for statement, values in opencode_turns():
        data = json.loads(values[-1])
        if "INTO message" in statement:
            record = {"id": values[0], "sessionID": values[1], **data}
            put(storage / f"message/{values[1]}/{values[0]}.json", json.dumps(record))
        else:
            record = {"id": values[0], "messageID": values[1], "sessionID": values[2], **data}
            put(storage / f"part/{values[1]}/{values[0]}.json", json.dumps(record))
    session = {"id": "ses_1", "projectID": "p1", "directory": CWD, "title": "shop", "version": "1.1.0"}
    times = {"created": START_MS, "updated": START_MS + 4000}
    return put(storage / "session/p1/ses_1.json", json.dumps({**session, "time": times}, indent=2))


SAMPLES: dict[str, Sample] = {
    "claude-code": claude_code,
    "codex": codex,
    "copilot-cli": copilot_cli,
    "copilot-vscode": copilot_vscode,
    "cursor": cursor,
    "opencode": opencode,
    "gemini": gemini,
    "pi": pi,
    "openclaw": openclaw,
    "devin": devin,
}
"""One for each agent that is harvested."""
FURTHER: dict[str, tuple[str, Sample]] = {
    "cursor's editor": ("cursor", cursor_desktop),
    "opencode's files": ("opencode", opencode_files),
}
"""Further ways in which an agent keeps its sessions."""
