"""The tools of an attempt: shell, read and write in the task's own folder, shut in; and tools that only have a name.

What a command prints is a stranger's: it is capped, redacted and handed on as data. Files are read and written without
following links, and only while no command of the attempt is alive.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from threading import BoundedSemaphore
from typing import Final

from skillopt_core.types import Task
from skillopt_sleep import sandbox
from skillopt_sleep.agents.native.files import Left, NotJudged
from skillopt_sleep.agents.native.reading import Attempted
from skillopt_sleep.agents.native.rooms import rooms
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.errors import UsageError
from skillopt_sleep.log import one_line
from skillopt_sleep.models.conversing import Result, Tool, ToolCall
from skillopt_sleep.redact import Redacted
from skillopt_sleep.sandbox.command import MIB
from skillopt_sleep.sandbox.folders import TooLarge, must_fit

MOST_SHOWN: Final = 16_000
"""Characters of what a tool gave that the model is shown: the first half and the last."""
COMMAND_S: Final = 120.0
"""Deadline of one command."""
MOST_LEFT: Final = 256 * MIB
"""Bytes that the folder may hold after a command."""
_NAMES: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What both SDKs' providers let a tool be called."""


def _tool(name: str, description: str, **parameters: str) -> Tool:
    """A tool whose arguments are texts, all of them needed."""
    properties = {one: {"type": "string", "description": what} for one, what in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters), "additionalProperties": False}
    return Tool(name, description, schema)


SHELL: Final = _tool(
    "shell",
    "Runs a command in your working folder and gives its exit status and what it printed. There is no network, and "
    "nothing that a command starts lives on after it.",
    command="What sh is given.",
)
READ: Final = _tool("read", "Gives the text of a file in your working folder.", path="A relative path.")
WRITE: Final = _tool(
    "write",
    "Writes a whole file in your working folder; folders on the way are made.",
    path="A relative path.",
    content="The text of the file.",
)
OURS: Final = (SHELL, READ, WRITE)


@dataclass(frozen=True, slots=True)
class Offer:
    """What a task's attempts are offered: a folder with shell, read and write, and tools that only have a name."""

    folder: bool = False
    named: tuple[str, ...] = ()


class Spoilt(Exception):
    """The attempt cannot go on, and nobody is to blame for it but the room it was in: missing data."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where attempts with tools are made. `offer` says what a task's attempts get, `lay_out` what is there at first."""

    walls: sandbox.Sandbox
    lay_out: Callable[[Task, Path], None]
    offer: Callable[[Task], Offer]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    stop: Callable[[], bool] = lambda: False
    _cores: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(os.cpu_count() or 1))

    @contextmanager
    def opened(self, task: Task, offer: Offer, until: float) -> Iterator[Toolbox]:
        """The tools of one attempt, and its folder until it was judged. `until` on the monotonic clock. OSError."""
        named = tuple(_named(name, task) for name in offer.named)
        if not offer.folder:
            yield Toolbox(named, None)
            return
        with rooms() as room:
            self.lay_out(task, room.work)
            folder = Folder(self.walls, room.work, self.environ, self._cores, self.stop, until)
            yield Toolbox((*OURS, *named), folder)


class Toolbox:
    """Does what the model asks for. `called` are the names of the tools that were called, in order."""

    def __init__(self, tools: Sequence[Tool], folder: Folder | None) -> None:
        self.tools = tuple(tools)
        self.called: list[str] = []
        self.errors = 0
        self._folder = folder

    def answer(self, text: str) -> Answer:
        """What is judged: the last words, the calls, and what the folder holds, where there is one."""
        if self._folder is None:
            return Answer(text, tuple(self.called))
        return Attempted(text, tuple(self.called), Left(self._folder.path), folder=self._folder.path)

    def use(self, call: ToolCall, clean: Callable[[str], Redacted]) -> Result:
        """What a call came to. Raises `Spoilt`."""
        known = {tool.name: tool for tool in self.tools}
        if call.name not in known:
            return self._failed(call, f"There is no tool {call.name[:80]!r}.")
        self.called.append(call.name)
        wanted = known[call.name].parameters["required"]
        given = call.arguments or {}
        if call.arguments is None or any(not isinstance(given.get(name), str) for name in _list(wanted)):
            return self._failed(call, f"Its arguments are an object with {', '.join(_list(wanted))}, each a text.")
        if self._folder is None or call.name not in {tool.name for tool in OURS}:
            return Result(call, Redacted("Nothing came back: here the tool has a name alone."))
        text, failed = self._folder.do(call.name, {name: str(given[name]) for name in _list(wanted)})
        self.errors += failed
        return Result(call, clean(shortened(text)), failed)

    def _failed(self, call: ToolCall, why: str) -> Result:
        self.errors += 1
        return Result(call, Redacted(one_line(why)), failed=True)


class Folder:
    """The folder of one attempt: what is done in it. Each command is shut in, and dead when it is done."""

    def __init__(
        self,
        walls: sandbox.Sandbox,
        path: Path,
        environ: Mapping[str, str],
        cores: BoundedSemaphore,
        stop: Callable[[], bool],
        until: float,
    ) -> None:
        self.path = path
        self._walls = walls
        self._environ = environ
        self._cores = cores
        self._stop = stop
        self._until = until

    def do(self, name: str, given: Mapping[str, str]) -> tuple[str, bool]:
        """What came of it, and whether it failed. Raises `Spoilt`."""
        if name == SHELL.name:
            return self._run(given["command"])
        try:
            path = inside(given["path"], self.path)
            if name == WRITE.name:
                put(self.path, path, given["content"].encode("utf-8", "replace"))
                return "Written.", False
            return Left(self.path)[path].decode("utf-8", "replace"), False
        except KeyError:
            return "There is no such file.", True
        except NotJudged as error:
            return f"It cannot be read: {error}.", True
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            return f"It could not be done: {why}.", True

    def _run(self, command: str) -> tuple[str, bool]:
        if "\0" in command or len(command.encode("utf-8", "replace")) > 100_000:
            return "No command is that long, or holds a zero byte.", True
        with self._cores:
            limits = sandbox.Limits(
                deadline_s=min(COMMAND_S, max(self._until - time.monotonic(), 1.0)), cpu_s=int(COMMAND_S),
                memory=1024 * MIB, scratch=256 * MIB, file=64 * MIB, processes=128, output=MIB // 16, flood=64 * MIB,
            )  # fmt: skip
            ran = self._walls.run(
                sandbox.Command(
                    argv=("sh", "-c", command), folder=self.path, environ=self._environ, limits=limits, stop=self._stop
                )
            )
        if ran.ended == "lost":
            raise Spoilt("the sandbox of a command broke down")
        try:
            must_fit(self.path, MOST_LEFT)
        except TooLarge as error:
            raise Spoilt(str(error)) from error
        except OSError:
            pass  # what it may not look into itself
        return _told(ran), bool(ran.status)


def shortened(text: str) -> str:
    """The first half and the last of what is too long to be shown."""
    if len(text) <= MOST_SHOWN:
        return text
    left_out = len(text) - MOST_SHOWN
    return f"{text[: MOST_SHOWN // 2]}\n[... {left_out} characters left out ...]\n{text[-MOST_SHOWN // 2 :]}"


def inside(text: str, folder: Path) -> str:
    """A path relative to the folder, also where it was written from the root. ValueError for one that leads out."""
    path = PurePosixPath(text.strip())
    path = path.relative_to(folder) if path.is_relative_to(folder) else path
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in text or path.parts[0] == ".git":
        raise ValueError("the path leads out of the working folder")
    return str(path)


def put(folder: Path, path: str, content: bytes) -> None:
    """Write a file below the folder, following no link on the way. Raises OSError."""
    *parents, name = path.split("/")
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parents:
            try:
                os.mkdir(part, 0o755, dir_fd=here)
            except FileExistsError:
                pass
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644, dir_fd=here)
        with os.fdopen(file, "wb") as opened:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(0, "it is no file")
            opened.truncate(0)
            opened.write(content)
    finally:
        os.close(here)


def _told(ran: sandbox.Ran) -> str:
    parts = [stream.decode("utf-8", "replace").replace("\0", "").rstrip("\n") for stream in (ran.out, ran.err)]
    how = f"exit status {ran.status}" + (f", ended: {ran.ended}" if ran.ended else "")
    return "\n".join([*filter(None, parts), f"[{how}]"])


def _named(name: str, task: Task) -> Tool:
    if not _NAMES.fullmatch(name):
        why = f"a check names the tool {name!r}, as no model can be offered one"
        raise UsageError(one_line(why), where=one_line(task.id), remedy="Use up to 64 letters, digits, _ and -")
    return _tool(name, "Does what its name says.", input="What it is given.")


def _list(given: object) -> list[str]:
    return [str(one) for one in given] if isinstance(given, list) else []
