"""Protected tasks: how often a harmless candidate is vetoed, and how often one that breaks a task gets through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from gate.cells import Cell, share, stream
from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import protect
from skillopt_core.scripted import ScriptedEnvironment
from skillopt_core.types import Score, Skill, Task
from skillopt_sleep.calibrate.coins import POPULATIONS

LIVE, CANDIDATE = Skill("live"), Skill("candidate")
KINDS = ("always pass", "pass 98 %", "passed five of five")


@dataclass(frozen=True)
class Asked:
    """`k` protected tasks of one kind with so many repeats; with `breaks` the candidate drops one of them to .3."""

    kind: str
    k: int
    repeats: int
    breaks: bool
    seeds: int


def checks(seeds: int) -> Iterator[Asked]:
    """Both errors at every size."""
    for kind in KINDS:
        for repeats in (2, 3):
            for k in (1, 5, 10, 20):
                yield Asked(kind, k, repeats, False, seeds)
                yield Asked(kind, k, repeats, True, seeds)


def guarded(asked: Asked) -> list[Cell]:
    """The share of candidates that are vetoed, by `protect` itself."""
    hits = sum(_vetoed(asked, stream(asked, seed)) for seed in range(asked.seeds))
    what = "vetoed: it breaks one" if asked.breaks else "vetoed: harmless"
    return [share("protected", asked.kind, what, hits, asked.seeds, k=asked.k, repeats=asked.repeats)]


def _vetoed(asked: Asked, random: Random) -> bool:
    rates = [_rate(asked.kind, random) for _ in range(asked.k)]

    def play(task: Task, skill: Skill, draw: int) -> Score:
        n = int(task.id)
        broken = asked.breaks and n == 0
        rate = (1.0 if skill is LIVE else 0.3) if broken else rates[n]
        passed = float(random.random() < rate)
        return Score(passed, passed)

    tasks = [Task(str(n), "", protected=True) for n in range(asked.k)]
    environment = ScriptedEnvironment(play, deterministic=False)
    return bool(protect(environment, LIVE, CANDIDATE, tasks, CountedDraws(), asked.repeats).broken)


def _rate(kind: str, random: Random) -> float:
    """A task's pass rate under the live text; the last kind is what five passes in a row let through."""
    if kind != KINDS[2]:
        return 1.0 if kind == KINDS[0] else 0.98
    while True:
        rate = POPULATIONS["spread"](random)
        if all(random.random() < rate for _ in range(5)):
            return rate
