"""A command run in the sandbox: its own rooms and programs are all it sees, the hosts of its model all it reaches."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from skillopt_sleep import sandbox
from skillopt_sleep.agents.native.command import Command, Ended, Run
from skillopt_sleep.sandbox.command import MIB
from skillopt_sleep.sandbox.environment import ALLOWED

MEMORY: Final = 8192 * MIB
"""Bytes that an agent and its commands may take; the programs themselves reserve a few of them."""
PROCESSES: Final = 2048
CPU_S: Final = 7200
PACKAGES: Final = "node_modules"
STARTS: Final = ("node", "bun")
"""What the command lines are started with, where they are scripts."""
CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")


def shut_in(walls: sandbox.Sandbox) -> Run:
    """Runs commands in this sandbox. The program itself, and what it unpacked, can be read there and not changed."""

    def run(command: Command) -> Ended:
        program = Path(command.argv[0]).resolve(strict=True)
        hosts = tuple(map(sandbox.Host.parse, command.hosts))
        ran = walls.run(
            sandbox.Command(
                argv=(str(program), *command.argv[1:]),
                folder=command.folder,
                environ=command.environ,
                given={name: value for name, value in command.environ.items() if _of_its_own(name)},
                readable=tuple(dict.fromkeys((*_programs(program, command), *_certificates(command)))),
                writable=(command.temporary,),
                home=command.home,
                hosts=hosts,
                limits=sandbox.Limits(
                    deadline_s=command.seconds, cpu_s=CPU_S, memory=MEMORY, processes=PROCESSES, output=command.output
                ),
                stop=command.stop,
            )
        )
        late = ran.ended in {"deadline", "lost"}
        refused = tuple(dict.fromkeys(visit.name for visit in ran.visits if visit.refused))
        return Ended(ran.status, ran.out, ran.err, ran.seconds, late=late, cut=any(ran.cut), refused=refused)

    return run


def _of_its_own(name: str) -> bool:
    """The sandbox sees to the rest, and its proxy is the only one there."""
    return name not in ALLOWED and not name.lower().endswith("_proxy")


def _certificates(command: Command) -> Iterator[Path]:
    for name in CERTIFICATES:
        if (path := command.environ.get(name)) and Path(path).exists():
            yield Path(path)


def _programs(program: Path, command: Command) -> Iterator[Path]:
    """Where the program lies, with the packages that it needs, and whatever a link of its HOME leads to."""
    yield _whole(program)
    for name in STARTS:
        if found := shutil.which(name, path=command.environ.get("PATH")):
            yield Path(found).resolve().parent.parent
    for path in command.home.rglob("*"):
        if path.is_symlink():
            yield path.resolve()


def _whole(program: Path) -> Path:
    """The folder of all packages where it is one of them, else its own."""
    above = next((folder for folder in reversed(program.parents) if folder.name == PACKAGES), None)
    return above or program.parent
