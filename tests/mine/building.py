"""Stored sessions made by hand: one call a line, in the shapes that the four agents use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count

from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.sessions import StoredEvent, StoredSession
from skillopt_sleep.mine import episodes_of

DAY = 86_400_000
START = 1_750_000_000_000
ROOT = "/home/{person}/work/app"

SHELLS = {
    "claude-code": ("Bash", "command"),
    "codex": ("shell", "command"),
    "copilot-cli": ("bash", "command"),
    "copilot-vscode": ("run_in_terminal", "command"),
}
READERS = {
    "claude-code": ("Read", "file_path"),
    "codex": ("read_file", "path"),
    "copilot-cli": ("view", "path"),
    "copilot-vscode": ("copilot_readFile", "filePath"),
}
EDITORS = {
    "claude-code": ("Edit", "file_path", "old_string", "new_string"),
    "copilot-cli": ("str_replace", "path", "old_str", "new_str"),
    "copilot-vscode": ("copilot_replaceString", "filePath", "oldString", "newString"),
}
SEARCHERS = {
    "claude-code": ("Grep", "pattern", "path"),
    "codex": ("grep_files", "pattern", "path"),
    "copilot-cli": ("grep", "pattern", "path"),
    "copilot-vscode": ("grep_search", "query", "includePattern"),
}
"""What each agent calls its tools, and their arguments."""

_rows = count(1)


class Session:
    """A session as it is told: prompts, calls, refusals. Rows are unique over all sessions of a run."""

    def __init__(
        self, name: str, day: float = 0, person: str = "kim", agent: str = "claude-code", cwd: str = ""
    ) -> None:
        self.name = name
        self.agent = agent
        self.cwd = cwd or ROOT.format(person=person)
        self.at = START + int(day * DAY)
        self.events: list[StoredEvent] = []
        self.output: dict[str, int] = {}
        self.family = ""
        self.origin = "interactive"

    def _add(self, kind: str, author: str, **facts: object) -> StoredEvent:
        self.at += 1000
        event = StoredEvent(next(_rows), self.name, len(self.events), kind, author, self.at, **facts)  # type: ignore[arg-type]
        self.events.append(event)
        return event

    def prompt(self, text: str) -> Session:
        self._add("prompt", "person", text=text)
        return self

    def queued(self, text: str) -> Session:
        self._add("queued", "person", text=text)
        return self

    def interrupt(self) -> Session:
        self._add("interrupt", "person", text="[interrupted]")
        return self

    def compaction(self) -> Session:
        self._add("compaction", "harness")
        return self

    def answer(self, text: str = "Done.", message: str = "") -> Session:
        self._add("answer", "agent", text=text, message_id=message)
        return self

    def call(
        self,
        tool: str,
        arguments: object,
        output: str = "ok",
        outcome: str = "ok",
        message: str = "",
        tokens: int = 0,
    ) -> Session:
        """A call as the store keeps it: the error's text, or the head of what it gave."""
        failed = outcome != "ok"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if message:
            self.output[message] = tokens
        self._add(
            "call",
            "agent",
            call_id=f"call-{next(_rows)}",
            tool=tool,
            arguments=text[:4096],
            outcome=outcome,
            output_length=len(output),
            text=output[:4096] if failed else "",
            head=output[:256],
            message_id=message,
        )
        return self

    def refused(self, tool: str, arguments: object, reason: str = "") -> Session:
        self.call(tool, arguments, "The tool use was rejected", "refused")
        if reason:
            self._add("rejection", "person", text=reason, call_id=self.events[-1].call_id)
        return self

    def bash(self, command: str, output: str = "ok", code: int = 0) -> Session:
        tool, key = SHELLS[self.agent]
        arguments: object = {key: ["bash", "-lc", command] if tool == "shell" else command}
        if code:
            return self.call(tool, arguments, f"Exit code {code}\n{output}", "error")
        return self.call(tool, arguments, output)

    def read(self, path: str, output: str = "1 text", outcome: str = "ok") -> Session:
        tool, key = READERS[self.agent]
        return self.call(tool, {key: self.path(path)}, output, outcome)

    def edit(self, path: str, old: str, new: str, output: str = "updated", outcome: str = "ok") -> Session:
        full = self.path(path)
        if self.agent == "codex":
            lines = [*(f"-{line}" for line in old.split("\n")), *(f"+{line}" for line in new.split("\n"))]
            patch = "\n".join(["*** Begin Patch", f"*** Update File: {full}", "@@", *lines, "*** End Patch"])
            return self.call("apply_patch", patch, output, outcome)
        tool, *keys = EDITORS[self.agent]
        return self.call(tool, dict(zip(keys, (full, old, new), strict=True)), output, outcome)

    def write(self, path: str, content: str) -> Session:
        return self.call("Write", {"file_path": self.path(path), "content": content}, "created")

    def grep(self, pattern: str, path: str = "", output: str = "a.py", outcome: str = "ok") -> Session:
        tool, *keys = SEARCHERS[self.agent]
        return self.call(tool, dict(zip(keys, (pattern, self.path(path)), strict=True)), output, outcome)

    def path(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.cwd}/{path}" if path else self.cwd

    def stored(self) -> StoredSession:
        times = [e.at_ms or 0 for e in self.events]
        return StoredSession(
            id=self.name,
            agent=self.agent,
            native_id=self.name,
            origin=self.origin,
            project=self.cwd,
            cwd=self.cwd,
            branch="main",
            head_commit="",
            agent_version="",
            started_ms=min(times, default=0),
            ended_ms=max(times, default=0),
            events=tuple(self.events),
            output_by_message=self.output,
            family=self.family,
        )

    def episodes(self) -> tuple[Episode, ...]:
        return episodes_of(self.stored())


def episodes_in(sessions: Iterable[Session]) -> list[Episode]:
    return [episode for session in sessions for episode in session.episodes()]
