"""Whether N workers are N times as fast: calls of one second each, and what a night costs beside its calls.

    python bench/pool.py [--seconds S] [--calls N]

A provider on loopback (serving.py, a process of its own) answers each call after S seconds (1). `complete` is a role's
completions over the OpenAI SDK, reserved, settled and kept in a store on disk; `rollouts` are attempts of an agent that
asks the same provider once a task, each kept in a run's journal. The ratio is wall time by S × calls / workers. The
last rows are 1,000 tasks of a model that answers at once and without HTTP: what a night costs outside of its calls.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from serving import Account, Habits, Provider

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.budget import Budget, Limits, Usage
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.models.base import Completer, Completion, Reply
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
Work = Callable[[Completion, Store, int, int], None]


@dataclass(frozen=True)
class Found:
    """One measurement: seconds of wall and processor time, requests and the most in flight by the server's count."""

    wall: float
    requests: int
    peak: int
    processor: float = 0.0


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


class Instant:
    """A model that answers at once."""

    model, where = "instant", "here"

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        return Reply("The memo says who decides.", Usage(len(prompt) // 4 + 8, min(7, max_output)))


def gathered(workers: int, calls: int) -> Found:
    """Completions of a server that answers none before it saw so many in flight as there are workers."""
    provider = Provider()
    try:
        account = provider.accounts["one"] = Account(Habits(lambda text: len(text) // 4 + 1))
        with _asking(OpenAICompleter("scripted", base_url=f"{provider.url('one')}/v1"), workers) as (complete, _):
            account.gathers = workers
            complete([f"prompt {n}" for n in range(calls)])
        return Found(0.0, account.requests, account.peak)
    finally:
        provider.close()


def completions(complete: Completion, _: Store, calls: int, workers: int) -> None:
    """A role's completions, all asked together."""
    complete([f"prompt {n}" for n in range(calls)])


def rollouts(complete: Completion, store: Store, calls: int, workers: int) -> None:
    """A night's rollouts: one attempt a task, each in the journal as soon as it is there."""
    journal = Journal(Asking(complete), Attempts(store, "night", Redacted), "bench", {"name": "asking"}, batch=1)
    tasks = [Task(f"t{n}", f"Write a memo on matter {n}.") for n in range(calls)]
    Pooled(journal, _pool(workers)).attempt(tasks, SKILL, [0] * len(tasks))


def over_http(work: Work, workers: int, calls: int, seconds: float) -> Found:
    """The work against a provider that answers after so many seconds."""
    command = [sys.executable, str(Path(__file__).with_name("serving.py")), str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        found = timed(work, OpenAICompleter("scripted", base_url=f"{url}/v1"), workers, calls)
        said = json.loads(server.communicate()[0])
    return replace(found, requests=said["requests"], peak=said["peak"])


def timed(work: Work, completer: Completer, workers: int, calls: int) -> Found:
    """The work on a fresh store; the call that goes alone, because it shows whether the key is good, comes before."""
    with _asking(completer, workers) as (complete, store):
        began, spent = time.perf_counter(), time.process_time()
        work(complete, store, calls, workers)
        return Found(time.perf_counter() - began, calls, 0, time.process_time() - spent)


@contextmanager
def _asking(completer: Completer, workers: int) -> Iterator[tuple[Completion, Store]]:
    with (
        tempfile.TemporaryDirectory() as place,
        open_store(Path(place) / "store.db", SystemClock()) as store,
    ):
        complete = Completion(
            completer, Budget(Limits(), Spending(store, "night"), SystemClock()), Completions(store, Redacted),
            night="night", role="target", redact=Redacted, sleep=time.sleep, pool=_pool(workers),
        )  # fmt: skip
        complete(["the first"])
        yield complete, store


def _pool(workers: int) -> Pool:
    return Pool(workers, now=time.monotonic, sleep=time.sleep)


def main() -> None:
    """Print one row a measurement."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--calls", type=int, default=None, help="a measurement (8 for each worker)")
    asked = options.parse_args()
    os.environ["OPENAI_API_KEY"] = "x"
    for work in (completions, rollouts):
        for workers in WORKERS:
            calls = asked.calls or 8 * workers
            found = over_http(work, workers, calls, asked.seconds)
            least = asked.seconds * calls / workers
            print(f"{work.__name__:12}{workers:3} workers, {calls:4} calls of {asked.seconds:g} s: "
                  f"{found.wall:6.2f} s, ratio {found.wall / least:.3f}, {found.peak} in flight")  # fmt: skip
    for workers in WORKERS:
        found = timed(rollouts, Instant(), workers, TASKS)
        print(f"{TASKS} tasks outside of their calls, {workers:2} workers: {found.wall:.2f} s, {found.processor:.2f} s "
              "of processor")  # fmt: skip


if __name__ == "__main__":
    main()
