"""What the three command lines have in common, and the table of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from skillopt_sleep.agents.native.claude import Claude
from skillopt_sleep.agents.native.codex import Codex
from skillopt_sleep.agents.native.command import Ended
from skillopt_sleep.agents.native.copilot import Copilot
from skillopt_sleep.agents.native.login import Theirs


class Line(Protocol):
    """One agent's command line: how it is started, where it looks, what its last words mean.

    `program` is its name on the PATH, `agent` its name among the harvesters, `skills` the folder below its HOME in
    which it looks for skills, `memory` the file there that it carries whole.
    """

    program: str
    agent: str
    skills: str
    memory: str

    def argv(self, prompt: str, model: str | None, session: str, *, contained: bool) -> list[str]:
        """The arguments of one attempt. A prompt is never taken for an option. `contained`: our sandbox is around it;
        where none is, an agent's own stays on. `session` is the id that it shall have, where it can be told."""
        ...

    def sign_in(self, theirs: Theirs, home: Path) -> Mapping[str, str]:
        """Put the person's login, and nothing else of theirs, into a HOME; gives the variables that belong to it."""
        ...

    def trouble(self, ended: Ended) -> str:
        """Why a run that came to its end gave no answer, "" where it did: by status and envelope, never by words."""
        ...

    def hosts(self, theirs: Theirs) -> tuple[str, ...]:
        """`host` or `host:port` of the model that this login leads to."""
        ...


LINES: Final[Mapping[str, Line]] = {line.program: line for line in (Claude(), Codex(), Copilot())}
