"""How the agents' command lines complete a prompt: without tools, what they are told and what their last words mean.

Seen in Claude Code 2.1.197, Codex 0.171.0 and Copilot CLI 1.0.102. Errors are told by statuses, envelopes and events;
usage by the agents' own figures. Who starts them, and where, is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from skillopt_sleep.budget import Usage
from skillopt_sleep.errors import ConfigError, ModelError, NotSignedIn
from skillopt_sleep.models.base import FIRST_PAUSE_S, CallFailed, Reply
from skillopt_sleep.models.wire import by_status, whole

LONGEST_PROMPT: Final = 120_000
"""Bytes of a prompt: Linux lets one argument have 128 KiB."""
SYSTEM: Final = "You complete one prompt with text alone. You have no tools."
_CODEX_OFF: Final = (
    "shell_tool", "unified_exec", "multi_agent", "apps", "plugins", "goals", "view_image", "image_generation",
    "browser_use", "computer_use", "hooks", "unbounded_connection_retries",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spoke:
    """What came of one start: its exit status, its streams, and the notes on usage that it was told to leave."""

    status: int
    out: bytes
    notes: str = ""


class CommandLine(Protocol):
    """One agent. `efforts` are the degrees that it knows."""

    program: str
    efforts: tuple[str, ...]

    def argv(self, prompt: str, model: str | None, effort: str | None, folder: Path) -> list[str]:
        """The arguments that ask one prompt and nothing else. `folder` is its own, for what goes by file."""
        ...

    def environ(self, max_output: int) -> Mapping[str, str]: ...

    def reply(self, spoke: Spoke, where: str) -> Reply:
        """The answer. Raises `CallFailed`, `NotSignedIn`, `ModelError`."""
        ...


class Claude:
    program = "claude"
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max")

    def argv(self, prompt: str, model: str | None, effort: str | None, folder: Path) -> list[str]:
        bare = ["--tools", "", "--setting-sources", "", "--settings", '{"disableAllHooks": true}']
        bare += ["--strict-mcp-config", "--no-session-persistence", "--disable-slash-commands"]
        named = [*(["--model", model] if model else []), *(["--effort", effort] if effort else [])]
        return [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            *bare,
            *named,
            "--system-prompt",
            SYSTEM,
            "--",
            prompt,
        ]

    def environ(self, max_output: int) -> Mapping[str, str]:
        """One answer of so many tokens, and no retry of its own: that is ours."""
        return {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_output), "CLAUDE_CODE_MAX_RETRIES": "0"}

    def reply(self, spoke: Spoke, where: str) -> Reply:
        """Its last event is the result, whose `subtype` says success also where the call was refused; what went wrong
        is the type in an event before it."""
        found = _last(spoke.out, "result")
        if found is None:
            raise CallFailed(f"it ended with status {spoke.status} and without a result", "all")
        if isinstance(status := found.get("api_error_status"), int):
            raise by_status(status, where, {}, remedy=_sign_in(self.program))
        if found.get("is_error") is not False or found.get("subtype") != "success":
            raise _claude_error(_text((_last(spoke.out, "assistant") or {}).get("error")))
        stopped = found.get("stop_reason")
        return Reply(
            _text(found.get("result")), _claude_usage(found), truncated=stopped == "max_tokens",
            refused=stopped == "refusal",
        )  # fmt: skip


class Codex:
    program = "codex"
    efforts: tuple[str, ...] = ("none", "minimal", "low", "medium", "high", "xhigh")

    def argv(self, prompt: str, model: str | None, effort: str | None, folder: Path) -> list[str]:
        told = folder / "instructions.md"
        told.write_text(SYSTEM, encoding="utf-8")
        settings = [f"features.{name}=false" for name in _CODEX_OFF]
        settings += ["project_doc_max_bytes=0", 'web_search="disabled"']
        settings += [f"model_instructions_file={json.dumps(str(told))}"]
        settings += [f"model_reasoning_effort={json.dumps(effort)}"] if effort else []
        bare = ["--skip-git-repo-check", "--ignore-rules", "--ephemeral", "--sandbox", "read-only"]
        named = ["--model", model] if model else []
        given = [word for setting in settings for word in ("-c", setting)]
        return ["exec", "--json", *bare, *given, *named, "--", prompt]

    def environ(self, max_output: int) -> Mapping[str, str]:
        return {}

    def reply(self, spoke: Spoke, where: str) -> Reply:
        """A turn that was completed is told by an event of its own, with its usage."""
        events = list(_objects(spoke.out))
        done = next((one for one in reversed(events) if one.get("type") == "turn.completed"), None)
        if done is None or spoke.status:
            raise CallFailed(f"it ended with status {spoke.status} and without completing a turn", "all")
        items = [one.get("item") for one in events if one.get("type") == "item.completed"]
        said = [item.get("text") for item in items if isinstance(item, dict) and item.get("type") == "agent_message"]
        used = _part(done, "usage")
        return Reply(
            _text(said[-1] if said else ""), Usage(whole(used.get("input_tokens")), whole(used.get("output_tokens")))
        )


class Copilot:
    program = "copilot"
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh")

    def argv(self, prompt: str, model: str | None, effort: str | None, folder: Path) -> list[str]:
        """A list of tools that are let in, in which there is none that exists."""
        bare = ["--available-tools=no-tool-at-all", "--no-custom-instructions", "--disable-builtin-mcps"]
        bare += ["--no-ask-user", "--no-auto-update", "--disable-client-telemetry"]
        named = [*([f"--model={model}"] if model else []), *([f"--reasoning-effort={effort}"] if effort else [])]
        notes = [f"--usage-output-file={notes_of(folder)}"]
        return [f"--prompt={prompt}", "--output-format", "json", *bare, *notes, *named]

    def environ(self, max_output: int) -> Mapping[str, str]:
        return {}

    def reply(self, spoke: Spoke, where: str) -> Reply:
        """Its last event names its exit code, the file of notes its usage."""
        found = _last(spoke.out, "result")
        if found is None and spoke.status:
            said = f"it ended with status {spoke.status} before it began"
            raise NotSignedIn(said, where=self.program, remedy=_sign_in(self.program))
        if found is None or spoke.status or found.get("exitCode") != 0:
            raise CallFailed(f"it ended with status {spoke.status} and without a result", "all")
        message = _part(_last(spoke.out, "assistant.message") or {}, "data")
        return Reply(_text(message.get("content")), _copilot_usage(spoke.notes))


COMMAND_LINES: Final[Mapping[str, CommandLine]] = {one.program: one for one in (Claude(), Codex(), Copilot())}


def notes_of(folder: Path) -> Path:
    """Where an agent leaves its notes on usage."""
    return folder / "usage.json"


def must_know(line: CommandLine, effort: str | None) -> None:
    """Raises `ConfigError` for an effort that the agent does not know."""
    if effort is not None and effort not in line.efforts:
        known = ", ".join(line.efforts)
        raise ConfigError(f"{line.program} knows no effort {effort!r}", where="models", remedy=f"It knows {known}")


def _sign_in(program: str) -> str:
    return f"Start `{program}` yourself once and sign in"


def _claude_error(kind: str) -> Exception:
    """What an error of Claude Code is by its type, where the model's server named no status."""
    if kind in {"authentication_failed", "oauth_org_not_allowed"}:
        return NotSignedIn("it is not signed in", where="claude", remedy=_sign_in("claude"))
    if kind == "billing_error":
        return ModelError("the account has nothing left to spend", where="claude", remedy="Look at its plan")
    passing = kind in {"server_error", "rate_limit", "overloaded"}
    known = kind if kind.replace("_", "").isalpha() else "of no known type"
    return CallFailed(f"it reported an error ({known[:40]})", "all", FIRST_PAUSE_S if passing else None)


def _claude_usage(found: Mapping[str, Any]) -> Usage:
    """Of all models that it asked: beside the one that answered it may ask a small one."""
    each = [one for one in _part(found, "modelUsage").values() if isinstance(one, dict)]
    if each:
        names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        return Usage(
            _sum(one.get(name) for one in each for name in names), _sum(one.get("outputTokens") for one in each)
        )
    used = _part(found, "usage")
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return Usage(_sum(used.get(name) for name in names), whole(used.get("output_tokens")))


def _copilot_usage(notes: str) -> Usage | None:
    each = [_part(one, "usage") for one in _part(_object(notes), "modelMetrics").values() if isinstance(one, dict)]
    if not each:
        return None
    return Usage(_sum(one.get("inputTokens") for one in each), _sum(one.get("outputTokens") for one in each))


def _sum(figures: Iterator[Any] | Any) -> int | None:
    known = [figure for one in figures if (figure := whole(one)) is not None]
    return sum(known) if known else None


def _last(out: bytes, kind: str) -> dict[str, Any] | None:
    return next((one for one in reversed(list(_objects(out))) if one.get("type") == kind), None)


def _objects(out: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects among the lines of what was said."""
    for line in out.decode("utf-8", "replace").split("\n"):
        if line.startswith("{") and (found := _object(line)):
            yield found


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _part(whole_: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = whole_.get(key)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
