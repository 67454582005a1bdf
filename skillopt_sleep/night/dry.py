"""`--dry-run`: the plan of a night, without spending, staging or keeping anything but what was harvested."""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_sleep.domain.world import World
from skillopt_sleep.lock import hold
from skillopt_sleep.mine import mine
from skillopt_sleep.night.plan import Subject
from skillopt_sleep.night.projects import Project
from skillopt_sleep.night.work import live_skill, planned_subjects, projects_of
from skillopt_sleep.replay.practice import Practice, task_set


@dataclass(frozen=True, slots=True)
class Line:
    """One rule that would be practised: episodes that it is made from, later episodes of its project."""

    title: str
    document: str
    project: str
    train: int
    later: int
    cut_ms: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a night would do, and what its budget buys."""

    backend: str
    sessions: int
    lines: tuple[Line, ...]
    tokens: int | None

    @property
    def headline(self) -> str:
        return f"{len(self.lines)} rules would be practised on {self.sessions} sessions, with backend {self.backend}"

    @property
    def buys(self) -> str:
        if self.backend == "recorded":
            return "Recorded replays cost nothing: every rule is measured on every later session in which it applies."
        limit = "no limit" if self.tokens is None else f"{self.tokens} tokens"
        return f"The model is asked only to phrase rules ({limit}); measuring them costs nothing."

    def as_json(self) -> dict[str, object]:
        lines = [
            {"title": line.title, "skill": line.document, "project": line.project, "train": line.train,
             "later": line.later, "cut_ms": line.cut_ms}
            for line in self.lines
        ]  # fmt: skip
        plan = {"sessions": self.sessions, "rules": lines, "budget_tokens": self.tokens, "buys": self.buys}
        return {"format": 1, "dry_run": True, "backend": self.backend, "plan": plan}


def plan_of(world: World) -> Plan:
    """Harvest, mine and plan. Raises `NightLocked` where a night is running."""
    with hold(world.home.lock, world.clock):
        world.progress.stage("harvest")
        world.harvest()
        lines, sessions = [], 0
        for project in projects_of(world):
            world.progress.stage(f"mine {project.shown}")
            sessions += len({episode.session for episode in project.episodes})
            found = mine(project.episodes)
            lines += [_line(project, one, world) for one in planned_subjects(world, project, found, found.patterns)]
    return Plan(world.backend, sessions, tuple(lines), world.config.budget.tokens)


def _line(project: Project, one: Subject, world: World) -> Line:
    shown = dict.fromkeys(one.pattern.episodes, "") if one.pattern else {}
    practice = Practice(one.rule, live_skill(world, one.document), one.cut_ms, world.clock.now_ms(), shown)
    tasks = task_set(practice, project.episodes)
    return Line(one.title, one.document.name, project.shown, len(tasks.train), len(tasks.gate), one.cut_ms)
