"""The two questions of a caller: where are transcripts, and what does one say."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType

from skillopt_harvesters.base import Harvester
from skillopt_harvesters.bytestream import open_regular, why
from skillopt_harvesters.claude_code import ClaudeCode
from skillopt_harvesters.codex import Codex
from skillopt_harvesters.copilot_cli import CopilotCli
from skillopt_harvesters.copilot_vscode import CopilotVscode
from skillopt_harvesters.cursor import CursorAgent
from skillopt_harvesters.devin import Devin
from skillopt_harvesters.gemini import Gemini
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble, Unreadable
from skillopt_harvesters.openclaw import OpenClaw
from skillopt_harvesters.opencode import OpenCode
from skillopt_harvesters.pi import Pi
from skillopt_harvesters.walk import HEAD_BYTES, entries_below, head_records, source_of

GROUP = "skillopt_sleep.harvesters"
METHODS = ("roots", "find", "recognises", "read")


def built_in() -> tuple[Harvester, ...]:
    """The harvesters that come with this package."""
    return (
        *(ClaudeCode(), Codex(), CopilotCli(), CopilotVscode()),
        *(CursorAgent(), OpenCode(), Gemini(), Pi(), OpenClaw(), Devin()),
    )


@cache
def harvesters() -> tuple[Harvester, ...]:
    """The built-in harvesters, then those that other distributions offer under the entry point group `GROUP`."""
    return (*built_in(), *further()[0])


def left_out() -> tuple[Trouble, ...]:
    """The harvesters of other distributions that cannot be used, by entry point, and why."""
    return further()[1]


@cache
def further() -> tuple[tuple[Harvester, ...], tuple[Trouble, ...]]:
    """The harvesters that other distributions offer, and those that are left out: one that is broken must not keep
    the others from being read. None takes the place of another."""
    taken = {harvester.agent for harvester in built_in()}
    found: list[Harvester] = []
    bad: list[Trouble] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            harvester = point.load()()
            reason = _unfit(harvester, taken)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others, whatever it does
            reason = f"{type(error).__name__}: {error}"
        if reason:
            bad.append(Trouble(f"plugin {point.name} ({point.value})", 0, reason))
        else:
            taken.add(harvester.agent)
            found.append(harvester)
    return tuple(found), tuple(bad)


def _unfit(harvester: object, taken: Collection[str]) -> str:
    """Why this is no harvester, "" where it is one."""
    agent = getattr(harvester, "agent", None)
    if not isinstance(agent, str) or not agent:
        return "it names no agent"
    if missing := [name for name in METHODS if not callable(getattr(harvester, name, None))]:
        return f"it has no {', '.join(missing)}"
    return f"the agent {agent} is read already" if agent in taken else ""


def harvester_of(agent: str) -> Harvester:
    """Raises KeyError for an agent that is not read."""
    for harvester in harvesters():
        if harvester.agent == agent:
            return harvester
    raise KeyError(agent)


def discover(
    home: Path,
    environ: Mapping[str, str],
    agents: Collection[str] | None = None,
    further: Mapping[str, Iterable[Path]] = MappingProxyType({}),
) -> tuple[list[Source], list[Trouble]]:
    """All sources where the agents keep them, each file once, and what could not be looked at.

    `further` are more folders by agent, laid out as the agent lays out its own.
    """
    sources: list[Source] = []
    trouble: list[Trouble] = []
    seen: dict[tuple[str, int, int], Source] = {}
    several, absent = Several(), Absent()
    for harvester in harvesters():
        if agents is not None and harvester.agent not in agents:
            continue
        for root in (*harvester.roots(home, environ), *further.get(harvester.agent, ())):
            if absent.holds(str(root)):
                continue
            for source in harvester.find(root, trouble):
                first = seen.setdefault((source.agent, source.device, source.inode), source)
                if first is source or several.is_new(source, first):
                    sources.append(source)
    return sources, trouble


class Absent:
    """Folders that are not there, each looked for once: most roots are of agents that were never installed."""

    def __init__(self) -> None:
        self._there: dict[str, bool] = {}

    def holds(self, root: str) -> bool:
        """Whether the folder two or three above a root is not there, and so neither is the root."""
        base = root.rpartition("/")[0].rpartition("/")[0]
        return bool(base) and not (self._is_there(base.rpartition("/")[0]) and self._is_there(base))

    def _is_there(self, folder: str) -> bool:
        found = self._there.get(folder)
        if found is None:
            try:
                os.stat(folder or "/")  # noqa: PTH116
                found = True
            except FileNotFoundError:
                found = False
            except (OSError, ValueError):  # said by whoever looks into it
                found = True
            self._there[folder] = found
        return found


class Several:
    """Sources of one inode by their real names: a hard link is another source, the same file behind a link is none."""

    def __init__(self) -> None:
        self._names: set[tuple[str, str]] = set()
        self._roots: dict[str, str] = {}

    def is_new(self, source: Source, first: Source) -> bool:
        """Whether a source is another than those of its inode that were seen, of which `first` was the first."""
        self._names.add((first.agent, self._real(first)))
        name = (source.agent, self._real(source))
        if name in self._names:
            return False
        self._names.add(name)
        return True

    def _real(self, source: Source) -> str:
        """`real`, with each root looked at once: below it no link to a folder is followed."""
        path, root = source.path, source.root
        link = os.path.islink(path) if source.link is None else source.link  # noqa: PTH114  # for each of an archive
        if link or not path.startswith(root + os.sep):
            return real(path)
        found = self._roots.get(root)
        if found is None:
            found = self._roots[root] = real(root)
        return found + path[len(root) :]


def discover_loose(paths: Iterable[Path]) -> tuple[list[Source], list[Trouble], list[tuple[str, str]]]:
    """Files and folders of loose transcripts, the format found by content.

    Every file is exactly one of: a source, a trouble, or (path, reason) of what is no transcript.
    """
    sources: dict[str, Source] = {}
    trouble: list[Trouble] = []
    others: list[tuple[str, str]] = []
    for path in paths:
        for name, found in loose_files(path, trouble):
            if not stat.S_ISREG(found.st_mode):
                trouble.append(Trouble(name, 0, "not a regular file"))
                continue
            verdict = recognise(name, found, str(path))
            if isinstance(verdict, Source):
                sources.setdefault(name, verdict)
            elif isinstance(verdict, Trouble):
                trouble.append(verdict)
            else:
                others.append((name, verdict))
    return list(sources.values()), trouble, others


def loose_files(path: Path, trouble: list[Trouble]) -> Iterator[tuple[str, os.stat_result]]:
    try:
        found = path.stat()
    except (OSError, ValueError) as problem:
        trouble.append(Trouble(str(path), 0, why(problem)))
        return
    if stat.S_ISDIR(found.st_mode):
        yield from entries_below(path, trouble)
    else:
        yield str(path), found


def recognise(name: str, found: os.stat_result, root: str) -> Source | Trouble | str:
    """What a loose file is; a reason if it is no transcript."""
    if not found.st_size:
        return "empty"
    try:
        fd, _ = open_regular(name)
    except Unreadable as problem:
        return Trouble(name, 0, problem.reason)
    try:
        head = os.pread(fd, HEAD_BYTES, 0)
    except OSError as problem:
        return Trouble(name, 0, why(problem))
    finally:
        os.close(fd)
    path = Path(name)
    for harvester in harvesters():
        if harvester.recognises(path, head):
            return source_of(harvester.agent, name, root, found)
    return what_else(head)


def what_else(head: bytes) -> str:
    """What a file that is no transcript is, as far as it is worth a word."""
    first = next(head_records(head, 1), None)
    if first is None:
        return "no records"
    kind = first.get("type")
    if isinstance(kind, str) and kind.startswith(("thread.", "turn.", "item.")):
        return "output of `codex exec --json`, not a rollout"
    if kind in ("started", "result") and "agentId" in first:
        return "a journal of sub-agents"
    if ("display" in first and "project" in first) or {"session_id", "ts", "text"} <= first.keys():
        return "a history of prompts, not a session"
    if kind == "system" and first.get("subtype") == "init" and "session_id" in first:
        return "output of a headless run, not a transcript"
    return "no transcript of an agent that is read"


def real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def read(source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
    """Batches of a source from the cursor on. Raises `Unreadable`; KeyError for an agent that is not read."""
    return harvester_of(source.agent).read(source, cursor)
