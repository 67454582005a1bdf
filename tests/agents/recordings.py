"""Recorded episodes by hand: sessions of short actions, in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from skillopt_core.types import Score, Skill, Task, Trajectory
from skillopt_sleep.agents.recorded import History, RecordedAgent
from skillopt_sleep.critics.grammar import render
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome, Episode
from skillopt_sleep.domain.sentences import Sentence

OK, ERROR, REFUSED = ActionOutcome.OK, ActionOutcome.ERROR, ActionOutcome.REFUSED


def ran(command: str, outcome: ActionOutcome = OK, output: str = "", **more: object) -> Action:
    action = Action(0, 0, ActionKind.COMMAND, "Bash", outcome, command=command, output=output, tokens=10)
    return replace(action, **more)  # type: ignore[arg-type]


def wrote(path: str, new: str, outcome: ActionOutcome = OK, said: str = "") -> Action:
    return Action(0, 0, ActionKind.WRITE, "Write", outcome, paths=(path,), new=new, said=said, tokens=10)


def edited(path: str, old: str, new: str, outcome: ActionOutcome = OK, said: str = "") -> Action:
    return Action(0, 0, ActionKind.EDIT, "Edit", outcome, paths=(path,), old=old, new=new, said=said, tokens=10)


def read(path: str, outcome: ActionOutcome = OK) -> Action:
    return Action(0, 0, ActionKind.READ, "Read", outcome, paths=(path,), tokens=10)


def listed(path: str, outcome: ActionOutcome = OK, *, empty: bool = False) -> Action:
    return Action(0, 0, ActionKind.LIST, "Glob", outcome, paths=(path,), empty=empty, tokens=10)


def recorded(*sessions: Sequence[Action], corrections: Sequence[str] = ()) -> list[Episode]:
    """One episode a session, one session an hour; actions get ids from 1 on in order."""
    ids = count(1)
    words = [*corrections, *[""] * len(sessions)]
    return [
        Episode(
            id=f"e{n}",
            session=f"s{n}",
            agent="claude",
            project="p",
            person="ann",
            began_ms=n * 3_600_000,
            prompt="do it",
            prompt_event=n,
            actions=tuple(replace(action, id=next(ids), seq=seq) for seq, action in enumerate(actions)),
            correction=words[n],
        )
        for n, actions in enumerate(sessions)
    ]


def tasks_of(episodes: Sequence[Episode]) -> list[Task]:
    return [Task(f"t-{e.id}", e.prompt, unit=e.session, source=e.session, payload=e) for e in episodes]


def skill_of(*sentences: Sentence) -> Skill:
    return Skill("# Notes\n\n" + "".join(f"{render(s)}\n" for s in sentences))


def replay(episodes: Sequence[Episode], *sentences: Sentence, skill: Skill | None = None) -> list[Trajectory]:
    agent, tasks = RecordedAgent(History.of(episodes)), tasks_of(episodes)
    answers = agent.attempt(tasks, skill or skill_of(*sentences), [0] * len(tasks))
    return [answer for answer in answers if isinstance(answer, Trajectory)]


def scores(episodes: Sequence[Episode], *sentences: Sentence) -> list[Score]:
    return [answer.score for answer in replay(episodes, *sentences)]


def effects(episodes: Sequence[Episode], *sentences: Sentence) -> list[str]:
    """What the rules come to in each episode: the effects that are not zero, in words."""
    names = ("prevented", "broken", "unknown", "neutral")
    return [
        " ".join(f"{name}{int(s.objectives[name])}" for name in names if s.objectives[name])
        for s in scores(episodes, *sentences)
    ]
