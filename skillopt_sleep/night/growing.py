"""A project's learned skill, trained by a model on the tasks that it wrote, with a real agent that attempts them.

Where a night has both an optimizer's model and an agent: train tasks are those before the cut, gate tasks those that
began after it. One step makes one candidate; what is not proven goes on as a trial over later nights, on new tasks
alone, until it is accepted, given up, or the live text has changed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from skillopt_core.asking import Complete
from skillopt_core.critic import ModelCritic
from skillopt_core.gate import Calibration
from skillopt_core.loop import evolve, weigh
from skillopt_core.memory import Memory, Rejection
from skillopt_core.protocols import Draws, Environment, Screen
from skillopt_core.schedule import Schedule
from skillopt_core.types import (
    Edit,
    Evolution,
    Missing,
    Outcome,
    Patch,
    Refused,
    Skill,
    Task,
    TaskSet,
    Trajectory,
    Verdict,
)
from skillopt_sleep.checks import BadArgument, compiled
from skillopt_sleep.checks.kept import kept_check
from skillopt_sleep.clock import end_of_day
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.proposals import ProposalState
from skillopt_sleep.domain.tasks import KeptTask
from skillopt_sleep.domain.world import Natively, World
from skillopt_sleep.mine.requested.alone import not_alone
from skillopt_sleep.mine.wording import clipped
from skillopt_sleep.night.natively import Fresh
from skillopt_sleep.replay.native import as_task, kept_of
from skillopt_sleep.store.asked import GROWN, note_shown
from skillopt_sleep.store.evidence import trial_steps, trials
from skillopt_sleep.store.nights import last_result
from skillopt_sleep.store.proposals import proposals

FIRST_SHARE: Final = 0.6
"""Of the tasks in order of time: what a candidate is made from; the later ones are evidence."""
MOST_TRAIN: Final = 8
"""Train tasks of a night, the newest before the cut, unless `evolve.batch_size` is less."""
MOST_GATE: Final = 12
"""Gate tasks of a night, the oldest after the cut that were not measured yet: nine wins and no loss prove it."""
LEAST_TRAIN: Final = 2
LOCAL: Final = "local"
SAID: Final = "In the recorded session the person had to say afterwards: “{words}”"
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class Grown:
    """What became of a project's skill in a night: journaled, and where a trial goes on.

    `edits` are those of the candidate, measured together; `refused` fell out before. `sessions` are those of the train
    tasks, `newest_ms` is when the newest task began. `why` says why nothing was tried, "" where something was.
    """

    edits: tuple[Edit, ...] = ()
    refused: tuple[Refused, ...] = ()
    verdict: Verdict | None = None
    live: str = ""
    candidate: str = ""
    cut_ms: int = 0
    train: int = 0
    sessions: tuple[str, ...] = ()
    newest_ms: int = 0
    why: str = ""
    exhausted: bool = False
    agent: str = ""

    @property
    def on_trial(self) -> bool:
        """Whether it may go on gathering evidence."""
        return bool(self.edits) and self.verdict is not None and self.verdict.outcome is Outcome.ABSTAIN

    @property
    def proven(self) -> bool:
        """Whether it waits for a person."""
        return bool(self.edits) and self.verdict is not None and self.verdict.proven


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tasks of a night. `left` counts by reason those that could not be taken."""

    train: tuple[Task, ...] = ()
    gate: tuple[Task, ...] = ()
    cut_ms: int = 0
    left: Mapping[str, int] = field(default_factory=dict)

    def attempts(self, rollouts: int, repeats: int) -> int:
        """The most that training on them takes; `rollouts` of a train task count those of its variants."""
        return len(self.train) * rollouts + 2 * repeats * len(self.gate)


@dataclass(frozen=True, slots=True)
class Growing:
    """All that a night needs to train a skill: who attempts, who edits, what may not be tried, what is remembered.

    `screen` is given the texts that no edit may quote.
    """

    world: World
    night: str
    project: str
    player: Natively
    complete: Complete
    screen: Callable[[Collection[str]], Screen]
    rejected: Sequence[Rejection]
    calibration: Calibration | None
    episodes: Sequence[Episode]

    @property
    def rollouts(self) -> int:
        """Attempts at one wording of a train task."""
        return 1 if self.player.deterministic else self.world.config.evolve.rollouts_k

    @property
    def attempts(self) -> int:
        """Attempts at a train task in all its wordings."""
        return self.rollouts * (1 + self.world.config.mine.dream_factor)

    @property
    def repeats(self) -> int:
        return 1 if self.player.deterministic else self.world.config.gate.repeats


def chosen(
    kept: Iterable[KeptTask], player: Natively, *, cut_ms: int | None, most_train: int, scored: Collection[str] = ()
) -> Chosen:
    """Tonight's tasks: train before the cut, gate after it, disjoint by unit and session. Audit tasks are left alone.

    Without a cut it lies behind the first 60 %. `scored` units were measured in earlier nights.
    """
    left: Counter[str] = Counter()
    usable: list[KeptTask] = []
    for task in sorted(kept, key=lambda one: (one.began_ms, one.id)):
        why = _unusable(task, player)
        if why:
            left[why] += 1
        elif task.split != "audit":
            usable.append(task)
    first = usable[: int(len(usable) * FIRST_SHARE)]
    cut = cut_ms if cut_ms is not None else end_of_day(first[-1].began_ms) if first else 0
    train = [as_task(task) for task in usable if task.began_ms < cut][-most_train:]
    later = [as_task(task) for task in usable if task.began_ms >= cut]
    gate = [task for task in TaskSet(tuple(train), tuple(later)).disjoint().gate if task.unit not in scored]
    return Chosen(tuple(train), tuple(gate[:MOST_GATE]), cut, left)


def affordable(tasks: Chosen, rollouts: int, repeats: int, attempts: int | None) -> Chosen | None:
    """As much of it as so many attempts allow, train tasks given up first; None where no comparison is left."""
    while attempts is not None and tasks.attempts(rollouts, repeats) > attempts:
        if len(tasks.train) > LEAST_TRAIN:
            tasks = replace(tasks, train=tasks.train[1:])
        elif len(tasks.gate) > 1:
            tasks = replace(tasks, gate=tasks.gate[:-1])
        else:
            return None
    return tasks


def grow(at: Growing, live: Skill, kept: Sequence[KeptTask], before: Grown, scored: Collection[str]) -> Grown:
    """One candidate for the skill, or the trial of an earlier one: attempted, edited, measured.

    `before` is what the last night left; `scored` are the units that its trial has measured.
    """
    same = before.live == live.digest and before.agent == at.player.backend
    if same and before.proven:
        return replace(before, why="what was proven waits for you")
    going_on = same and before.on_trial
    newest = max((task.began_ms for task in kept), default=0)
    if same and not going_on and before.newest_ms == newest and at.world.as_of_ms is None:
        return replace(before, why="nothing was asked for since it was last tried")
    cut = before.cut_ms if going_on else at.world.as_of_ms
    most = min(MOST_TRAIN, at.world.config.evolve.batch_size)
    tasks = chosen(kept, at.player, cut_ms=cut, most_train=most, scored=scored if going_on else ())
    why = _too_few(tasks, going_on=going_on)
    if why:
        return replace(before, why=why) if going_on else Grown(why=why)
    wanted = replace(tasks, train=()) if going_on else tasks
    bought = affordable(wanted, at.attempts, at.repeats, _attempts_left(at))
    if bought is None or not at.player.affords(1):
        why = f"the budget does not reach for one comparison at {at.player.price:,} tokens an attempt"
        return replace(before, why=why, exhausted=True) if going_on else Grown(why=why, exhausted=True)
    at.world.progress.say(_plan(at, bought))
    done = _weighed(at, live, kept, bought, before) if going_on else _evolved(at, live, kept, bought)
    return done if done.exhausted else replace(done, newest_ms=newest)


def rule_of(project: str, candidate: str) -> str:
    """The identity of a candidate: `r-` and a hash of project and text."""
    return "r-" + hashlib.sha256(f"{project}\0requests\0{candidate}".encode()).hexdigest()[:12]


def key_of(project: str, as_of_ms: int | None) -> str:
    """The key of a night's step."""
    return f"{GROWN}{project}" + (f" as of {as_of_ms}" if as_of_ms is not None else "")


def before(world: World, project: str, player: Natively) -> tuple[Grown, frozenset[str]]:
    """What the last night left of a project's skill, and the units that its trial has measured.

    A trial that is over goes on no more, nor does what a person has rejected. A backtest knows none but its own.
    """
    stored = last_result(world.store, key_of(project, None)) if world.as_of_ms is None else None
    last = Grown() if stored is None else msgspec.convert(stored, Grown)
    rule = rule_of(project, last.candidate)
    own = [one for one in trials(world.store) if one.rule == rule and one.id.endswith(f"-{player.backend}")]
    rejected = (one for one in proposals(world.store) if one.state is ProposalState.REJECTED)
    if any(edit.rule.startswith(rule) for one in rejected for edit in one.edits):
        return replace(last, edits=(), newest_ms=0), frozenset()
    if not own or own[-1].state not in {"running", "accepted"}:
        return replace(last, edits=()), frozenset()
    return last, frozenset(step.task for step in trial_steps(world.store, own[-1].id))


def guarded_literals(kept: Iterable[KeptTask], sessions: Collection[str]) -> frozenset[str]:
    """What no edit may quote: what the checks of any task look for, but for what persons said in these sessions.

    A person's correction is what there is to learn; that later tasks look for it as well is the point.
    """
    said: set[str] = set()
    secret: set[str] = set()
    for task in kept:
        for check in task.checks:
            try:
                found = compiled([kept_check(check)]).secrets
            except BadArgument:
                continue
            (said if check.derived_from == "said" and task.session in sessions else secret).update(found)
    return frozenset(secret - said)


def _evolved(at: Growing, live: Skill, kept: Sequence[KeptTask], tasks: Chosen) -> Grown:
    literals = guarded_literals(kept, {task.source for task in tasks.train})
    note_shown(at.world.store, at.night, {task.source for task in tasks.train})
    config = at.world.config.evolve
    schedule = Schedule.night(config.edit_budget, at.rollouts)
    schedule = replace(schedule, dreams=at.world.config.mine.dream_factor)
    baseline = Corrected(at.player.environment(at.night, f"requests {at.project} {at.night}"), at.episodes)
    critic = Careful(at.complete, minibatch=config.minibatch, small=at.world.backend == LOCAL)
    evolution = evolve(
        live, TaskSet(tasks.train, tasks.gate), baseline, critic, _Gate(at), schedule,
        memory=_memory(at), screen=at.screen(literals),
    )  # fmt: skip
    return _grown(at, live, evolution, tasks)


def _weighed(at: Growing, live: Skill, kept: Sequence[KeptTask], tasks: Chosen, before: Grown) -> Grown:
    literals = guarded_literals(kept, before.sessions)
    environment = at.player.environment(at.night, f"requests {at.project} {at.night}")
    evolution = weigh(
        live, Patch(before.edits), TaskSet((), tasks.gate), environment, _Gate(at),
        memory=Memory(preferences=at.world.config.preferences.rules), screen=at.screen(literals),
    )  # fmt: skip
    done = _grown(at, live, evolution, tasks)
    if done.verdict is None:  # nothing was measured tonight: the evidence stands as it was
        return replace(before, why=done.why, exhausted=done.exhausted)
    return replace(done, train=before.train, sessions=before.sessions)


def _grown(at: Growing, live: Skill, evolution: Evolution, tasks: Chosen) -> Grown:
    step = next(iter(evolution.steps), None)
    out = evolution.stopped == "budget"
    facts = Grown(live=live.digest, cut_ms=tasks.cut_ms, train=len(tasks.train), agent=at.player.backend, exhausted=out)
    facts = replace(facts, sessions=tuple(dict.fromkeys(task.source for task in tasks.train)))
    if evolution.stopped == "no_headroom":
        return replace(facts, why=f"nothing to gain: {at.player.backend} does all {len(tasks.train)} tasks well")
    if step is None or step.verdict is None:
        return replace(facts, why="the budget was out" if out else "nothing was tried")
    facts = replace(facts, refused=step.patch.refused)
    if step.candidate is None:
        return replace(facts, why=step.verdict.why if step.patch.edits else "the optimizer proposed nothing that holds")
    return replace(facts, edits=step.patch.edits, verdict=step.verdict, candidate=step.candidate.digest)


@dataclass(frozen=True, slots=True)
class _Gate:
    """The configured gate over this night's fresh attempts, for whatever candidate comes."""

    at: Growing

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """As `Fresh`, under the candidate's own name."""
        at, rule = self.at, rule_of(self.at.project, candidate.digest)
        fresh = Fresh(at.world, at.night, at.player, rule, memory=False, calibration=at.calibration)
        return fresh(environment, live, candidate, tasks, draws)


class Careful(ModelCritic):
    """A critic of whose other wordings of a task only those are attempted that an agent can be given by themselves.

    They go through no vetting, so they may name nothing that the task does not.
    """

    def dream(self, tasks: Sequence[Task], factor: int) -> Sequence[Sequence[str] | Missing]:
        """As the model's, without those."""
        return [
            said if isinstance(said, Missing) else [text for text in said if not not_alone(text, (task.prompt,))]
            for task, said in zip(tasks, super().dream(tasks, factor), strict=True)
        ]


class Corrected:
    """An environment of train tasks whose failed attempts also say what the person had to say in the recording."""

    def __init__(self, inner: Environment, episodes: Iterable[Episode]) -> None:
        self._inner = inner
        self._said: dict[int, str] = {}
        for one in episodes:
            self._said[one.prompt_event] = one.prompt
            self._said.update(zip(one.queued_events, one.queued, strict=False))
            self._said.update({a.said_event: a.said for a in one.actions if a.said and a.said_event is not None})

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """As the wrapped environment."""
        answers = self._inner.attempt(tasks, skill, draws)
        return [self._told(task, answer) for task, answer in zip(tasks, answers, strict=True)]

    def _told(self, task: Task, answer: Trajectory | Missing) -> Trajectory | Missing:
        if isinstance(answer, Missing) or answer.score.hard == 1:
            return answer
        rows = {check.source_event: None for check in kept_of(task).checks if check.derived_from == "said"}
        words = [clipped(self._said[row], _LONGEST) for row in rows if row in self._said]
        told = tuple(SAID.format(words=one) for one in words if one)
        return replace(answer, score=replace(answer.score, failed=(*answer.score.failed, *told)))


def _memory(at: Growing) -> Memory:
    return Memory(at.rejected, preferences=at.world.config.preferences.rules)


def _unusable(task: KeptTask, player: Natively) -> str:
    """Why a task cannot be attempted here, "" where it can."""
    if task.commit and not player.has_start(task):
        return "its commit is no longer in the project's repository"
    return player.unjudged(task)


def _too_few(tasks: Chosen, *, going_on: bool) -> str:
    if going_on:
        return "" if tasks.gate else "no new task since the last night"
    if len(tasks.train) < LEAST_TRAIN:
        return f"{len(tasks.train)} tasks before the cut, {LEAST_TRAIN} are needed"
    return "" if tasks.gate else "no task after the cut"


def _attempts_left(at: Growing) -> int | None:
    """What the budget buys, None for no limit."""
    tokens = at.world.spending(at.night).tokens
    return None if tokens.limit is None else int((tokens.limit - (tokens.spent or 0)) // at.player.price)


def _plan(at: Growing, tasks: Chosen) -> str:
    most = tasks.attempts(at.attempts, at.repeats)
    baseline = f"{len(tasks.train)} tasks × {at.attempts} as baseline, then " if tasks.train else ""
    left = "".join(f"; left out: {why} ({n})" for why, n in sorted(tasks.left.items()))
    pairs = f"{len(tasks.gate)} later tasks × {at.repeats} pairs"
    return f"{at.player.backend} attempts what you asked for: {baseline}{pairs}; at most {most} attempts{left}"
