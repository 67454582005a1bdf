"""Skills that an agent opened, seen in its calls: the Skill tool, or a SKILL.md that it read."""

from __future__ import annotations

import msgspec

from skillopt_harvesters.jsonl import REFUSED
from skillopt_harvesters.model import Author, Event, Kind

SKILL_TOOLS = {"Skill", "skill"}
READ_TOOLS = {"Read", "view", "read_file", "copilot_readFile"}
SHELL_TOOLS = {"Bash", "bash", "shell", "exec_command", "shell_command", "local_shell", "run_in_terminal", "powershell"}
READERS = ("cat ", "sed ", "head ", "less ", "bat ", "nl ", "type ", "Get-Content ")
FILE = "SKILL.md"


class SkillCall(msgspec.Struct):
    skill: str | None = None
    command: str | None = None
    name: str | None = None


_skill_call = msgspec.json.Decoder(SkillCall)


def skill_event(call: Event) -> Event | None:
    """A SKILL event for a successful call that opened a skill."""
    if call.tool in SKILL_TOOLS:
        try:
            arguments = _skill_call.decode(call.arguments)
        except REFUSED:
            return None
        name = arguments.skill or arguments.command or arguments.name
    elif FILE in call.arguments and opens(call):
        name = folder_of(call.arguments)
    else:
        return None
    if not name:
        return None
    event = msgspec.structs.replace(call, key=f"{call.key}:skill", kind=Kind.SKILL, author=Author.AGENT, tool=name)
    return msgspec.structs.replace(event, arguments="", outcome=None, head="opened")


def opens(call: Event) -> bool:
    if call.tool in SHELL_TOOLS:
        return any(reader in call.arguments for reader in READERS)
    return call.tool in READ_TOOLS


def folder_of(arguments: str) -> str:
    """The name of the folder in which a SKILL.md that is named in a call's arguments stands."""
    path = arguments[: arguments.find(FILE)].replace("\\\\", "/")
    if not path.endswith("/"):
        return ""
    folder = path[:-1]
    for i in range(len(folder) - 1, -1, -1):
        if folder[i] in "/ \"'\\\n\t=":
            return folder[i + 1 :]
    return folder
