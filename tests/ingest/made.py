"""Transcripts made up for tests, in the shapes that Claude Code writes."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

START_MS = 1_794_000_000_000


def iso(ms: int) -> str:
    from skillopt_sleep.clock import iso as written

    return written(ms) or ""


class Conversation:
    """One Claude Code session that can be written to a file, and go on."""

    def __init__(self, seed: int, cwd: str = "/home/kim/shop", **fields: Any) -> None:
        self._random = random.Random(seed)
        self.id = self.name()
        self.cwd = cwd
        self.fields = fields
        self.at = START_MS + seed * 3_600_000
        self.parent: str | None = None
        self.lines: list[str] = []

    def name(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def record(self, kind: str, **more: Any) -> str:
        self.at += 1000
        own = self.name()
        row = {"parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": self.cwd}
        row |= {"sessionId": self.id, "version": "2.1.30", "gitBranch": "main", "type": kind, "uuid": own}
        row |= {"timestamp": iso(self.at)} | self.fields | more
        self.parent = own
        self.lines.append(json.dumps(row))
        return own

    def asks(self, text: str) -> Conversation:
        self.record("user", message={"role": "user", "content": text})
        return self

    def says(self, *content: dict[str, Any], output: int = 10) -> Conversation:
        usage = {"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": 7}
        usage["cache_creation_input_tokens"] = 1
        message = {"id": f"msg_{self.name()[:8]}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
        self.record("assistant", message=message | {"content": list(content), "usage": usage})
        return self

    def answers(self, text: str) -> Conversation:
        return self.says({"type": "text", "text": text})

    def calls(self, tool: str, arguments: dict[str, Any]) -> str:
        call = f"toolu_{self.name()[:8]}"
        self.says({"type": "tool_use", "id": call, "name": tool, "input": arguments})
        return call

    def gets(self, call: str, output: str, *, error: bool = False) -> Conversation:
        block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": error}
        self.record("user", message={"role": "user", "content": [block]}, toolUseResult=output)
        return self

    def runs(self, command: str, output: str, *, error: bool = False) -> Conversation:
        return self.gets(self.calls("Bash", {"command": command}), output, error=error)

    def file(self, home: Path) -> Path:
        return home / ".claude" / "projects" / "-home-kim-shop" / f"{self.id}.jsonl"

    def write(self, home: Path, lines: Sequence[str] | None = None) -> Path:
        """The whole conversation so far, as its file."""
        path = self.file(home)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in (self.lines if lines is None else lines)), encoding="utf-8")
        return path

    def append(self, home: Path, since: int) -> int:
        """Add the lines from number `since` on to the file. Returns how many bytes these are."""
        new = "".join(line + "\n" for line in self.lines[since:]).encode()
        with self.file(home).open("ab") as file:
            return file.write(new)


def everyday(seed: int, turns: int = 3, **fields: Any) -> Conversation:
    """A session like many: a prompt, some commands, one of which fails, an answer."""
    talk = Conversation(seed, **fields)
    for turn in range(turns):
        talk.asks(f"please look at module {seed} part {turn}")
        talk.runs(f"pytest tests/test_{seed}_{turn}.py", f"Exit code 1\nE   assert {turn}", error=True)
        talk.runs(f"ruff check src/{seed}", "All checks passed!" * 40)
        talk.answers(f"Part {turn} of {seed} is done.")
    return talk
