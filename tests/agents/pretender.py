#!/usr/bin/python3 -I
"""A program that behaves like Claude Code's command line as far as an attempt sees it, without a model.

Beside it lies `script.json`: for each phrase of a prompt the steps, as in tests/agents_e2e/model_server.py: `{"shell":
COMMAND}` is really run (and `takes` so many tokens of input, 1,000 unless said), `{"open": NAME}` opens a skill,
`{"text": WORDS}` ends, `{"if": TEXT, "then": STEP, "else": STEP}` asks whether a text was shown so far. What it did
goes to a transcript like Claude Code's.
"""

import json
import os
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = 100


class Transcript:
    def __init__(self, session: str) -> None:
        self.session, self.parent = session, None
        slug = "".join(c if c.isalnum() else "-" for c in str(Path.cwd()))
        self.path = Path.home() / ".claude/projects" / slug / f"{session}.jsonl"
        self.path.parent.mkdir(parents=True)

    def add(self, kind: str, message: dict, **more: object) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        name = str(uuid.uuid4())
        line = {"parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": str(Path.cwd())}
        line |= {"sessionId": self.session, "version": "2.1.197", "type": kind, "message": message, "uuid": name}
        line |= {"timestamp": at, "entrypoint": os.environ.get("CLAUDE_CODE_ENTRYPOINT", "cli"), **more}
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.parent = name

    def said(self, block: dict, stop: str, takes: int = 1000) -> None:
        usage = {"input_tokens": takes, "cache_read_input_tokens": 0, "output_tokens": OUTPUT}
        message = {"id": f"msg_{uuid.uuid4().hex[:20]}", "type": "message", "role": "assistant", "model": "pretender"}
        self.add("assistant", message | {"content": [block], "usage": usage, "stop_reason": stop})

    def called(self, tool: str, arguments: dict, output: str, failed: bool, takes: int = 1000) -> None:
        call = f"toolu_{uuid.uuid4().hex[:20]}"
        self.said({"type": "tool_use", "id": call, "name": tool, "input": arguments}, "tool_use", takes)
        result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": failed}
        self.add("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": output, "stderr": ""})


def said(result: dict) -> None:
    sys.stdout.write(json.dumps({"type": "result", "subtype": "success", **result}) + "\n")


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write("2.1.197 (pretender)\n")
        return
    prompt, session = sys.argv[-1], sys.argv[sys.argv.index("--session-id") + 1]
    script = json.loads((HERE / "script.json").read_text())
    if script.get("signed out"):
        sys.stdout.write(
            json.dumps({"type": "result", "is_error": True, "subtype": "success", "duration_api_ms": 0}) + "\n"
        )
        sys.exit(1)
    transcript = Transcript(session)
    transcript.add("user", {"role": "user", "content": prompt}, promptSource="typed")
    memory = Path.home() / ".claude/CLAUDE.md"
    shown = [memory.read_text() if memory.exists() else ""]
    steps = next((steps for phrase, steps in script.items() if phrase in prompt), [{"text": "ok"}])
    answer = ""
    for step in steps:
        while "if" in step:
            step = step["then" if step["if"] in "\n".join(shown) else "else"]
        if "text" in step:
            answer = step["text"]
            break
        if "open" in step:
            text = (Path.home() / ".claude/skills" / step["open"] / "SKILL.md").read_text()
            shown.append(text)
            transcript.called("Skill", {"skill": step["open"]}, f"Launching skill: {step['open']}", False)
            body = text.split("---\n", 2)[2]
            base = Path.home() / ".claude/skills" / step["open"]
            content = [{"type": "text", "text": f"Base directory for this skill: {base}\n\n{body}"}]
            transcript.add("user", {"role": "user", "content": content}, isMeta=True)
            continue
        done = subprocess.run(step["shell"], shell=True, capture_output=True, text=True, check=False)
        told = done.stdout + done.stderr
        shown.append(told)
        told = f"Exit code {done.returncode}\n{told}" if done.returncode else told
        transcript.called(
            "Bash", {"command": step["shell"], "description": "x"}, told, done.returncode != 0, step.get("takes", 1000)
        )
    transcript.said({"type": "text", "text": answer}, "end_turn")
    sys.stdout.write(
        json.dumps({"type": "result", "is_error": False, "subtype": "success", "stop_reason": "end_turn"}) + "\n"
    )


if __name__ == "__main__":
    main()
