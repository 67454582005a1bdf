"""Tasks that passed, as they are kept: with their pattern, their split and what vetting found of each check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt_sleep.checks.kept import argument_text
from skillopt_sleep.domain.frictions import Pattern
from skillopt_sleep.domain.tasks import KeptTask, Split, TaskCheck
from skillopt_sleep.mine import Mined
from skillopt_sleep.mine.patterns import Scale, key_of, request_pattern
from skillopt_sleep.mine.requested.holding import Vetted
from skillopt_sleep.mine.requested.sorting import Kind, with_tasks
from skillopt_sleep.mine.requested.vetting import Task
from skillopt_sleep.mine.tasks import SHARES, By, sides_of


def patterns_of(kinds: Sequence[Kind], tasks: Sequence[Task], found: Mined) -> list[Pattern]:
    """The patterns of these tasks, each with all its episodes that are still there; `kinds` has one for each task."""
    by_id = {one.id: one for one in found.episodes}
    scale = Scale.of(found.episodes)
    patterns = []
    for kind in with_tasks(kinds, tasks):
        own = sorted((by_id[name] for name in kind.episodes if name in by_id), key=lambda e: (e.began_ms, e.id))
        patterns.append(request_pattern(own, own[0].project, scale, kind.signature, kind.name))
    return patterns


def kept_tasks(
    kinds: Sequence[Kind],
    tasks: Sequence[Task],
    found: Mined,
    salt: str,
    known: Mapping[str, Split],
    shares: Mapping[Split, float] = SHARES,
    by: By = "session",
) -> list[KeptTask]:
    """Tasks as the store has them. `known` are the splits of other tasks by their episode: twins go where they are."""
    keys = [key_of(task.episode.project, "request", kind.signature) for kind, task in zip(kinds, tasks, strict=True)]
    ties = [(task.episode.id, key) for key, task in zip(keys, tasks, strict=True)] if by == "pattern" else ()
    others = [(one, known[one.id]) for one in found.episodes if one.id in known]
    sides = sides_of([task.episode for task in tasks], others, salt, shares, ties)
    return [_kept(task, key, *sides[task.episode.id], salt) for key, task in zip(keys, tasks, strict=True)]


def _kept(task: Task, pattern: str, twin: str, split: Split, salt: str) -> KeptTask:
    return KeptTask(
        id=task.id,
        prompt=task.prompt,
        twin=twin,
        split=split,
        began_ms=task.episode.began_ms,
        pattern=pattern,
        episode=task.episode.id,
        session=task.episode.session,
        salt=salt,
        commit=task.commit,
        checks=tuple(map(_check, task.checks)),
    )


def _check(one: Vetted) -> TaskCheck:
    check = one.check
    return TaskCheck(check.kind, argument_text(check.argument), one.origin, one.event, one.finding)
