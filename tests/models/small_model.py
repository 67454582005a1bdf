"""A small open model behind an endpoint of Chat Completions on loopback, in a process of its own.

    python -m tests.models.small_model MODEL.gguf

prints `PORT` once it can be asked, and answers one request at a time. Temperature 0 and no cache: the same question has
the same answer. With SIGTERM it goes.
"""

from __future__ import annotations

import json
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import FrameType
from typing import Any

CONTEXT = 8192


def loaded(path: str) -> Any:
    """The model on one thread: two collapse where a core is busy."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(params)


class Endpoint(BaseHTTPRequestHandler):
    """One door: POST /v1/chat/completions."""

    model: Any = None

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self._answer(404, {"error": {"message": "there is one door"}})
            return
        self._answer(200, self.model.handle_chat_completions({**asked, "temperature": 0, "cache_prompt": False}))

    def log_message(self, *_arguments: object) -> None:
        """Nobody reads it."""

    def _answer(self, status: int, document: object) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main(path: str) -> None:
    signal.signal(signal.SIGTERM, _leave)
    Endpoint.model = loaded(path)
    with HTTPServer(("127.0.0.1", 0), Endpoint) as server:
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
