"""Mined tasks attempted afresh by a real agent: what each starts from, whether it can be judged, how it did.

A task's payload is its `KeptTask`. What was recorded of it is not looked at again: the agent gets its prompt, in the
project as it was then where that can be had, and what it does is judged by the task's checks.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from skillopt_core.protocols import Environment
from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.agents.native import SIGNED_OUT, Attempted
from skillopt_sleep.checks import BUILT_IN, BadArgument, Check, Kind, Need, compiled, lacking
from skillopt_sleep.checks.kept import kept_check
from skillopt_sleep.domain.starts import Starts
from skillopt_sleep.domain.tasks import FREE_OF, SUCCEEDS, KeptTask, TaskCheck
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.replay.workspace import Start
from skillopt_sleep.sandbox.status import SECONDS

Finds = Callable[[str, Attempted], bool | Missing]
"""Whether a friction (`kind:signature`) is in an attempt, as the miner sees it."""
Runs = Callable[[Sequence[str], Path, float], int | Missing]
"""The exit status of a command on a copy of a folder within so many seconds, or why that says nothing of the folder."""

CAME_BACK: Final = "What went wrong then went wrong again: {kind}."
FAILED_CHECK: Final = "The project's own check did not pass in the end."


@dataclass(frozen=True, slots=True)
class Judges:
    """How attempts at mined tasks can be judged here.

    `cannot` says why a friction could not be seen in any attempt, "" where it could. `passes_at_first` says whether a
    command ends with success on what the task starts from: one that does not says nothing of an attempt.
    """

    finds: Finds
    cannot: Callable[[str], str]
    runs: Runs
    passes_at_first: Callable[[KeptTask, str], bool | Missing]
    kinds: Mapping[str, Kind] = field(default_factory=lambda: BUILT_IN)
    offered: frozenset[Need] = frozenset({Need.TOOLS, Need.FILES})


def as_task(kept: KeptTask, *, protected: bool = False) -> Task:
    """A mined task for the core. One session and pattern are one unit, with the twins of both."""
    unit = f"{kept.twin} {kept.pattern}".strip()
    return Task(kept.id, kept.prompt, unit, kept.session, kept.began_ms, protected, kept, kept.origin)


class Replayed:
    """An Environment over mined tasks. Wrap it into a journal: each attempt costs.

    A task that cannot be judged is `Missing` and not attempted. Raises what `agent` raises, and `NotSignedIn` where the
    very first attempts say that nobody may be signed in: nothing was spent then.
    """

    def __init__(self, agent: Environment, judging: Judging, name: str) -> None:
        self._agent = agent
        self._judging = judging
        self._name = name
        self._answered = False

    @property
    def deterministic(self) -> bool:
        return self._agent.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One judged attempt a task, in order."""
        reasons = [self._judging.unjudged(kept_of(task)) for task in tasks]
        at = [n for n, why in enumerate(reasons) if not why]
        made = self._agent.attempt([tasks[n] for n in at], skill, [draws[n] for n in at]) if at else []
        self._must_be_signed_in(made)
        answers = dict(zip(at, made, strict=True))
        return [answers.get(n) or Missing(why) for n, why in enumerate(reasons)]

    def _must_be_signed_in(self, answers: Sequence[Trajectory | Missing]) -> None:
        lost = [isinstance(one, Missing) and one.reason.endswith(SIGNED_OUT) for one in answers]
        if answers and all(lost) and not self._answered:
            remedy = f"Sign in to {self._name}, or name another --target-backend"
            raise NotSignedIn("no attempt began, so nobody may be signed in", where=self._name, remedy=remedy)
        self._answered = self._answered or any(isinstance(one, Trajectory) for one in answers)


class Judging:
    """Says of mined tasks whether they can be judged, and how attempts at them did."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges
        self._idle: dict[tuple[str, str], bool | Missing] = {}

    def unjudged(self, kept: KeptTask) -> str:
        """Why an attempt at the task could not be judged, "" where it could. No agent is asked for that."""
        if not kept.checks:
            return "it has no check"
        return next((why for check in kept.checks if (why := self._cannot(check))), "") or self._says_nothing(kept)

    def left_out(self, tasks: Iterable[KeptTask]) -> Mapping[str, int]:
        """How many of them cannot be judged, by reason."""
        return Counter(why for kept in tasks if (why := self.unjudged(kept)))

    def score(self, task: Task, done: Attempted) -> Score | Missing:
        """How it did by all its checks that say something; `Missing` where one cannot tell."""
        failed: list[str] = []
        checks = list(self._telling(kept_of(task)))
        for check in checks:
            said = self._failure(check, done)
            if isinstance(said, Missing):
                return said
            failed += [said] if said else []
        passed = len(checks) - len(failed)
        return Score(float(not failed), passed / len(checks), tuple(failed)) if checks else Missing("it has no check")

    def _cannot(self, check: TaskCheck) -> str:
        """Why nobody here could judge by this check."""
        if check.kind == FREE_OF:
            return self._judges.cannot(check.argument)
        if check.kind == SUCCEEDS:
            return ""
        try:
            read = kept_check(check, self._judges.kinds)
        except BadArgument as error:
            return f"its check {check.kind} means nothing: {error.wrong}"
        short = lacking([read], self._judges.offered, self._judges.kinds)
        return short[1] if short else ""

    def _says_nothing(self, kept: KeptTask) -> str:
        return "" if any(self._telling(kept)) else "its check does not pass on what it starts from"

    def _telling(self, kept: KeptTask) -> Iterable[TaskCheck]:
        """Its checks but for commands that do not even pass on what it starts from."""
        return (check for check in kept.checks if check.kind != SUCCEEDS or self._passed(kept, check.argument) is True)

    def _passed(self, kept: KeptTask, command: str) -> bool | Missing:
        key = (kept.id, command)
        if key not in self._idle:
            self._idle[key] = self._judges.passes_at_first(kept, command)
        return self._idle[key]

    def _failure(self, check: TaskCheck, done: Attempted) -> str | Missing:
        """What a critic may read of a check that failed, "" where it passed."""
        if check.kind == FREE_OF:
            found = self._judges.finds(check.argument, done)
            said = CAME_BACK.format(kind=check.argument.partition(":")[0])
            return found if isinstance(found, Missing) else said if found else ""
        if check.kind == SUCCEEDS:
            status = self._judges.runs(shlex.split(check.argument), done.folder, SECONDS)
            return status if isinstance(status, Missing) else FAILED_CHECK if status else ""
        whole = replace(done, run=lambda argv, seconds: self._judges.runs(argv, done.folder, seconds))
        score = compiled([self._read(check)], self._judges.kinds).score(whole)
        return score if isinstance(score, Missing) else next(iter(score.failed), "")

    def _read(self, check: TaskCheck) -> Check:
        return kept_check(check, self._judges.kinds)


def kept_of(task: Task) -> KeptTask:
    """The mined task behind a task of the core."""
    if not isinstance(task.payload, KeptTask):
        raise TypeError(f"{task.id} was not mined")
    return task.payload


@dataclass(frozen=True, slots=True)
class Begin:
    """What mined tasks start from: the project's repository at a commit, where both are on this machine, else nothing.

    The commit is the one that the agent recorded. Where it records none, a task of the miner's starts from the one on
    which the project stood then, as far as git's own log of it goes back; one that a model wrote from an empty folder,
    as it was written for that.
    """

    project: Path
    starts: Starts

    def of(self, kept: KeptTask) -> Start:
        """An empty folder where the commit is not known, or not here."""
        if not kept.commit and not any(check.kind == FREE_OF for check in kept.checks):
            return Start()
        found = self.starts.at(kept.commit, kept.began_ms)
        return Start(self.project, found.commit) if found is not None and found.commit else Start()
