"""A scripted optimizer on loopback, beside the agents' model: it runs a command with it, and ends with its status.

    python -m tests.agents_e2e.optimizing RULE COMMAND…

It answers Messages that are not streamed: it writes a task of each session, sorts all into one kind, and answers each
reflection with the rule. Each prompt goes to the file that OPTIMIZER_LOG names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.cli.requesting import task_about

PORT = 8902


def reply_to(prompt: str, rule: str) -> dict[str, object]:
    """What the model says to a prompt of the product."""
    if "Write practice tasks" in prompt:
        return {"tasks": [task_about(re.findall(r"said: add a function (\w+)", prompt)[0])]}
    if "same kind of work" in prompt:
        return {"kinds": [{"name": "add a function", "requests": list(range(1, 40))}]}
    if '"patterns"' in prompt:
        tasks = sorted(set(re.findall(r"== (T\d+)", prompt)))
        edit = {"op": "add", "anchor": "Rules", "text": rule}
        return {"patterns": [{"label": "SKILL_DEFECT", "why": "said each time", "tasks": tasks, "edits": [edit]}]}
    return {"kinds": []}


class Messages(BaseHTTPRequestHandler):
    """One door: POST /v1/messages."""

    rule = ""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = str(asked["messages"][0]["content"])
        with Path(os.environ["OPTIMIZER_LOG"]).open("a", encoding="utf-8") as log:
            log.write(json.dumps(prompt) + "\n")
        text = json.dumps(reply_to(prompt, self.rule))
        body = json.dumps({
            "id": "m", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "end_turn",
            "stop_sequence": None, "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 900, "output_tokens": 120},
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Nobody reads it."""


def main(rule: str, command: list[str]) -> int:
    Messages.rule = rule
    with ThreadingHTTPServer(("127.0.0.1", PORT), Messages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        code = subprocess.run(command, check=False).returncode
        server.shutdown()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
