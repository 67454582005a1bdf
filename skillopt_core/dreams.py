"""Dreamed variants of train tasks: the same request in other words, labelled, and in train alone (gate.md, twins).

A variant is attempted and judged like its original, whose twin it is. It must keep every number, name in quotes or code
and web address of the original: what a check may look for stays. Whatever lost one is dropped and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from skillopt_core.memory import normalised
from skillopt_core.protocols import Dreamer
from skillopt_core.types import Missing, Task, TaskSet

DREAM: Final = "dream"
"""The origin of a made-up task."""
LONGEST: Final = 4
"""Times the length of its original that a variant may have."""
_KEPT: Final = re.compile(r"\d+(?:[.,:]\d+)*|`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|https?://\S+|[\w.+-]+@[\w.-]+\w")


def with_dreams(tasks: TaskSet, dreamer: Dreamer, factor: int) -> tuple[TaskSet, Mapping[str, int]]:
    """The same splits with up to `factor` variants behind each real train task, and what was lost, by reason.

    Gate and audit are as they were. Ids of variants are the original's with `~1`, `~2` …; their unit is the
    original's, or its id where it has none.
    """
    lost: Counter[str] = Counter()
    real = [task for task in tasks.train if task.origin != DREAM]
    if factor < 1 or not real:
        return tasks, lost
    answers = dreamer.dream(real, factor)
    train: list[Task] = []
    for task, answer in zip(real, answers, strict=True):
        train.append(replace(task, unit=task.unit or task.id))
        if isinstance(answer, Missing):
            lost[answer.reason] += 1
        else:
            train += _variants(task, answer, factor, lost)
    return replace(tasks, train=tuple(train)), lost


def _variants(task: Task, prompts: Sequence[str], factor: int, lost: Counter[str]) -> list[Task]:
    known = {normalised(task.prompt)}
    found: list[Task] = []
    for prompt in prompts[:factor]:
        why = _unfit(task.prompt, prompt, known)
        if why:
            lost[why] += 1
            continue
        known.add(normalised(prompt))
        name, unit = f"{task.id}~{len(found) + 1}", task.unit or task.id
        found.append(replace(task, id=name, unit=unit, prompt=prompt.strip(), origin=DREAM))
    return found


def _unfit(original: str, variant: str, known: set[str]) -> str:
    if not variant.strip() or normalised(variant) in known:
        return "a variant that says nothing new"
    if len(variant) > LONGEST * max(len(original), 40):
        return "a variant that is far too long"
    needed, given = Counter(_KEPT.findall(original)), Counter(_KEPT.findall(variant))
    return "a variant that lost a number, a name or an address" if needed - given or given - needed else ""
