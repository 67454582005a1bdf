"""One rule, practised: made from what happened before its cut, measured on what happened after (gate.md).

The optimizer is the core's; here the world is laid out for it. Train tasks are the episodes that show the friction,
gate tasks are *all* later episodes of the project in which the rule applies, whether it helps there or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.gate import Recurrence
from skillopt_core.loop import evolve, weigh
from skillopt_core.memory import Memory, Rejection
from skillopt_core.protocols import Critic, Draws, Environment, Gate, Observer, Screen
from skillopt_core.schedule import Schedule
from skillopt_core.types import Edit, Evolution, Missing, Outcome, Patch, Skill, Task, TaskSet, Trajectory, Verdict
from skillopt_sleep.clock import DAY_MS, day_of
from skillopt_sleep.critics.grammar import render
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.ledgers import AttemptLedger
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.domain.world import Replays
from skillopt_sleep.replay.journal import Journal

ONE_EDIT: Final = Schedule(kind="constant", epochs=1, batch=1_000_000, most=1, least=1, slow_update=0, meta=False)
"""One rule a fact: one step over all train tasks that may make one edit."""

WEEK_MS: Final = 7 * DAY_MS


MakeGate = Callable[[Recurrence | None, float | None], Gate]
"""The gate of a night: given how often the friction came back, and in how many units a week the rule applies."""


@dataclass(frozen=True, slots=True)
class Practice:
    """What one rule is practised on.

    `shown_by` names the episodes that show the friction, with a sentence about it each: those before the cut are what
    the rule is made from. `edit` is set where a person said the rule: then nothing is reflected on.
    """

    rule: str
    live: Skill
    cut_ms: int
    until_ms: int
    shown_by: Mapping[str, str]
    edit: Edit | None = None
    recurrence: Recurrence | None = None


def practise(
    subject: Practice,
    episodes: Iterable[Episode],
    agent: Replays,
    named: Mapping[str, str],
    ledger: AttemptLedger,
    critic: Critic,
    make_gate: MakeGate,
    *,
    screen: Screen,
    observer: Observer,
    preferences: Sequence[str] = (),
    rejected: Sequence[Rejection] = (),
) -> Evolution:
    """Take one rule through the optimizer and its gate, with recorded replays as evidence.

    `named` says who attempts (name, version). Attempts of one rule are made once and kept, over nights too: the agent
    is deterministic and each task is scored once. Days that are not over by `until_ms` wait for the next night.
    `rejected` are the edits of earlier nights that are not tried again on the same text: refused before any spend.
    """
    tasks = task_set(subject, episodes)
    environment = Shown(Journal(agent, ledger, f"rule {subject.rule}", named), subject.shown_by)
    gate = Narrowed(agent, make_gate, subject)
    memory = Memory(rejected, preferences=preferences)
    if subject.edit is not None:
        patch = Patch((subject.edit,))
        return weigh(subject.live, patch, tasks, environment, gate, memory=memory, screen=screen, observer=observer)
    return evolve(
        subject.live, tasks, environment, critic, gate, ONE_EDIT, memory=memory, screen=screen, observer=observer
    )


def task_set(subject: Practice, episodes: Iterable[Episode]) -> TaskSet:
    """Train: episodes before the cut that show the friction. Gate: every episode after it, up to the last whole day."""
    train, gate = [], []
    last = day_of(subject.until_ms)
    for episode in episodes:
        if episode.began_ms >= subject.cut_ms:
            if day_of(episode.began_ms) < last:
                gate.append(task_of(episode, subject.rule))
        elif episode.id in subject.shown_by:
            train.append(task_of(episode, subject.rule))
    return TaskSet(tuple(train), tuple(gate))


def task_of(episode: Episode, rule: str) -> Task:
    """An episode as a task. Sessions of one day, person and pattern are one unit, and told apart by `source`."""
    return Task(
        id=episode.id,
        prompt=episode.prompt,
        unit=f"{day_of(episode.began_ms)} {episode.person} {rule}",
        source=episode.session,
        began=episode.began_ms,
        payload=episode,
    )


def prevented_in(agent: Environment, sentence: Sentence, episodes: Sequence[Episode]) -> frozenset[str]:
    """The sessions in which a skill with this one sentence would have prevented something."""
    tasks = [task_of(episode, "") for episode in episodes]
    answers = agent.attempt(tasks, Skill(render(sentence)), [0] * len(tasks))
    pairs = zip(tasks, answers, strict=True)
    return frozenset(task.source for task, answer in pairs if not isinstance(answer, Missing) and _prevented(answer))


class Shown:
    """An environment whose recorded attempts fail the check that the miner made: the friction does not occur.

    What a person refused, or a linter found ten actions later, is no failure of the action itself; as a check of the
    task it is one.
    """

    def __init__(self, inner: Environment, shown_by: Mapping[str, str]) -> None:
        self._inner = inner
        self._shown_by = shown_by

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """As the wrapped environment, with the friction's check among the scores."""
        answers = self._inner.attempt(tasks, skill, draws)
        return [self._checked(task, answer) for task, answer in zip(tasks, answers, strict=True)]

    def _checked(self, task: Task, answer: Trajectory | Missing) -> Trajectory | Missing:
        said = self._shown_by.get(task.id)
        if said is None or isinstance(answer, Missing) or _prevented(answer):
            return answer
        return replace(answer, score=replace(answer.score, hard=0.0, failed=(*answer.score.failed, said)))


def _prevented(answer: Trajectory) -> bool:
    return answer.score.objectives.get("prevented", 0.0) > 0


class Narrowed:
    """A gate that is asked about those tasks alone in which the candidate changes anything: the rest is free.

    A mined rule that applies in no later session has no disjoint set: `unverified`. One that a person said, and that
    applies nowhere at all, has no exposure.
    """

    def __init__(self, agent: Replays, make_gate: MakeGate, subject: Practice) -> None:
        self._agent = agent
        self._make_gate = make_gate
        self._subject = subject

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """As the gate that `make_gate` makes, asked about the tasks to which the rule applies."""
        applies = [task for task, yes in zip(tasks, self._agent.exposed(tasks, candidate), strict=True) if yes]
        gate = self._make_gate(self._subject.recurrence, _per_week(tasks, applies))
        verdict = gate(environment, live, candidate, applies or tasks[:1], draws)
        if applies or self._subject.edit is not None or verdict.outcome is not Outcome.NO_EXPOSURE:
            return verdict
        why = f"it applies in none of the {len({task.source for task in tasks})} later sessions"
        return replace(verdict, outcome=Outcome.UNVERIFIED, why=why, needs="a later session in which it applies")


def _per_week(tasks: Sequence[Task], applies: Sequence[Task]) -> float | None:
    """Units a week in which the rule applies, over the time that the tasks span."""
    if not applies:
        return None
    span = max(task.began for task in tasks) - min(task.began for task in tasks) + DAY_MS
    return len({task.unit for task in applies}) * WEEK_MS / span
