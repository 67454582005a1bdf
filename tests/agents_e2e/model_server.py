"""A scripted model behind the protocols that the agents speak: Messages, Responses, Chat Completions; all streamed.

    python model_server.py SCRIPT LOG

SCRIPT is a JSON object: for each phrase the steps of a task, one for each request of it. The task at hand is the one
whose phrase stands in the last user text that has any; its step is the number of tool results since. A step is
`{"text": WORDS}`, `{"shell": COMMAND}` (the agent's own shell tool, whatever its name), `{"tool": NAME, "arguments":
{…}}`, `{"status": NUMBER}` (the request is refused with it), or `{"if": TEXT, "then": STEP, "else": STEP}`, for a model
that does something once it was shown a text; the last one repeats. `SPAWNED` in a step's arguments becomes the id of
the sub-agent that was started last, `TAKEN` in its words what the group of its pattern `taken` found last in the
request. A request without a phrase or without tools (a title, a probe) gets the text "ok".

Each answer's tokens are unlike any other's. LOG gets a line for each request: what was asked, and what it was given.
It ends when its standard input does. It is the first process of its namespace, and so also waits for processes that
nobody waits for, and ends them all with it.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PORT = 8901
MODEL = "scripted-model"
THINKS = 0.2
"""Seconds before each answer: one that comes at once is in Claude Code's transcript before its prompt."""
SPAWNED = re.compile(r'agent_id\\*": ?\\*"([0-9a-f-]{36})')
SHELLS = {
    "Bash": lambda command: {"command": command, "description": "Runs a command"},
    "exec_command": lambda command: {"cmd": command},
    "bash": lambda command: {"command": command, "description": "Runs a command"},
}

REFUSED = {"type": "error", "error": {"type": "refused", "code": "refused", "message": "The model says no."}}

Json = dict[str, Any]


@dataclass(frozen=True)
class Tokens:
    """`input` without what came from the cache."""

    input: int
    output: int
    cached: int


@dataclass(frozen=True)
class Answer:
    text: str
    call: tuple[str, Json] | None
    tokens: Tokens
    model: str
    status: int = 200


def texts_of(content: Any) -> Iterator[str]:
    """The texts of a message's content, whatever its form; tool results are none."""
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]


def conversation(body: Json) -> Iterator[str | None]:
    """The user's texts in order, and None for each tool result."""
    for item in body.get("messages") or body.get("input") or ():
        content = item.get("content")
        if item.get("role") == "tool" or str(item.get("type")).endswith("_call_output"):
            yield None
        elif item.get("role") == "user":
            blocks = content if isinstance(content, list) else ()
            yield from (None for block in blocks if block.get("type") == "tool_result")
            yield from texts_of(content)


def said_of(value: Any) -> str:
    """All texts of a request, tool results among them."""
    if isinstance(value, str):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(map(said_of, inner))


class Script:
    """What the model says. `serial` numbers its answers."""

    def __init__(self, tasks: dict[str, list[Json]]) -> None:
        self.tasks = tasks
        self.serial = itertools.count(1)
        self.lock = threading.Lock()

    def place(self, body: Json) -> tuple[str, int]:
        """The task at hand and the number of its step; "" where there is none."""
        task, results = "", 0
        for said in conversation(body):
            phrase = said and next((phrase for phrase in self.tasks if phrase in said), None)
            if phrase:
                task, results = phrase, 0
            elif said is None:
                results += 1
        return task, results

    def answer(self, body: Json) -> tuple[Json, Answer]:
        task, number = self.place(body)
        tools = list(tool_names(body.get("tools") or ()))
        steps = self.tasks.get(task) if tools else None
        step = steps[min(number, len(steps) - 1)] if steps else {"text": "ok"}
        if "if" in step:
            step = step["then" if step["if"] in said_of(body) else "else"]
        call = None
        if "shell" in step:
            name = next(name for name in SHELLS if name in tools)
            call = name, SHELLS[name](step["shell"])
        elif "tool" in step:
            arguments = json.dumps(step["arguments"])
            if "SPAWNED" in arguments:
                arguments = arguments.replace("SPAWNED", SPAWNED.findall(json.dumps(body))[-1])
            call = step["tool"], json.loads(arguments)
        with self.lock:
            serial = next(self.serial)
        words = step.get("text", "")
        if "taken" in step:
            words = words.replace("TAKEN", re.findall(step["taken"], said_of(body))[-1])
        tokens = Tokens(input=1000 + serial, output=100 + serial, cached=10 + serial)
        model = str(body.get("model"))
        seen = {"task": task if steps else "", "step": number, "tools": tools, "tokens": vars(tokens), "model": model}
        return seen, Answer(words, call, tokens, model, step.get("status", 200))


def tool_names(tools: Any) -> Iterator[str]:
    for tool in tools:
        yield from tool_names(tool.get("tools") or ())
        yield tool.get("name") or tool.get("function", {}).get("name") or str(tool.get("type"))


def short_id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"


def messages(answer: Answer) -> Iterator[tuple[str, Json]]:
    """Anthropic's Messages, streamed."""
    if answer.call:
        name, arguments = answer.call
        begun: Json = {"type": "tool_use", "id": short_id("toolu"), "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    else:
        begun = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": answer.text}
    usage = {"input_tokens": answer.tokens.input, "cache_read_input_tokens": answer.tokens.cached, "output_tokens": 1}
    message: Json = {
        "id": short_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"message": message}
    yield "content_block_start", {"index": 0, "content_block": begun}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    stop = {"stop_reason": "tool_use" if answer.call else "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": {"output_tokens": answer.tokens.output}}
    yield "message_stop", {}


def message_whole(answer: Answer) -> Json:
    """The same, not streamed: what the events add up to."""
    parts = dict(messages(answer))
    block = parts["content_block_start"]["content_block"]
    block |= {"input": answer.call[1]} if answer.call else {"text": answer.text}
    usage = parts["message_start"]["message"]["usage"] | parts["message_delta"]["usage"]
    return {**parts["message_start"]["message"], **parts["message_delta"]["delta"], "content": [block], "usage": usage}


def responses(answer: Answer) -> Iterator[tuple[str, Json]]:
    """OpenAI's Responses, streamed."""
    item: Json
    if answer.call:
        name, arguments = answer.call
        item = {"type": "function_call", "id": short_id("fc"), "call_id": short_id("call"), "status": "completed"}
        space, _, name = name.rpartition(".")
        item |= {"name": name, "arguments": json.dumps(arguments), **({"namespace": space} if space else {})}
    else:
        item = {"type": "message", "id": short_id("msg"), "role": "assistant", "status": "completed"}
        item |= {"content": [{"type": "output_text", "text": answer.text, "annotations": []}]}
    spent = answer.tokens
    usage = {"input_tokens": spent.input + spent.cached, "input_tokens_details": {"cached_tokens": spent.cached}}
    usage |= {"output_tokens": spent.output, "output_tokens_details": {"reasoning_tokens": 0}}
    usage |= {"total_tokens": spent.input + spent.cached + spent.output}
    whole = {"id": short_id("resp"), "object": "response", "created_at": int(time.time()), "model": answer.model}
    yield "response.created", {"response": {**whole, "status": "in_progress", "output": []}}
    yield "response.output_item.added", {"output_index": 0, "item": item}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": {**whole, "status": "completed", "output": [item], "usage": usage}}


def completions(answer: Answer) -> Iterator[Json]:
    """OpenAI's Chat Completions, streamed."""
    message: Json = {"role": "assistant", "content": None if answer.call else answer.text}
    if answer.call:
        function = {"name": answer.call[0], "arguments": json.dumps(answer.call[1])}
        message["tool_calls"] = [{"index": 0, "id": short_id("call"), "type": "function", "function": function}]
    spent = answer.tokens
    usage: Json = {"prompt_tokens": spent.input + spent.cached, "completion_tokens": spent.output}
    usage |= {"prompt_tokens_details": {"cached_tokens": spent.cached}}
    usage |= {"total_tokens": spent.input + spent.cached + spent.output}
    chunk = {"id": short_id("chatcmpl"), "object": "chat.completion.chunk", "created": int(time.time())}
    chunk["model"] = answer.model
    yield {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    stop = "tool_calls" if answer.call else "stop"
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage}


def completion_whole(answer: Answer) -> Json:
    """The same, not streamed."""
    first, last = completions(answer)
    choice = {"index": 0, "message": first["choices"][0]["delta"], "finish_reason": last["choices"][0]["finish_reason"]}
    return {**last, "object": "chat.completion", "choices": [choice]}


def event_stream(events: Iterator[tuple[str, Json]]) -> bytes:
    return b"".join(f"event: {name}\ndata: {json.dumps({'type': name, **body})}\n\n".encode() for name, body in events)


def written(path: str, streamed: bool, answer: Answer) -> bytes:
    """An answer as its protocol writes it."""
    if "/messages" in path:
        return event_stream(messages(answer)) if streamed else json.dumps(message_whole(answer)).encode()
    if "/responses" in path:
        return event_stream(responses(answer))
    if not streamed:
        return json.dumps(completion_whole(answer)).encode()
    chunks = [json.dumps(chunk) for chunk in completions(answer)]
    return "".join(f"data: {chunk}\n\n" for chunk in (*chunks, "[DONE]")).encode()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script, log: Path) -> None:
        super().__init__(("127.0.0.1", PORT), Handler)
        self.script = script
        self.log = log
        self.lock = threading.Lock()

    def note(self, seen: Json) -> None:
        with self.lock, self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(seen) + "\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: Any) -> None:
        """Nothing: the log of requests says it."""

    def reply(self, body: bytes, kind: str = "application/json", status: int = 200) -> None:
        self.send_response(status)
        if status == 429:
            self.send_header("retry-after", "1")
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.reply(b"")

    def do_GET(self) -> None:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "nobody"}
        self.reply(json.dumps({"object": "list", "data": [model], "models": []}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "count_tokens" in self.path:
            self.reply(b'{"input_tokens": 1}')
            return
        seen, answer = self.server.script.answer(body)
        time.sleep(THINKS)
        self.server.note({"path": self.path, **seen, "body": body})
        if answer.status != 200:
            self.reply(json.dumps(REFUSED).encode(), status=answer.status)
            return
        streamed = bool(body.get("stream"))
        self.reply(written(self.path, streamed, answer), "text/event-stream" if streamed else "application/json")


def end_with_starter() -> None:
    """Whoever started us holds the other end of our standard input, and lets go of it also when they are killed."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    script, log = Path(sys.argv[1]), Path(sys.argv[2])
    threading.Thread(target=end_with_starter, daemon=True).start()
    if os.getpid() == 1:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    server = Server(Script(json.loads(script.read_text(encoding="utf-8"))), log)
    log.touch()
    server.serve_forever()


if __name__ == "__main__":
    main()
