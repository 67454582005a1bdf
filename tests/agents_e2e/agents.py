"""The three agents: how each is pointed at the scripted model, started in either form, answered and left."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tests.agents_e2e.terminal import Terminal

MODEL = "http://127.0.0.1:8901"
KEY = "key-of-nobody-0123456789-abcdefgh"
QUIET: Mapping[str, str] = {
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",
}
ASKING = ("--permission-mode", "default")
NAMED = re.compile(r'(?:session_id": ?"|thread_id": ?"|resume[= ])([0-9a-f-]{36})')


def session_of(said: str) -> str:
    """The id under which an agent says that its session can be gone on with."""
    found = NAMED.findall(said)
    assert found, said
    return str(found[-1])


class Agent(Protocol):
    """`name` is the agent's in what is harvested. `leave` says whether commands may run without a question."""

    name: str
    ready: str
    """What the screen shows where a prompt can be typed."""
    question: str
    """What it shows where leave for a command is asked for."""
    taken: str
    """What it shows once it has taken a prompt that was typed while it works."""

    def prepare(self, home: Path, work: Path) -> None:
        """Write what the agent would otherwise ask for at its first start."""
        ...

    def environ(self) -> Mapping[str, str]: ...

    def headless(self, prompt: str, *, leave: bool, session: str) -> list[str]: ...

    def interactive(self, session: str, *, leave: bool) -> list[str]: ...

    def begin(self, terminal: Terminal) -> None:
        """Get from the start to where a prompt can be typed."""
        ...

    def refuse(self, terminal: Terminal, why: str) -> None:
        """Answer a question with no, and say why."""
        ...

    def stop(self, terminal: Terminal) -> None:
        """Stop what the agent is doing."""
        ...


def choose_no(terminal: Terminal, question: str, done: str) -> None:
    """Press the number of the answer no until it is seen to be done: a key may come before the question listens."""
    number = re.findall(r"(\d)\. No\b", terminal.wait(question))[-1]
    terminal.press_until([number], question, done.format(number))


class ClaudeCode:
    name = "claude-code"
    ready = r"(?m)^❯"
    question = r"Do you want to proceed\?"
    taken = "edit queued messages"

    def prepare(self, home: Path, work: Path) -> None:
        known = {"approved": [KEY[-20:]], "rejected": []}
        trusted = {str(work): {"hasTrustDialogAccepted": True}}
        settings = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": known}
        (home / ".claude.json").write_text(json.dumps({**settings, "projects": trusted}), encoding="utf-8")

    def environ(self) -> Mapping[str, str]:
        return {"ANTHROPIC_BASE_URL": MODEL, "ANTHROPIC_API_KEY": KEY}

    def headless(self, prompt: str, *, leave: bool, session: str) -> list[str]:
        allowed = ["--allowedTools", "Bash"] if leave else []
        again = ["--resume", session] if session else []
        return ["claude", "-p", prompt, "--output-format", "json", *ASKING, *allowed, *again]

    def interactive(self, session: str, *, leave: bool) -> list[str]:
        allowed = ["--allowedTools", "Bash"] if leave else []
        return ["claude", *(["--resume", session] if session else []), *ASKING, *allowed]

    def begin(self, terminal: Terminal) -> None:
        terminal.wait(self.ready)

    def refuse(self, terminal: Terminal, why: str) -> None:
        choose_no(terminal, self.question, "Interrupted")
        terminal.enter(why)

    def stop(self, terminal: Terminal) -> None:
        terminal.press_until(["Escape"], "esc to interrupt", "Interrupted")


class Codex:
    name = "codex"
    ready = r"(?m)^› "
    question = r"Would you like to run the following command\?"
    taken = "Messages to be submitted"

    def prepare(self, home: Path, work: Path) -> None:
        folder = home / ".codex"
        folder.mkdir()
        provider = f'name = "scripted"\nbase_url = "{MODEL}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n'
        chosen = 'model = "scripted-model"\nmodel_provider = "scripted"\n'
        trusted = f'[projects."{work}"]\ntrust_level = "trusted"\n'
        apart = "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n"
        text = f"{chosen}[model_providers.scripted]\n{provider}{trusted}{apart}"  # else it leaves /tmp/.git behind
        (folder / "config.toml").write_text(text, encoding="utf-8")

    def environ(self) -> Mapping[str, str]:
        return {"SCRIPTED_KEY": KEY}

    def headless(self, prompt: str, *, leave: bool, session: str) -> list[str]:
        sandbox = "danger-full-access" if leave else "read-only"
        again = ["resume", session] if session else []
        return ["codex", "exec", "--json", "--sandbox", sandbox, *again, prompt]

    def interactive(self, session: str, *, leave: bool) -> list[str]:
        again = ["resume", session] if session else []
        return ["codex", *again, "--sandbox", "workspace-write", "--ask-for-approval", "on-request"]

    def begin(self, terminal: Terminal) -> None:
        terminal.wait(self.ready)

    def refuse(self, terminal: Terminal, why: str) -> None:
        choose_no(terminal, self.question, "interrupted")
        terminal.enter(why)

    def stop(self, terminal: Terminal) -> None:
        terminal.press_until(["Escape"], "esc to interrupt", "interrupted")


class CopilotCli:
    name = "copilot-cli"
    ready = r"(?m)^❯"
    question = r"Do you want to run this command\?"
    taken = r"(?m)^❯\s*$"
    trust = "Do you trust the files in this folder"

    def prepare(self, home: Path, work: Path) -> None:
        """Nothing: what it asks at its start is answered there."""

    def environ(self) -> Mapping[str, str]:
        provider = {"BASE_URL": f"{MODEL}/v1", "TYPE": "openai", "API_KEY": KEY}
        named = {f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()}
        return {**named, "COPILOT_MODEL": "scripted-model", "COPILOT_OFFLINE": "true"}

    def headless(self, prompt: str, *, leave: bool, session: str) -> list[str]:
        allowed = ["--allow-all-tools"] if leave else []
        again = [f"--resume={session}"] if session else []
        return ["copilot", "-p", prompt, *allowed, *again]

    def interactive(self, session: str, *, leave: bool) -> list[str]:
        allowed = [word for name in ("cat", "wc") for word in ("--allow-tool", f"shell({name})")]
        allowed = ["--allow-all-tools"] if leave else allowed
        return ["copilot", *allowed, *([f"--resume={session}"] if session else [])]

    def begin(self, terminal: Terminal) -> None:
        terminal.wait(self.trust)
        terminal.press_until(["Enter"], self.trust, self.ready)

    def refuse(self, terminal: Terminal, why: str) -> None:
        choose_no(terminal, self.question, r"❯ {}\. No")
        terminal.enter(why)

    def stop(self, terminal: Terminal) -> None:
        terminal.press_until(["Escape", "Escape"], "esc interrupt", "cancelled by user")


AGENTS: tuple[Agent, ...] = (ClaudeCode(), Codex(), CopilotCli())
