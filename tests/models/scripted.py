"""A scripted server on loopback that answers Messages and Chat Completions, by the path that is asked."""

from __future__ import annotations

import json
from collections.abc import Callable

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

PATHS = ("/v1/messages", "/v1/chat/completions")


def message(path: str, text: str, used: tuple[int, int] | None, *, cut: bool = False) -> Response:
    """The answer of either protocol, by the path that was asked."""
    if path.endswith("/messages"):
        body: dict[str, object] = {
            "id": "m", "type": "message", "role": "assistant", "model": "scripted",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "max_tokens" if cut else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": used[0] if used else 0, "output_tokens": used[1] if used else 0},
        }  # fmt: skip
    else:
        choice = {
            "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "length" if cut else "stop",
        }  # fmt: skip
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}
        if used:
            body["usage"] = {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)}
    return Response(json.dumps(body), content_type="application/json")


def serve(server: HTTPServer, *answers: Callable[[Request], Response]) -> list[Request]:
    """Answers in turn, the last one for ever; the requests seen are returned."""
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        return answers[min(len(seen), len(answers)) - 1](request)

    for path in PATHS:
        server.expect_request(path).respond_with_handler(answer)
    return seen


def says(text: str, used: tuple[int, int] | None = (20, 5), *, cut: bool = False) -> Callable[[Request], Response]:
    return lambda request: message(request.path, text, used, cut=cut)


def fails(status: int, **headers: str) -> Callable[[Request], Response]:
    body = json.dumps({"type": "error", "error": {"type": "x", "message": "quota exceeded, billing, permission"}})
    return lambda _: Response(body, status, {k.replace("_", "-"): v for k, v in headers.items()})


def calls(
    path: str, *made: tuple[str, dict[str, object]], thought: str = "", used: tuple[int, int] = (90, 20)
) -> Response:
    """An answer that calls tools, of either protocol; a model that thinks shows its thought the protocol's way."""
    if path.endswith("/messages"):
        parts: list[dict[str, object]] = (
            [{"type": "thinking", "thinking": thought, "signature": "s"}] if thought else []
        )
        parts += [
            {"type": "tool_use", "id": f"call_{n}", "name": name, "input": given}
            for n, (name, given) in enumerate(made)
        ]
        body: dict[str, object] = {
            "id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": parts,
            "stop_reason": "tool_use", "usage": {"input_tokens": 90, "output_tokens": 20},
        }  # fmt: skip
    else:
        said: dict[str, object] = {"role": "assistant", "content": None}
        if thought:
            said["reasoning_content"] = thought
        said["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (name, given) in enumerate(made)
        ]
        body = {
            "id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110},
        }  # fmt: skip
    return Response(json.dumps(body), content_type="application/json")
