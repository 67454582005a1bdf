"""Whether N workers are N times as fast: calls of one second each, and what a night costs beside its calls.

    python bench/pool.py [--seconds S] [--calls N]

A provider on loopback (serving.py) answers each call after S seconds (1). `complete` is a role's completions over the
OpenAI SDK, reserved, settled and kept in a store on disk; `rollouts` are attempts of an agent that asks the same
provider once a task, each kept in a run's journal. The ratio is wall time by S × calls / workers; the last row is the
time of 1,000 tasks whose calls take none at all.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from serving import Account, Habits, Provider

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.models.base import Completion
from skillopt_sleep.models.openai import OpenAICompleter
from skillopt_sleep.models.pool import Pool
from skillopt_sleep.redact import Redacted
from skillopt_sleep.replay.journal import Journal
from skillopt_sleep.replay.pooled import Pooled
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.ledgers import Attempts, Completions, Spending

WORKERS = (1, 8, 32)
TASKS = 1000
SKILL = Skill("# Memo\n\nBe brief.\n", "memo")


@dataclass(frozen=True)
class Found:
    """One measurement: seconds of wall time, requests, and the most that were in flight, by the server's count."""

    wall: float
    requests: int
    peak: int


class Asking:
    """An agent that asks the provider once for each attempt."""

    deterministic = False

    def __init__(self, complete: Completion) -> None:
        self._complete = complete

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One answer a task; each passes."""
        asked = [f"{skill.text}\n{task.prompt}\n{draw}" for task, draw in zip(tasks, draws, strict=True)]
        rows = zip(tasks, draws, self._complete(asked), strict=True)
        return [
            said if isinstance(said, Missing) else Trajectory(task.id, draw, skill.digest, Score(1.0, 1.0), said)
            for task, draw, said in rows
        ]


def calls_over_http(workers: int, calls: int, seconds: float, *, gathers: int = 0) -> Found:
    """A role's completions; the server answers none before `gathers` are in flight.

    The first call goes alone, before the clock starts: it shows whether the key is good.
    """

    def work(complete: Completion, _: Store) -> None:
        complete([f"prompt {n}" for n in range(calls - 1)])

    return _measured(workers, seconds, work, gathers)


def rollouts(workers: int, calls: int, seconds: float) -> Found:
    """A night's rollouts: one attempt a task, each in the journal as soon as it is there."""

    def work(complete: Completion, store: Store) -> None:
        journal = Journal(Asking(complete), Attempts(store, "night", Redacted), "bench", {"name": "asking"}, batch=1)
        tasks = [Task(f"t{n}", f"Write a memo on matter {n}.") for n in range(calls - 1)]
        Pooled(journal, _pool(workers)).attempt(tasks, SKILL, [0] * len(tasks))

    return _measured(workers, seconds, work)


def _measured(workers: int, seconds: float, work: Callable[[Completion, Store], None], gathers: int = 0) -> Found:
    with (
        _provider(seconds) as (account, url),
        tempfile.TemporaryDirectory() as place,
        open_store(Path(place) / "store.db", SystemClock()) as store,
    ):
        complete = Completion(
            OpenAICompleter("scripted", base_url=url), Budget(Limits(), Spending(store, "night"), SystemClock()),
            Completions(store, Redacted), night="night", role="target", redact=Redacted, sleep=time.sleep,
            pool=_pool(workers),
        )  # fmt: skip
        complete(["the first"])
        account.gathers = gathers
        began = time.perf_counter()
        work(complete, store)
        return Found(time.perf_counter() - began, account.requests, account.peak)


@contextmanager
def _provider(seconds: float) -> Iterator[tuple[Account, str]]:
    provider = Provider()
    try:
        account = provider.accounts["one"] = Account(Habits(lambda text: len(text) // 4 + 1, seconds=seconds))
        yield account, f"{provider.url('one')}/v1"
    finally:
        provider.close()


def _pool(workers: int) -> Pool:
    return Pool(workers, now=time.monotonic, sleep=time.sleep)


def main() -> None:
    """Print one row a measurement."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--calls", type=int, default=None, help="a measurement (8 for each worker, 8 at least)")
    asked = options.parse_args()
    os.environ["OPENAI_API_KEY"] = "x"
    for name, measure in (("complete", calls_over_http), ("rollouts", rollouts)):
        for workers in WORKERS:
            calls = (asked.calls or 8 * workers) + 1
            found = measure(workers, calls, asked.seconds)
            least = asked.seconds * (calls - 1) / workers
            print(f"{name:10} {workers:3} workers, {calls - 1:4} calls of {asked.seconds:g} s: {found.wall:7.2f} s, "
                  f"ratio {found.wall / least:.3f}, {found.peak} in flight")  # fmt: skip
    found = rollouts(WORKERS[-1], TASKS + 1, 0.0)
    print(f"{TASKS} tasks with calls of no time, {WORKERS[-1]} workers: {found.wall:.2f} s")


if __name__ == "__main__":
    main()
