"""What adopted rules did in the person's own later sessions. Observed, not proven: most often too few sessions yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from skillopt_core.types import Skill, Task
from skillopt_sleep.critics.grammar import parse, phrase, render
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.domain.reports import Watched
from skillopt_sleep.domain.sentences import Said, Sentence
from skillopt_sleep.domain.world import Replays
from skillopt_sleep.night.plan import rule_id
from skillopt_sleep.replay.practice import task_of

ENOUGH: Final = 20
"""Later sessions below which a rate says nothing; to tell .09 from .03 takes 184 a side (gate.md, after adoption)."""


def watched(
    document: Document, live: str, adopted_ms: int, episodes: Sequence[Episode], agent: Replays
) -> list[Watched]:
    """For each rule that stands in the live document: in what share of sessions it was broken, before and after."""
    return [
        _watched(document, sentence, adopted_ms, episodes, agent)
        for sentence in parse(live)
        if not isinstance(sentence, Said)
    ]


def _watched(
    document: Document, sentence: Sentence, adopted_ms: int, episodes: Sequence[Episode], agent: Replays
) -> Watched:
    rule = rule_id(document.scope, sentence)
    tasks = [task_of(episode, rule) for episode in episodes]
    broken = agent.exposed(tasks, Skill(render(sentence)))
    sides = [_by_session(tasks, broken, adopted_ms, later=later) for later in (False, True)]
    before, after = (sum(side.values()) / len(side) if side else None for side in sides)
    return Watched(
        rule=rule,
        skill=document.name,
        title=phrase(sentence),
        sessions=len(sides[1]),
        before=before,
        after=after,
        finding=_finding(before, after, len(sides[1])),
    )


def _by_session(tasks: Sequence[Task], broken: Sequence[bool], adopted_ms: int, *, later: bool) -> Mapping[str, bool]:
    sessions: dict[str, bool] = {}
    for task, broke in zip(tasks, broken, strict=True):
        if (task.began >= adopted_ms) is later:
            sessions[task.source] = sessions.get(task.source, False) or broke
    return sessions


def _finding(before: float | None, after: float | None, sessions: int) -> str:
    if after is None or before is None or sessions < ENOUGH:
        return f"too few sessions yet ({sessions})"
    return f"broken in {after:.0%} of {sessions} later sessions, {before:.0%} before"
