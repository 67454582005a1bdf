"""Copilot CLI (seen in 1.0.102). It looks for skills in `~/.copilot/skills` and has a tool, skill, that opens one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from skillopt_sleep.agents.native.command import SIGNED_OUT, Ended
from skillopt_sleep.agents.native.login import Theirs, host, keep, object_of, objects, text_of, without_renewal

LOGIN: Final = (
    "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_GH_HOST", "COPILOT_MODEL",
    "COPILOT_OFFLINE", "COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_AZURE_API_VERSION",
    "COPILOT_PROVIDER_MODEL_ID", "COPILOT_PROVIDER_WIRE_MODEL", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS",
    "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", "COPILOT_PROVIDER_HEADERS",
)  # fmt: skip
QUIET: Final = {"COPILOT_AUTO_UPDATE": "false"}
SIGNED_IN: Final = ("copilot_tokens", "copilotTokens", "logged_in_users", "loggedInUsers", "last_logged_in_user",
                    "lastLoggedInUser")  # fmt: skip
"""Of its configuration: who is signed in, where the machine has no keychain."""
GITHUB: Final = (
    "api.github.com", "github.com", "api.githubcopilot.com", "api.individual.githubcopilot.com",
    "api.business.githubcopilot.com", "api.enterprise.githubcopilot.com",
)  # fmt: skip


class Copilot:
    program = "copilot"
    agent = "copilot-cli"
    skills = ".copilot/skills"
    memory = ".copilot/copilot-instructions.md"

    def argv(self, prompt: str, model: str | None, session: str, *, contained: bool) -> list[str]:
        """The prompt is one word with its option. Its own servers are left out; in our sandbox any path will do."""
        apart = ["--disable-builtin-mcps", "--no-ask-user", "--disable-client-telemetry"]
        named = [f"--model={model}"] if model else []
        said = ["--output-format", "json", f"--session-id={session}"]
        leave = ["--allow-all-tools", *(["--allow-all-paths"] if contained else [])]
        return [f"--prompt={prompt}", *leave, *said, *apart, *named]

    def sign_in(self, theirs: Theirs, home: Path) -> Mapping[str, str]:
        """Tokens of the environment, or who is signed in by its configuration. What it unpacked once is used again."""
        config = object_of(text_of(theirs.folder("COPILOT_HOME", ".copilot") / "config.json"))
        kept = {key: config[key] for key in SIGNED_IN if key in config}
        if kept:
            keep(home / ".copilot/config.json", json.dumps(without_renewal(kept)))
        unpacked = theirs.folder("XDG_CACHE_HOME", ".cache") / "copilot"
        if unpacked.is_dir():
            (home / ".cache").mkdir(mode=0o700)
            (home / ".cache/copilot").symlink_to(unpacked)
        return {**theirs.named(LOGIN), **QUIET}

    def trouble(self, ended: Ended) -> str:
        """Its last event names its exit code."""
        found = next((one for one in reversed(list(objects(ended.out))) if one.get("type") == "result"), None)
        if ended.status:
            return f"it ended with status {ended.status}" + ("" if found else f" before it began: {SIGNED_OUT}")
        if found is None:
            return "it ended without a result"
        code = found.get("exitCode")
        return "" if code == 0 else f"it ended with code {code}"

    def hosts(self, theirs: Theirs) -> tuple[str, ...]:
        own = theirs.environ.get("COPILOT_PROVIDER_BASE_URL", "")
        return (host(own, ""),) if own else GITHUB
