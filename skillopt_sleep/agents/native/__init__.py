"""The real command lines `claude`, `codex` and `copilot` as agents that attempt tasks, each in rooms of its own.

What an attempt sees: a HOME that holds one version of one skill where that agent looks for skills, the person's login
and nothing else of theirs; and a folder to work in. What it did is read from its own transcript by the harvesters.
"""

from __future__ import annotations

from skillopt_sleep.agents.native.agent import NativeAgent, NativeSettings
from skillopt_sleep.agents.native.command import SIGNED_OUT, Command, Ended, Run
from skillopt_sleep.agents.native.lines import LINES, Line
from skillopt_sleep.agents.native.login import Theirs
from skillopt_sleep.agents.native.purse import Purse
from skillopt_sleep.agents.native.reading import Attempted, Seen
from skillopt_sleep.agents.native.rooms import beside_digest, folder_of
from skillopt_sleep.agents.native.running import run_plainly
from skillopt_sleep.agents.native.shut_in import shut_in
from skillopt_sleep.agents.native.version import program_of, version_of

__all__ = [
    "LINES",
    "SIGNED_OUT",
    "Attempted",
    "Command",
    "Ended",
    "Line",
    "NativeAgent",
    "NativeSettings",
    "Purse",
    "Run",
    "Seen",
    "Theirs",
    "beside_digest",
    "folder_of",
    "program_of",
    "run_plainly",
    "shut_in",
    "version_of",
]
