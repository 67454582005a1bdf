"""Dreamed variants of train tasks: the same request in other words, labelled, and in train alone (gate.md, twins).

A variant is attempted and judged like its original, whose twin it is. It must keep every number, name in quotes or code
and web address of the original: what a check may look for stays. Whatever lost one is dropped and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from skillopt_core.memory import normalised
from skillopt_core.protocols import Critic, Dreamer
from skillopt_core.types import Missing, Task, TaskSet

if TYPE_CHECKING:
    from skillopt_core.run import Run

DREAM: Final = "dream"
"""The origin of a made-up task."""
LONGEST: Final = 4
"""Times the length of its original that a variant may have."""
_KEPT: Final = re.compile(r"\d+(?:[.,:]\d+)*|`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|https?://\S+|[\w.+-]+@[\w.-]+\w")


def dream(critic: Critic, run: Run, tasks: TaskSet, factor: int) -> TaskSet:
    """The same splits with up to `factor` variants of each train task, kept in `past`: a step adds those of its own.

    Splits, steps and looks are as they were. What was lost is counted by reason. Raises `Exhausted`.
    """
    if factor < 1 or not tasks.train:
        return tasks
    if not isinstance(critic, Dreamer):
        run.count("dreams: this optimizer makes up none")
        return tasks
    found: list[Task] = []
    for task, answer in zip(tasks.train, critic.dream(tasks.train, factor), strict=True):
        if isinstance(answer, Missing):
            run.count(f"critic: {answer.reason}")
        else:
            found += _variants(task, answer[:factor], run)
    return replace(tasks, past=(*tasks.past, *found))


def twin_of(task: Task) -> str:
    """The unit of a task and its dreams: its own, or its id where it has none."""
    return task.unit or task.id


def _variants(task: Task, prompts: Sequence[str], run: Run) -> list[Task]:
    """Ids of variants are the original's with `~1`, `~2` …"""
    known = {normalised(task.prompt)}
    found: list[Task] = []
    for prompt in prompts:
        why = _unfit(task.prompt, prompt, known)
        if why:
            run.count(f"dreams: {why}")
            continue
        known.add(normalised(prompt))
        name = f"{task.id}~{len(found) + 1}"
        found.append(replace(task, id=name, unit=twin_of(task), prompt=prompt.strip(), origin=DREAM))
    return found


def _unfit(original: str, variant: str, known: set[str]) -> str:
    if not variant.strip() or normalised(variant) in known:
        return "a variant that says nothing new"
    if len(variant) > LONGEST * max(len(original), 40):
        return "a variant that is far too long"
    needed, given = Counter(_KEPT.findall(original)), Counter(_KEPT.findall(variant))
    return "a variant that lost a number, a name or an address" if needed - given or given - needed else ""
