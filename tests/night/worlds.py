"""Nights on the shipped sample in a folder of one's own: whole, or fed day by day, with a clock of ours."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from skillopt_core.gate import EvidenceGate, Recurrence
from skillopt_core.protocols import Gate
from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.cli.demonstration import lay_out
from skillopt_sleep.clock import DAY_MS, FixedClock, day_of, parse_iso
from skillopt_sleep.config import Config
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.night import sleep
from skillopt_sleep.paths import Home
from skillopt_sleep.review import targets
from skillopt_sleep.store.adoptions import record_roots
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.world import LocalWorld

THREE = 3 * 3_600_000
STAMP = re.compile(r'"timestamp": ?"([^"]+)"')


class Obedient:
    """A deterministic agent that does well where the skill holds a rule, and else does not. `asked` counts attempts."""

    deterministic = True

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self.episodes = episodes
        self.asked = 0

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        self.asked += len(tasks)
        hard = float("- " in skill.text)
        return [Trajectory(t.id, draw, skill.digest, Score(hard, hard)) for t, draw in zip(tasks, draws, strict=True)]

    def exposed(self, tasks: Sequence[Task], skill: Skill) -> Sequence[bool]:
        return [True for _ in tasks]


class Contrary(Obedient):
    """One that does badly where the skill holds a rule, and else well."""

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        self.asked += len(tasks)
        hard = float("- " not in skill.text)
        return [Trajectory(t.id, draw, skill.digest, Score(hard, hard)) for t, draw in zip(tasks, draws, strict=True)]


class Coin(Obedient):
    """A noisy agent that does well on every second attempt, whatever the skill says."""

    deterministic = False

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        self.asked += len(tasks)
        return [self._attempt(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def _attempt(self, task: Task, skill: Skill, draw: int) -> Trajectory:
        random = Random(f"{task.began} {task.prompt} {skill.digest} {draw}")  # nothing that hangs on the test's folder
        hard = float(random.random() < 0.5)
        return Trajectory(task.id, draw, skill.digest, Score(hard, hard), f"{task.id} {random.random()}")


@dataclass
class ReplayedWorld(LocalWorld):
    """A world whose rules are replayed by an agent, and so may be accepted."""

    evidence: Any = "replayed"

    def replays(self, episodes: Sequence[Episode]) -> Obedient:
        return Obedient(episodes)

    def attempter(self) -> dict[str, str]:
        return {"name": "obedient", "version": "1"}

    def gate(self, recurrence: Recurrence | None, per_week: float | None) -> Gate:
        return EvidenceGate()


@dataclass
class Place:
    """A HOME with the sample's transcripts, a project, and states of ours by name.

    `feed` shows the sessions that began before a time; at first there are none to be seen.
    """

    folder: Path
    config: Config = field(default_factory=Config)
    kind: type[LocalWorld] = LocalWorld
    began: dict[Path, int] = field(init=False)

    def __post_init__(self) -> None:
        self.user_home, self.project = lay_out(self.folder)
        self.kept = self.folder / "kept"
        self.user_home.rename(self.kept)
        self.user_home.mkdir()
        self.began = {path.relative_to(self.kept): _began(path) for path in self.kept.rglob("*.jsonl")}

    @property
    def days(self) -> range:
        """The days (counted from the epoch) on which sessions began."""
        return range(day_of(min(self.began.values())), day_of(max(self.began.values())) + 1)

    @property
    def end_ms(self) -> int:
        """The small hours of the second day after the last: every day is over."""
        return (self.days.stop + 1) * DAY_MS + THREE

    def feed(self, until_ms: int) -> None:
        for path, began in self.began.items():
            if began < until_ms and not (self.user_home / path).exists():
                (self.user_home / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.kept / path, self.user_home / path)

    @contextmanager
    def open(self, now_ms: int = 0, state: str = "state", **parts: Any) -> Iterator[LocalWorld]:
        """A world at that time, by default after all sessions."""
        now_ms = now_ms or self.end_ms
        self.feed(now_ms)
        home, clock = Home(self.folder / state), FixedClock(now_ms)
        with open_store(home.store, clock) as store:
            config = parts.pop("config", self.config)
            yield self.kind(home, config, store, self.user_home, environ={}, clock=clock, **parts)

    def night(self, now_ms: int = 0, state: str = "state", **parts: Any) -> NightReport:
        with self.open(now_ms, state, **parts) as world:
            return sleep(world)

    def record(self, store: Store) -> None:
        """The person's word that adoptions may be written into the project."""
        roots = targets.roots(targets.AGENTS, targets.project(self.project))
        record_roots(store, dict.fromkeys(roots, ""), str(self.project))


def _began(path: Path) -> int:
    times = [parse_iso(text) for text in STAMP.findall(path.read_text(encoding="utf-8"))]
    return min(time for time in times if time is not None)
