"""Codex (seen in 0.171.0). It looks for skills in `~/.codex/skills`; the model opens one by reading its file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from skillopt_harvesters.model import TAG
from skillopt_sleep.agents.native.command import SIGNED_OUT, Ended
from skillopt_sleep.agents.native.login import Theirs, host, keep, object_of, objects, text_of, without_renewal

LOGIN: Final = ("CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL")
CHOICE: Final = ("model", "model_provider", "model_reasoning_effort")
"""Of a person's configuration: which model they chose. The provider's own table comes along."""


class Codex:
    program = "codex"
    agent = "codex"
    skills = ".codex/skills"
    memory = ".codex/AGENTS.md"

    def argv(self, prompt: str, model: str | None, session: str, *, contained: bool) -> list[str]:
        """Its own sandbox for commands stays on where ours is not there. Its sessions name themselves."""
        walls = ["--sandbox", "danger-full-access" if contained else "workspace-write"]
        named = ["--model", model] if model else []
        return ["exec", "--json", "--skip-git-repo-check", "--ignore-rules", *walls, *named, "--", prompt]

    def sign_in(self, theirs: Theirs, home: Path) -> Mapping[str, str]:
        """`auth.json`, and which provider and model the person chose, with the variable that holds its key."""
        folder = theirs.folder("CODEX_HOME", ".codex")
        if kept := object_of(text_of(folder / "auth.json")):
            keep(home / ".codex/auth.json", json.dumps(without_renewal(kept)))
        chosen = _chosen(folder)
        keep(home / ".codex/config.toml", _toml(chosen))
        names = [str(table.get("env_key", "")) for table in _providers(chosen).values()]
        return {**theirs.named((*LOGIN, *names)), "CODEX_INTERNAL_ORIGINATOR_OVERRIDE": TAG}

    def trouble(self, ended: Ended) -> str:
        """A turn that was completed is told by an event of its own."""
        said = [one.get("type") for one in objects(ended.out)]
        if "turn.failed" in said:
            return f"its turn failed: {SIGNED_OUT}"
        if ended.status:
            return f"it ended with status {ended.status}"
        return "" if "turn.completed" in said else "it ended without completing a turn"

    def hosts(self, theirs: Theirs) -> tuple[str, ...]:
        providers = _providers(_chosen(theirs.folder("CODEX_HOME", ".codex")))
        named = [host(str(table.get("base_url", "")), "") for table in providers.values()]
        return tuple(filter(None, named)) or (
            host(theirs.environ.get("OPENAI_BASE_URL", ""), "api.openai.com"), "chatgpt.com"
        )  # fmt: skip


def _chosen(folder: Path) -> dict[str, Any]:
    """The person's choice of a model, and the one provider that it is with. Nothing where the file is no TOML."""
    try:
        found = tomllib.loads(text_of(folder / "config.toml"))
    except tomllib.TOMLDecodeError:
        return {}
    chosen = {key: found[key] for key in CHOICE if isinstance(found.get(key), str)}
    table = found.get("model_providers", {})
    provider = chosen.get("model_provider", "")
    if isinstance(table, dict) and isinstance(table.get(provider), dict):
        chosen["model_providers"] = {provider: table[provider]}
    return chosen


def _providers(chosen: Mapping[str, Any]) -> Mapping[str, dict[str, Any]]:
    found: Mapping[str, dict[str, Any]] = chosen.get("model_providers", {})
    return found


def _toml(values: Mapping[str, Any]) -> str:
    return "".join(f"{_quoted(key)} = {_value(value)}\n" for key, value in values.items())


def _value(value: Any) -> str:
    """A value of TOML on one line; dates, which no provider has, become texts."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value).lower() if isinstance(value, (bool, int, float)) else _quoted(str(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
