"""A training run in a process of its own, which can be told to die at a certain point.

    python -m tests.train.runs FOLDER [POINT]

trains in FOLDER/run with a simulated agent and a clock that stands still, or goes on with a run that was killed there,
and prints how many points it passed. POINT kills it with SIGKILL at that point: before and after every write
transaction of the journal, every line of the log, and every file that is replaced. FOLDER/attempts says what was
attempted, over all processes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from skillopt_core.memory import Memory
from skillopt_core.protocols import Environment
from skillopt_core.types import Missing, Skill, Step, Task, Trajectory
from skillopt_sleep import casting
from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.config import Config
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.critics.simulated import SimulatedCritic
from skillopt_sleep.paths import Home
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.ledgers import Spending
from skillopt_sleep.train import Training, lines, runfolder, train
from skillopt_sleep.train.cast import Attempter, Cast
from skillopt_sleep.train.loading import load
from skillopt_sleep.train.recipe import Recipe
from skillopt_sleep.train.report import Head, report_page
from skillopt_sleep.train.runfolder import RunFolder, opened
from skillopt_sleep.train.splits import split
from skillopt_sleep.world import Silence

NOW = 1_793_000_000_000
SKILL = Skill("# Memo\n\nWrite a memo of one page.\n", "memo")
WANTED = ("## Recommendation", "## Risks", "## Next step")
TOPICS = "the build, the plan, the office, the price, the logs, the API, the party, the name, the site, the fund".split(
    ", "
)
RECIPE = Recipe(epochs=4, learning_rate=1, min_learning_rate=1, metric="soft", simulated_obedience=0.95, repeats=2)


class Points:
    """Counts the points that are passed; at the chosen one the process is killed, as by a power cut of it alone."""

    def __init__(self, deadly: int) -> None:
        self.passed = 0
        self._deadly = deadly

    def __call__(self) -> None:
        self.passed += 1
        if self.passed == self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)


class Guided(SimulatedCritic):
    """A simulated critic that also looks back at an epoch's end, so that slow updates go through the gate too."""

    def guidance(self, skill: Skill, drift: Mapping[str, Sequence[Trajectory]], memory: Memory) -> str | Missing:
        """A rule of its own for each text."""
        return f"Mind the whole of it ({len(skill.text)})."

    def notes(self, steps: Sequence[Step], memory: Memory) -> str | Missing:
        """Notes to itself."""
        return f"{len(steps)} steps"


class Noted:
    """An environment that writes down what it was asked, in a file that survives."""

    def __init__(self, inner: Environment, path: Path) -> None:
        self._inner = inner
        self._path = path

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """As the inner one."""
        answers = self._inner.attempt(tasks, skill, draws)
        with self._path.open("a", encoding="utf-8") as out:
            out.writelines(f"{task.id}-{skill.digest[:8]}-{draw}\n" for task, draw in zip(tasks, draws, strict=True))
        return answers


def instrument(points: Points) -> None:
    """Make every write a point before and after it."""
    store_write = Store.write

    @contextmanager
    def counted(self: Store) -> Iterator[Connection]:
        points()
        with store_write(self) as connection:
            yield connection
        points()

    def marked(function: Callable[..., None]) -> Callable[..., None]:
        def called(*arguments: object) -> None:
            points()
            function(*arguments)
            points()

        return called

    Store.write = counted  # type: ignore[method-assign]
    runfolder.append_line = marked(lines.append_line)  # type: ignore[attr-defined]
    runfolder.write = marked(runfolder.write)


def laid_out(folder: Path) -> Path:
    """A task file of 21 tasks: 4 to train on, 12 for the gate, 5 for the audit."""
    path = folder / "tasks.jsonl"
    checks = [{"kind": "contains", "argument": heading} for heading in WANTED]
    with path.open("w", encoding="utf-8") as out:
        for n in range(21):
            part = "train" if n < 4 else "gate" if n < 16 else "audit"
            prompt = f"Should we change {TOPICS[n % len(TOPICS)]} in round {n}?"
            out.write(json.dumps({"id": f"t{n}", "prompt": prompt, "checks": checks, "split": part}) + "\n")
    return path


def trained(folder: Path, *, environment: Environment | None = None, limits: Limits | None = None) -> Training:
    """One run in `folder`/run, or the rest of it."""
    clock = FixedClock(NOW)
    tasks = split(load(laid_out(folder), casting.judges()[0]))
    player = casting.attempter(Config.model_validate({"models": {"backend": "simulated"}}), RECIPE, home=Home(folder))
    with opened(folder / "run", {"of": "test"}, RECIPE.as_yaml(), clock) as run:
        cast = Cast(
            Attempter(environment or Noted(player.environment, folder / "attempts"), player.named, "simulated"),
            Guided(),
            StrictScreen(Grounds()),
            "simulated",
            Budget(limits or Limits(), Spending(run.store, "train"), clock),
        )
        done = train(SKILL, tasks.task_set(), RECIPE, cast, run, redact=Redactor(()).redact, clock=clock,
                     progress=Silence())  # fmt: skip
        head = Head("test", SKILL.name, "tasks.jsonl", "simulated", "simulated", simulated=True)
        save(run, report_page(done, head, run.lines))
    return done


def save(run: RunFolder, page: str) -> None:
    """Write the report as `train` does."""
    runfolder.write(run.report, page)


def main(folder: Path, deadly: int) -> None:
    points = Points(deadly)
    instrument(points)
    done = trained(folder)
    verdicts = [str(step.verdict.outcome) for step in done.evolution.steps if step.verdict]
    sys.stdout.write(json.dumps({"points": points.passed, "verdicts": verdicts}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
