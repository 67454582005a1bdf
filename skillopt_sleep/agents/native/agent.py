"""The environment in which a real agent attempts tasks: one process an attempt, in rooms of its own."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.agents.native.command import Command, Ended, Run
from skillopt_sleep.agents.native.files import Left, NotJudged
from skillopt_sleep.agents.native.lines import Line
from skillopt_sleep.agents.native.login import Theirs
from skillopt_sleep.agents.native.metering import Meter
from skillopt_sleep.agents.native.purse import Pay, Purse
from skillopt_sleep.agents.native.reading import Attempted, Seen, seen
from skillopt_sleep.agents.native.rooms import Rooms, clear_namesakes, install, name_of, remember, rooms
from skillopt_sleep.budget import Budget
from skillopt_sleep.log import one_line

OUTPUT: Final = 8 << 20
"""Bytes that are kept of what an agent says: its last words are the verdict, its transcript tells the rest."""
MOST_HOSTS: Final = 5
"""Hosts that are named where a run failed and was refused some."""
GIVEN: Final = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "HTTP_PROXY",
    "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip
"""Of the person's environment; beside it only what belongs to the agent's login."""

Judge = Callable[[Task, Attempted], Score | Missing]
"""Says how an answer did, or why it could not be judged. Its rooms are still there."""
LayOut = Callable[[Task, Path], None]
"""Puts what a task starts from into an empty folder. Raises OSError where that cannot be had."""
Noted = Callable[[Task, Skill, int, str], None]
"""Told which session of its agent an attempt (task, text, draw) was, so that no harvest takes it for a person's."""


@dataclass(frozen=True, slots=True)
class NativeSettings:
    """How attempts are run. `command` starts the agent; `contained`: what runs it is a sandbox of ours.

    `beside` names the folder whose files come along with a skill. `parallel` is capped at the number of cores: a start
    alone costs seconds of one. `deterministic`: its model answers the same question the same way. `memory`: the text is
    no skill, but what stands in the memory file that the agent carries whole.
    """

    command: tuple[str, ...]
    model: str | None = None
    seconds: float = 600.0
    parallel: int = 2
    contained: bool = False
    beside: Callable[[Skill], Path | None] = lambda _: None
    deterministic: bool = False
    memory: bool = False

    @property
    def at_once(self) -> int:
        return max(1, min(self.parallel, os.cpu_count() or 1))


class NativeAgent:
    """Implements the core's `Environment`.

    A run that failed, was late, signed out, empty or cut off is `Missing`, never a score. `Score.objectives` gains
    tokens (output, by the agent's own figures), tool_calls, tool_errors and seconds. Raises `Exhausted` before attempts
    that the budget cannot cover, and `UsageError` for a text that no agent could be shown.
    """

    def __init__(
        self,
        line: Line,
        settings: NativeSettings,
        theirs: Theirs,
        judge: Judge,
        lay_out: LayOut,
        *,
        run: Run,
        noted: Noted | None = None,
        purse: Purse | None = None,
    ) -> None:
        self._line = line
        self._settings = settings
        self._theirs = theirs
        self._judge = judge
        self._lay_out = lay_out
        self._run = run
        self._noted = noted
        self._purse = purse or Purse()

    @property
    def deterministic(self) -> bool:
        return self._settings.deterministic

    @property
    def model(self) -> str:
        """The name under which its attempts are paid for."""
        return self._settings.model or self._line.program

    def paid_from(self, budget: Budget) -> NativeAgent:
        """The same, its attempts paid for out of a budget."""
        return NativeAgent(
            self._line, self._settings, self._theirs, self._judge, self._lay_out, run=self._run, noted=self._noted,
            purse=Purse(budget, self.model),
        )  # fmt: skip

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One judged attempt a task, in order, as many at a time as are allowed."""
        if not self._settings.memory:
            name_of(skill)
        answers: list[Trajectory | Missing] = []
        for start in range(0, len(tasks), self._settings.at_once):
            some = slice(start, start + self._settings.at_once)
            answers += self._together(tasks[some], skill, draws[some])
        return answers

    def _together(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> list[Trajectory | Missing]:
        """All of them paid for before the first begins; all of them ended where we are told to end."""
        stop = threading.Event()
        with self._purse.open(len(tasks)) as paid, ThreadPoolExecutor(len(tasks)) as pool:
            begun: list[Future[Trajectory | Missing]] = [
                pool.submit(self._attempt, task, skill, draw, pay, stop)
                for task, draw, pay in zip(tasks, draws, paid, strict=True)
            ]
            try:
                wait(begun, return_when=FIRST_EXCEPTION)
            finally:
                stop.set()
        return [one.result() for one in begun]

    def _attempt(self, task: Task, skill: Skill, draw: int, pay: Pay, stop: threading.Event) -> Trajectory | Missing:
        ended: Ended | None = None
        with rooms() as room:
            meter = Meter(self._line.agent, room.home, pay.passed)
            try:
                self._lay_out(task, room.work)
                name, file = self._install(skill, room)
                ended = self._run(self._command(task, room, str(uuid.uuid4()), lambda: stop.is_set() or meter()))
                found = seen(self._line.agent, room.home, skill, name, file)
            except (OSError, ValueError) as error:
                pay(None, ended is not None)
                return self._missing(f"it could not be run ({type(error).__name__})")
            pay(found, ended.late)
            if found is not None and self._noted is not None:
                self._noted(task, skill, draw, found.session)
            if meter.ended_at:
                said = (
                    "it was ended in the middle, as it had passed what was set aside for it and the budget had no more"
                )
                return self._missing(said)
            return self._judged(task, skill, draw, ended, found, room)

    def _install(self, skill: Skill, room: Rooms) -> tuple[str, Path]:
        """Lay the text where the agent looks for it; gives the skill's name, "" of a memory, and the file."""
        if self._settings.memory:
            return "", remember(skill, room.home / self._line.memory)
        name = name_of(skill)
        clear_namesakes(room.work, name)
        return name, install(skill, name, room.home / self._line.skills, self._settings.beside(skill))

    def _command(self, task: Task, room: Rooms, session: str, stop: Callable[[], bool]) -> Command:
        line, settings = self._line, self._settings
        said = line.argv(task.prompt, settings.model, session, contained=settings.contained)
        login = line.sign_in(self._theirs, room.home)
        places = {"HOME": str(room.home), "TMPDIR": str(room.temporary), "CLAUDE_CODE_TMPDIR": str(room.temporary)}
        return Command(
            argv=(*settings.command, *said),
            folder=room.work,
            home=room.home,
            temporary=room.temporary,
            environ={**self._theirs.named(GIVEN), **login, **places},
            seconds=settings.seconds,
            output=OUTPUT,
            hosts=line.hosts(self._theirs),
            stop=stop,
        )

    def _judged(
        self, task: Task, skill: Skill, draw: int, ended: Ended, found: Seen | None, room: Rooms
    ) -> Trajectory | Missing:
        if ended.late:
            return self._missing(f"it was not done within {self._settings.seconds:g} s")
        if why := self._line.trouble(ended):
            hosts = one_line(", ".join(ended.refused[:MOST_HOSTS]))
            return self._missing(f"{why}; the sandbox let it not reach {hosts}" if hosts else why)
        if found is None or not found.answer.strip():
            return self._missing("it left no transcript" if found is None else "its answer was empty")
        try:
            score = self._judge(
                task, Attempted(found.answer, tools=found.tools, files=Left(room.work), seen=found, folder=room.work)
            )
        except NotJudged as error:
            return self._missing(str(error))
        if isinstance(score, Missing):
            return score
        memory = self._settings.memory  # an agent does not say that it was handed one
        return Trajectory(
            task=task.id,
            draw=draw,
            skill=skill.digest,
            score=replace(score, objectives={**_measured(ended, found), **score.objectives}),
            transcript=found.transcript,
            offered=None if memory else found.offered,
            opened=None if memory else found.opened,
            loaded=skill.digest if memory else found.loaded,
            prompt=task.prompt,
            answer=found.answer,
        )

    def _missing(self, why: str) -> Missing:
        return Missing(f"{self._line.program}: {why}")


def _measured(ended: Ended, found: Seen) -> Mapping[str, float]:
    return {
        "tokens": float(found.output),
        "tool_calls": float(len(found.tools)),
        "tool_errors": float(found.errors),
        "seconds": round(ended.seconds, 3),
    }
