"""Claude Code (seen in 2.1.197). It looks for skills in `~/.claude/skills` and has a tool, Skill, that opens one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from skillopt_harvesters.model import TAG
from skillopt_sleep.agents.native.command import SIGNED_OUT, Ended
from skillopt_sleep.agents.native.login import Theirs, host, keep, object_of, objects, text_of, without_renewal

LOGIN: Final = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL", "CLAUDE_CODE_OAUTH_TOKEN",
)  # fmt: skip
QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ENTRYPOINT": TAG,
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
TOOLS: Final = "Bash,Edit,MultiEdit,NotebookEdit,Read,Glob,Grep,Skill,Task,TodoWrite,Write"
"""What it may use without a question: everything that stays in its folder. The web is not among them."""
NO_HOOKS: Final = '{"disableAllHooks": true}'
CREDENTIALS: Final = ".credentials.json"


class Claude:
    program = "claude"
    agent = "claude-code"
    skills = ".claude/skills"
    memory = ".claude/CLAUDE.md"

    def argv(self, prompt: str, model: str | None, session: str, *, contained: bool) -> list[str]:
        """Memory and skills of the project are read, its hooks and servers are not started."""
        apart = ["--setting-sources", "user,project", "--settings", NO_HOOKS, "--strict-mcp-config"]
        leave = ["--permission-mode", "acceptEdits", f"--allowedTools={TOOLS}"]
        named = ["--model", model] if model else []
        return ["-p", "--output-format", "json", "--session-id", session, *apart, *leave, *named, "--", prompt]

    def sign_in(self, theirs: Theirs, home: Path) -> Mapping[str, str]:
        """Keys of the environment, or the subscription's token from the folder in which Claude Code keeps it."""
        kept = object_of(text_of(theirs.folder("CLAUDE_CONFIG_DIR", ".claude") / CREDENTIALS))
        if kept:
            keep(home / ".claude" / CREDENTIALS, json.dumps(without_renewal(kept)))
        return {**theirs.named(LOGIN), **QUIET}

    def trouble(self, ended: Ended) -> str:
        """Its last words are one object; `subtype` says success also where the call was refused."""
        found = next((one for one in reversed(list(objects(ended.out))) if one.get("type") == "result"), None)
        if found is None:
            return f"it ended with status {ended.status} and without a result"
        status = found.get("api_error_status")
        if isinstance(status, int):
            return f"the model's server said HTTP {status}"
        if found.get("is_error") is not False or found.get("subtype") != "success":
            reached = found.get("duration_api_ms")
            return "it reported an error" if reached else f"it asked no model: {SIGNED_OUT}"
        if found.get("stop_reason") in {"max_tokens", "refusal"}:
            return "the answer was cut off or refused"
        return f"it ended with status {ended.status}" if ended.status else ""

    def hosts(self, theirs: Theirs) -> tuple[str, ...]:
        return (host(theirs.environ.get("ANTHROPIC_BASE_URL", ""), "api.anthropic.com"),)
