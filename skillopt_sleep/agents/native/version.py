"""Which program an agent is, and of which version: part of the key of an attempt."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from skillopt_sleep.agents.native.command import Command, Run
from skillopt_sleep.agents.native.login import Theirs
from skillopt_sleep.agents.native.rooms import rooms
from skillopt_sleep.errors import ConfigError

SECONDS: Final = 60.0
OUTPUT: Final = 1 << 16
_VERSION: Final = re.compile(rb"[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,40}")


def program_of(name: str, configured: Mapping[str, Sequence[str]], theirs: Theirs) -> tuple[str, ...]:
    """How the agent is started: as configured, else by its name. `ConfigError` where nothing of that name is there."""
    words = tuple(configured.get(name, ())) or (name,)
    found = shutil.which(words[0], path=theirs.environ.get("PATH"))
    if found is None:
        raise ConfigError(
            f"the command {words[0]} is not there",
            where=f"agents.commands.{name}",
            remedy=f'Install it, or name it in sleep.toml: [agents] commands = {{ {name} = ["PATH"] }}',
        )
    return (found, *words[1:])


@lru_cache(maxsize=8)
def version_of(command: tuple[str, ...], path: str, run: Run) -> str:
    """What `--version` says. `ConfigError` where that is no version."""
    with rooms() as room:
        environ = {"PATH": path, "HOME": str(room.home), "TMPDIR": str(room.temporary)}
        asked = Command((*command, "--version"), room.work, room.home, room.temporary, environ, SECONDS, OUTPUT)
        try:
            ended = run(asked)
        except OSError as error:
            why = error.strerror or "it cannot be started"
            raise ConfigError(why, where=command[0], remedy="Check [agents] commands in sleep.toml") from error
    found = _VERSION.search(ended.out)
    if ended.status or found is None:
        said = f"--version ended with status {ended.status}" + ("" if ended.status else " and named no version")
        raise ConfigError(said, where=command[0], remedy="Check [agents] commands in sleep.toml")
    return found[0].decode("ascii")
