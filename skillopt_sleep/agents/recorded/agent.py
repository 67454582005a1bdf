"""The agent itself: a skill's text in, a scored trajectory for each task out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.agents.recorded.effects import Effect, Occurrence, together
from skillopt_sleep.agents.recorded.following import follow
from skillopt_sleep.agents.recorded.history import History, Project
from skillopt_sleep.agents.recorded.parts import Standing
from skillopt_sleep.agents.recorded.telling import excerpt, failures
from skillopt_sleep.critics.grammar import parse
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.sentences import Sentence

MOST_KEPT: Final = 2048
"""Sentences and texts whose reading is kept."""

ByEpisode = Mapping[int, Sequence[Occurrence]]
"""Occurrences by the number of their episode, in order of time."""


class RecordedAgent:
    """Implements the core's `Environment`. A task's payload is the domain `Episode` that it replays.

    `Score.objectives`: applied, prevented, broken, unknown, neutral (actions), actions_saved, output_saved (tokens;
    below zero what the rules cost). `soft` is the share of the episode's actions that are not wasted, `hard` is 1 where
    none is. The draw is kept in the answer and changes nothing.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._rules = lru_cache(MOST_KEPT)(parse)
        self._follow = lru_cache(MOST_KEPT)(_followed)
        self._recorded = lru_cache(None)(_replayed)

    @property
    def deterministic(self) -> bool:
        """True: the same text on the same episode has the same answer."""
        return True

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One trajectory a task; `Missing` for a task whose episode is not in the history."""
        bound, digest = self._bound(skill), skill.digest
        return [self._attempt(task, bound, digest, draw) for task, draw in zip(tasks, draws, strict=True)]

    def exposed(self, tasks: Sequence[Task], skill: Skill) -> list[bool]:
        """For each task whether any sentence of the skill applies to any of its actions."""
        bound = self._bound(skill)
        places = (self._place(task) for task in tasks)
        return [place is not None and bool(bound(*place)) for place in places]

    def occurrences(self, sentence: Sentence, episode: Episode) -> tuple[Occurrence, ...]:
        """The actions of an episode to which a sentence applies, in order, with what that comes to: for a report."""
        place = self._history.place(episode)
        return tuple(self._follow(place[0], sentence).get(place[1], ())) if place else ()

    def _bound(self, skill: Skill) -> Callable[[Project, int], tuple[Occurrence, ...]]:
        """What the skill's rules come to in an episode, each rule followed once a project."""
        rules = self._rules(skill.text)
        followed: dict[Project, list[ByEpisode]] = {}

        def occurring(project: Project, number: int) -> tuple[Occurrence, ...]:
            if project not in followed:
                followed[project] = [self._follow(project, rule) for rule in rules]
            own = [of_rule[number] for of_rule in followed[project] if number in of_rule]
            return tuple(chain.from_iterable(own)) if own else ()

        return occurring

    def _attempt(
        self, task: Task, bound: Callable[[Project, int], tuple[Occurrence, ...]], digest: str, draw: int
    ) -> Trajectory | Missing:
        place = self._place(task)
        if place is None:
            return Missing("the task's episode is not in the recorded history")
        found = bound(*place)
        score, transcript = _replayed(*place, found) if found else self._recorded(*place, ())
        return Trajectory(task.id, draw, digest, score, transcript, loaded=digest)

    def _place(self, task: Task) -> tuple[Project, int] | None:
        return self._history.place(task.payload) if isinstance(task.payload, Episode) else None


def _followed(project: Project, sentence: Sentence) -> ByEpisode:
    found: dict[int, list[Occurrence]] = defaultdict(list)
    for occurrence in sorted(follow(project, sentence), key=lambda o: o.order):
        found[project.by_order[occurrence.order].episode].append(occurrence)
    return dict(found)


def _replayed(project: Project, number: int, occurrences: Sequence[Occurrence]) -> tuple[Score, str]:
    """The score and the transcript of one episode with what the rules change about it."""
    by_order: dict[int, list[Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        by_order[occurrence.order].append(occurrence)
    taken = {order: together(some) for order, some in by_order.items()}
    moments = project.of_episode[number]
    wasted = [m for m in moments if _is_wasted(m.standing, taken.get(m.order))]
    share = 1 - len(wasted) / len(moments) if moments else 1.0
    score = Score(float(not wasted), share, failures(wasted, taken), _objectives(tuple(taken.values())))
    return score, excerpt(moments, taken)


def _is_wasted(standing: Standing, taken: Occurrence | None) -> bool:
    if taken is not None and taken.effect is Effect.PREVENTED:
        return False
    return standing is Standing.WASTED or (taken is not None and taken.effect is Effect.BROKEN)


def _objectives(taken: Sequence[Occurrence]) -> dict[str, float]:
    effects = Counter(occurrence.effect for occurrence in taken)
    return {
        "applied": float(len(taken)),
        **{effect.value: float(effects[effect]) for effect in Effect},
        "actions_saved": float(sum(occurrence.actions for occurrence in taken)),
        "output_saved": float(sum(occurrence.tokens for occurrence in taken)),
    }
