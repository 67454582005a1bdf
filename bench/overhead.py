"""What the loop itself costs: 1,000 tasks × 3 repeats with an instant agent, and 16 edits on a 2,000-token skill.

    python bench/overhead.py [--runs N]

Wall time of N runs (10), best and median, and the median of processor time. `bare` is the core alone; `journaled` is
the same inside a run folder, each attempt redacted and kept in its database as `train` does it, every commit seen on
the disk. The agent answers at once, so what is measured is all ours.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import LookGate
from skillopt_core.loop import evolve
from skillopt_core.protocols import Environment
from skillopt_core.rollout import rollout
from skillopt_core.schedule import Schedule
from skillopt_core.scripted import ScriptedCritic
from skillopt_core.types import Edit, Missing, Patch, Score, Skill, Task, TaskSet, Trajectory
from skillopt_core.update import update
from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.ledgers import Spending
from skillopt_sleep.train.cast import Attempter, Cast
from skillopt_sleep.train.environments import journaled
from skillopt_sleep.train.runfolder import opened

TASKS, REPEATS, EDITS = 1000, 3, 16
SKILL = Skill("# Memo\n\nBe brief.\n", "memo")
LINE = "- Rule {n}: before you write part {n}, read what part {n} has said so far and say it in other words.\n"
LINES = 90
"""Of a skill of about 2,000 tokens (8,400 characters)."""


class Instant:
    """An agent that answers at once, noisily by its settings: every repeat is asked."""

    deterministic = False

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One short answer a task; a skill with a rule in it passes."""
        score = Score(float("- " in skill.text), float("- " in skill.text))
        said = "The memo says what speaks for it, what against it, and who decides."
        return [
            Trajectory(task.id, draw, skill.digest, score, f"{task.id}: {said}", prompt=task.prompt)
            for task, draw in zip(tasks, draws, strict=True)
        ]


def tasks(n: int, split: str) -> tuple[Task, ...]:
    return tuple(Task(f"{split}-{k}", f"Write a memo on matter {k} of {split}.") for k in range(n))


def attempts(environment: Environment) -> int:
    """1,000 tasks × 3 attempts, as a rollout."""
    return len(rollout(environment, SKILL, tasks(TASKS, "train"), CountedDraws(), REPEATS).trajectories)


def whole_step(environment: Environment) -> int:
    """A whole step: 1,000 train tasks × 3, an edit, and a look at 1,000 gate tasks × 3 pairs that runs to its end."""
    critic = ScriptedCritic([[Edit("add", "", "- Name who decides.")]])
    schedule = Schedule("constant", 1, TASKS, rollouts=REPEATS, slow_update=0, meta=False)
    split = TaskSet(tasks(TASKS, "train"), tasks(TASKS, "gate"))
    done = evolve(SKILL, split, environment, critic, LookGate(early=False), schedule)
    assert done.changed
    return TASKS * REPEATS * 3


def in_a_folder(work: Callable[[Environment], int]) -> Callable[[], int]:
    """The same work inside a fresh run folder; making the folder counts too."""

    def run() -> int:
        clock = SystemClock()
        with (
            tempfile.TemporaryDirectory() as place,
            opened(Path(place) / "run", {"of": "bench"}, "", clock) as folder,
        ):
            budget = Budget(Limits(), Spending(folder.store, "bench"), clock)
            player = Attempter(Instant(), {"name": "instant", "version": "1"}, "simulated")
            cast = Cast(player, ScriptedCritic([]), StrictScreen(Grounds()), "none", budget)
            return work(journaled(cast, folder, Redactor(()).redact, "bench"))

    return run


def edit_application() -> int:
    """16 edits of all four kinds on a skill of about 2,000 tokens."""
    skill = Skill("# Memo\n\n" + "".join(LINE.format(n=n) for n in range(LINES)))
    edits = []
    for k in range(EDITS // 4):
        anchors = [LINE.format(n=k * 20 + m).strip() for m in range(3)]
        edits += [
            Edit("add", "", f"- Name who decides on point {k}."),
            Edit("insert_after", anchors[0], f"- Say what follows from point {k}."),
            Edit("replace", anchors[1], f"- Say point {k} once."),
            Edit("delete", anchors[2], ""),
        ]
    candidate = update(skill, Patch(tuple(edits)))
    assert len(candidate.patch.edits) == EDITS, candidate.patch.refused
    return EDITS


def timed(work: Callable[[], int], runs: int) -> tuple[list[float], list[float], int]:
    """Wall and processor time of each run in seconds, and what one run did."""
    wall, processor, done = [], [], work()
    for _ in range(runs):
        began, spent = time.perf_counter(), time.process_time()
        done = work()
        processor.append(time.process_time() - spent)
        wall.append(time.perf_counter() - began)
    return wall, processor, done


def main() -> None:
    """Print one row a measurement."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=10)
    runs = options.parse_args().runs
    instant = Instant()
    rows = [
        ("1,000 tasks × 3 repeats, bare", "attempts", lambda: attempts(instant)),
        ("1,000 tasks × 3 repeats, journaled", "attempts", in_a_folder(attempts)),
        ("a step: 3,000 + 6,000 gated, bare", "attempts", lambda: whole_step(instant)),
        ("a step: 3,000 + 6,000 gated, journaled", "attempts", in_a_folder(whole_step)),
        ("16 edits on a 2,000-token skill", "edits", edit_application),
    ]
    print(f"{f'ms, n = {runs}':42}{'best':>10}{'median':>10}{'processor':>12}")
    for name, unit, work in rows:
        wall, processor, done = timed(work, runs)
        times = f"{min(wall) * 1000:>10.2f}{statistics.median(wall) * 1000:>10.2f}"
        print(f"{name:42}{times}{statistics.median(processor) * 1000:>12.2f}   {done} {unit}")


if __name__ == "__main__":
    main()
