"""`--dry-run`: the plan of a night, without spending, staging or keeping anything but what was harvested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillopt_sleep.domain.reports import ModelUse, Spent
from skillopt_sleep.domain.world import World
from skillopt_sleep.lock import hold
from skillopt_sleep.mine import Mined, mine
from skillopt_sleep.mine.kinds import Item, batches, items_of, patterns_of
from skillopt_sleep.mine.tasks import tasks_of
from skillopt_sleep.night.kinds import known_kinds, most_asked, to_show
from skillopt_sleep.night.natively import planned
from skillopt_sleep.night.plan import Subject
from skillopt_sleep.night.projects import Project
from skillopt_sleep.night.records import SALT
from skillopt_sleep.night.requested import most_asked as most_tasks_asked
from skillopt_sleep.night.requested import to_ask
from skillopt_sleep.night.work import live_skill, planned_subjects, projects_of
from skillopt_sleep.replay.practice import Practice, task_set
from skillopt_sleep.store.mining import tasks


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
class Asks:
    """What a model would be asked, at this host: prompts about things that a person said (`items`), and one about each
    session that may yield tasks. `prompts` are all of them.

    `calls` and `tokens` are the most that they can come to, the budget aside.
    """

    named: ModelUse
    prompts: int = 0
    items: int = 0
    sessions: int = 0
    calls: int = 0
    tokens: int = 0

    def and_more(self, prompts: int, calls: int, tokens: int, *, items: int = 0, sessions: int = 0) -> Asks:
        """With so much more of each."""
        return Asks(
            self.named,
            self.prompts + prompts,
            self.items + items,
            self.sessions + sessions,
            self.calls + calls,
            self.tokens + tokens,
        )

    @property
    def said(self) -> str:
        use = self.named
        if not self.prompts:
            return f"{use.model} at {use.host} would be asked nothing: nobody has said anything new."
        return (
            f"{use.model} at {use.host} would be sent {self.items} things that you said, each with what the agent had "
            f"done, and {self.sessions} sessions to write tasks from, redacted, in {self.prompts} prompts: at most "
            f"{self.calls} calls and {self.tokens:,} tokens."
        )

    def as_json(self) -> dict[str, object]:
        use = self.named
        return {"backend": use.backend, "model": use.model, "host": use.host, "prompts": self.prompts,
                "items": self.items, "sessions": self.sessions, "calls": self.calls, "tokens": self.tokens}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempts:
    """What a real agent would attempt in one project: `said` in sentences, `plan` in figures."""

    said: tuple[str, ...]
    plan: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a night would do, and what its budget buys."""

    backend: str
    sessions: int
    lines: tuple[Line, ...]
    tokens: int | None
    asks: Asks | None = None
    attempts: tuple[Attempts, ...] = ()

    @property
    def headline(self) -> str:
        return f"{len(self.lines)} rules would be practised on {self.sessions} sessions, with backend {self.backend}"

    @property
    def buys(self) -> str:
        free = "Recorded replays cost nothing: every rule is measured on every later session in which it applies."
        if self.asks is None:
            return free
        limit = "There is no limit" if self.tokens is None else f"The limit is {self.tokens:,} tokens"
        return f"{self.asks.said} {limit}. {free}"

    def as_json(self) -> dict[str, object]:
        lines = [
            {"title": line.title, "skill": line.document, "project": line.project, "train": line.train,
             "later": line.later, "cut_ms": line.cut_ms}
            for line in self.lines
        ]  # fmt: skip
        plan = {"sessions": self.sessions, "rules": lines, "budget_tokens": self.tokens, "buys": self.buys,
                "asks": self.asks.as_json() if self.asks else None,
                "attempts": [dict(one.plan) for one in self.attempts]}  # fmt: skip
        return {"format": 1, "dry_run": True, "backend": self.backend, "plan": plan}


def plan_of(world: World) -> Plan:
    """Harvest, mine and plan. Raises `NightLocked` where a night is running."""
    with hold(world.home.lock, world.clock):
        world.progress.stage("harvest")
        world.harvest()
        named = world.named_model()
        asks, lines, sessions = Asks(named) if named else None, [], 0
        attempts: list[Attempts] = []
        for project in projects_of(world):
            world.progress.stage(f"mine {project.shown}")
            sessions += len({episode.session for episode in project.episodes})
            found = mine(project.episodes)
            items, before = items_of(found), known_kinds(world.store, project)
            kinds = patterns_of(before.kinds, items, found)
            subjects = planned_subjects(world, project, found, kinds)
            lines += [_line(project, one, world) for one in subjects]
            attempts += _attempts(world, project, found, subjects)
            if asks is not None:
                asks = _with(asks, world, to_show(world, found, items, before)[0])
                asks = _with_tasks(asks, world, project, found)
    return Plan(world.backend, sessions, tuple(lines), world.config.budget.tokens, asks, tuple(attempts))


def _attempts(world: World, project: Project, found: Mined, subjects: Sequence[Subject]) -> Iterator[Attempts]:
    """Which rules a real agent would attempt, where one does. Nothing is kept, so tasks are made as they would be."""
    player = world.natively("", project.name, found.history)
    if player is None:
        return
    made = tasks_of((*found.patterns, *found.requests), found.episodes, SALT)
    known = {task.id: task for task in (*tasks(world.store, project=project.name), *made)}
    plan = planned(world, player, subjects, list(known.values()), project.episodes)
    tokens = Spent(world.config.budget.tokens, 0)
    yield Attempts(tuple(plan.said(subjects, tokens)), plan.as_json(subjects))


def _with(asks: Asks, world: World, shown: Sequence[Item]) -> Asks:
    """What a project adds to what would be asked."""
    told = batches(shown)
    if not told:
        return asks
    return asks.and_more(len(told), *most_asked(world, told), items=len(shown))


def _with_tasks(asks: Asks, world: World, project: Project, found: Mined) -> Asks:
    """What writing tasks from a project's sessions adds to it."""
    if world.as_of_ms is not None or not world.config.mine.max_tasks:
        return asks
    questions, _, _ = to_ask(world, project, found)
    return asks.and_more(len(questions), *most_tasks_asked(world, questions), sessions=len(questions))


def _line(project: Project, one: Subject, world: World) -> Line:
    shown = dict.fromkeys(one.pattern.episodes, "") if one.pattern else {}
    practice = Practice(one.rule, live_skill(world, one.document), one.cut_ms, world.clock.now_ms(), shown)
    sides = task_set(practice, project.episodes)
    return Line(one.title, one.document.name, project.shown, len(sides.train), len(sides.gate), one.cut_ms)
