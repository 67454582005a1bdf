"""One agent in one form through all its tasks, in a box and a HOME of its own; then what its transcripts gave."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillopt_harvesters import Batch, Cursor, Event, Kind, SessionFacts, Trouble, Usage, discover, read
from tests.agents_e2e import tasks
from tests.agents_e2e.agents import QUIET, Agent, session_of
from tests.agents_e2e.box import Box, Ran, wait_for
from tests.agents_e2e.terminal import Terminal

PATIENCE = 180.0
"""Seconds until a headless task must be done; the slowest takes five on a busy machine, fifteen on a crowded one."""
BEFORE = "home-before"
TYPED = (Kind.PROMPT, Kind.QUEUED, Kind.COMMAND, Kind.REJECTION)


@dataclass
class Found:
    """A session as harvested: the last event of each key, in order of time."""

    facts: SessionFacts
    events: dict[str, Event] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)

    def of(self, *kinds: Kind, helper: bool = False) -> list[Event]:
        """Events of some kinds, those of a sub-agent inside the file apart from the others."""
        chosen = (e for e in self.events.values() if e.kind in kinds and bool(e.agent_id) is helper)
        return sorted(chosen, key=lambda event: (event.at_ms or 0, event.offset))


@dataclass
class Harvested:
    """All sessions below a HOME by their ids, and all that was not understood."""

    sessions: dict[str, Found] = field(default_factory=dict)
    unknown: int = 0
    trouble: list[Trouble] = field(default_factory=list)

    def take(self, batches: Iterable[Batch]) -> Cursor | None:
        """Take what a source gives; gives where it ended."""
        cursor = None
        for batch in batches:
            found = self.sessions.setdefault(batch.session.native_id, Found(batch.session))
            found.facts, cursor = batch.session, batch.cursor
            found.events.update({event.key: event for event in batch.events})
            found.usage.update({usage.key: usage for usage in batch.usage})
            for key in batch.withdrawn:
                found.events.pop(key, None)
            self.unknown += batch.unknown
            self.trouble += batch.warnings
        return cursor

    def in_order(self) -> list[Found]:
        """Sessions of the person, the earliest first."""
        own = (found for found in self.sessions.values() if not found.facts.parent)
        return sorted(own, key=lambda found: found.facts.started_ms or 0)

    def helpers(self, session: Found) -> list[Found]:
        """The sub-agents that have a transcript of their own."""
        return [found for found in self.sessions.values() if found.facts.parent == session.facts.native_id]


@dataclass(frozen=True)
class Run:
    """`asked`: what was asked of the model. `seconds`: how long the agents took."""

    agent: Agent
    form: tasks.Form
    home: Path
    work: Path
    asked: list[dict[str, Any]]
    seconds: float

    def harvest(self) -> Harvested:
        sources, trouble = discover(self.home, {})
        harvested = Harvested(trouble=trouble)
        for source in sources:
            harvested.take(read(source))
        return harvested

    def harvest_twice(self) -> Harvested:
        """What was there before a session was gone on with, then what came after: by cursors, as two nights read it."""
        before = self.home.parent / BEFORE
        harvested = Harvested()
        cursors = {}
        for source in discover(before, {})[0]:
            cursors[Path(source.path).relative_to(before)] = harvested.take(read(source))
        assert cursors
        for source in discover(self.home, {})[0]:
            harvested.take(read(source, cursors.pop(Path(source.path).relative_to(self.home), None)))
        assert not cursors
        return harvested

    def spent(self, typed: Iterable[str]) -> list[tuple[int, int, int]]:
        """Input, output and cached tokens of each answer that the model gave within some tasks."""
        chosen = set(typed)
        given = [answer["tokens"] for answer in self.asked if answer["task"] in chosen]
        return sorted((tokens["input"], tokens["output"], tokens["cached"]) for tokens in given)


def search_path(bin_folder: Path) -> str:
    """The agents under test, node with which two of them start, and the system's programs."""
    node = shutil.which("node")
    assert node is not None, "node is not installed"
    return os.pathsep.join((str(bin_folder), str(Path(node).parent), os.defpath))


class Stage:
    """A HOME, a folder to work in, and a box with the model in it."""

    def __init__(
        self, agent: Agent, folder: Path, bin_folder: Path, script: dict[str, tasks.Steps], work: Path | None = None
    ) -> None:
        self.agent = agent
        self.folder, self.home, self.work = folder, folder / "home", work or folder / "work"
        temporary = folder / "tmp"
        for made in (self.home, self.work, temporary):
            made.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", str(self.work)], check=True)
        agent.prepare(self.home, self.work)
        self.environ = {**QUIET, **agent.environ(), "HOME": str(self.home), "PATH": search_path(bin_folder)}
        self.environ |= dict.fromkeys(("TMPDIR", "CLAUDE_CODE_TMPDIR"), str(temporary))
        self.environ["XDG_CACHE_HOME"] = str(bin_folder.parent.parent / "unpacked")
        self.box = Box(folder, script)
        self.terminals = 0

    def remember(self) -> None:
        """Keep the HOME as it is now, that is before a session is gone on with."""
        shutil.copytree(
            self.home, self.folder / BEFORE, ignore=shutil.ignore_patterns("packages", "*.socket", "*.sock")
        )

    def headless(self, prompt: str, *, leave: bool = True, session: str = "") -> Ran:
        argv = self.agent.headless(prompt, leave=leave, session=session)
        ran = self.box.run(argv, self.work, self.environ, PATIENCE)
        assert ran.code == 0, f"{ran.argv} exited {ran.code}\n{ran.out}\n{ran.err}"
        return ran

    def terminal(self, session: str = "", *, leave: bool = False) -> Terminal:
        """Each with a socket of its own: a server that is just ending must not be met by the next."""
        self.terminals += 1
        socket = self.folder / f"tmux.{self.terminals}"
        begun = Terminal(self.box, self.agent.interactive(session, leave=leave), self.work, self.environ, socket)
        self.agent.begin(begun)
        return begun


def run(agent: Agent, form: tasks.Form, folder: Path, bin_folder: Path) -> Run:
    """All tasks in one form."""
    began = time.monotonic()
    stage = Stage(agent, folder, bin_folder, tasks.script(agent.name))
    tasks.lay_out(stage.work, skills=tasks.SKILL_PLACES)
    with stage.box as box:
        {"headless": all_headless, "interactive": all_typed, "busy": typed_meanwhile}[form](stage)
        asked = box.requests()
    shutil.rmtree(stage.home / ".codex" / "packages", ignore_errors=True)  # half a gigabyte that Codex copies there
    return Run(agent, form, stage.home, stage.work, asked, time.monotonic() - began)


def all_headless(stage: Stage) -> None:
    """A process for each task; the second goes on with the session of the first."""
    looked = stage.headless(tasks.LOOK)
    stage.remember()
    stage.headless(tasks.AGAIN, session=session_of(looked.out + looked.err))
    stage.headless(tasks.TIDY, leave=False)
    stage.headless(tasks.ASK)
    stage.headless(tasks.REPORT)


def all_typed(stage: Stage) -> None:
    """One session in the terminal, left and gone on with."""
    terminal = stage.terminal()
    ask(terminal, tasks.LOOK)
    terminal.enter(tasks.TIDY)
    stage.agent.refuse(terminal, tasks.WHY)
    terminal.wait(tasks.ANSWERS[tasks.TIDY if stage.agent.name == "copilot-cli" else tasks.WHY])
    ask(terminal, tasks.ASK)
    ask(terminal, tasks.REPORT)
    said = terminal.leave()
    stage.remember()
    again = stage.terminal(session_of(said))
    ask(again, tasks.AGAIN)
    again.leave()


def typed_meanwhile(stage: Stage) -> None:
    """One session in the terminal: a prompt typed while a command runs, and a command that is stopped."""
    work = stage.work
    terminal = stage.terminal(leave=True)
    terminal.enter(tasks.WORK)
    wait_for("the command", (work / tasks.BEGUN).exists, PATIENCE)
    terminal.enter(tasks.MEANWHILE, still=0.0)
    wait_for("the prompt in the queue", lambda: bool(re.search(stage.agent.taken, terminal.screen())), PATIENCE)
    (work / tasks.GO_ON).touch()
    ends = [tasks.ANSWERS[task] for task in (tasks.WORK, tasks.MEANWHILE)]
    terminal.wait("|".join(ends) if stage.agent.name == "claude-code" else ends[1], still=2.0)
    terminal.enter(tasks.ENDLESS)
    wait_for("the endless command", (work / tasks.ENDLESSLY).exists, PATIENCE)
    stage.agent.stop(terminal)
    ask(terminal, tasks.STOP)
    terminal.leave()


def ask(terminal: Terminal, prompt: str) -> None:
    """Type a prompt and wait for the end of its turn."""
    terminal.enter(prompt)
    terminal.wait(tasks.ANSWERS[prompt], still=1.0)
