"""Train, gate, audit: given by the files, or shared out by ratio; by whole twin groups, and disjoint either way.

Twins (tasks of one `group`, and tasks that ask the same from the same starting files) are one unit: they stay together
and are counted once (gate.md, unit).
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from skillopt_core import TaskSet
from skillopt_core.gate.power import power, units_for
from skillopt_core.seeded import Seeded
from skillopt_core.types import Task
from skillopt_sleep.domain.tasks import Split
from skillopt_sleep.errors import UsageError
from skillopt_sleep.train.rows import LoadedTask

Ratio = tuple[float, float, float]
PAPER: Final[Ratio] = (2, 1, 7)
"""Train, gate, audit as in the publication, from `ENOUGH` units on."""
SMALL: Final[Ratio] = (40, 40, 20)
"""Below that: a gate that is as large as can be."""
ENOUGH: Final = 100
ORDER: Final[tuple[Split, ...]] = ("train", "gate", "audit")
_FIRST: Final[tuple[Split, ...]] = ("gate", "train", "audit")
"""Who gets a unit that is left over by rounding: evidence is scarcer than matter to learn from."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """The three splits, each in the order of the files. `units` names the twin group of each task by its id.

    `warnings` are sentences for a person: what this number of tasks can show, which split is empty.
    """

    train: tuple[LoadedTask, ...] = ()
    gate: tuple[LoadedTask, ...] = ()
    audit: tuple[LoadedTask, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[LoadedTask, ...]:
        return (*self.train, *self.gate, *self.audit)

    def task_set(self) -> TaskSet:
        """The core's view: `Task.unit` is the twin group, `Task.payload` the loaded task."""
        return TaskSet(self._tasks(self.train), self._tasks(self.gate), self._tasks(self.audit))

    def _tasks(self, split: Iterable[LoadedTask]) -> tuple[Task, ...]:
        return tuple(task.as_task(self.units[task.id]) for task in split)


def split(
    tasks: Sequence[LoadedTask],
    *,
    seed: int = 0,
    ratio: Ratio | None = None,
    audit: Sequence[LoadedTask] = (),
    repeats: int = 3,
    alpha: float = 0.05,
) -> Tasks:
    """Share tasks out. `audit` are those of a file of their own (`--audit`); what else names a split has it.

    The others are shared, whole twin groups at a time, over the splits that none of the files names: by `ratio` (train,
    gate, audit), else by 2:1:7 from 100 units on and 40:40:20 below. Which group goes where depends on `seed` and on
    the tasks, not on their order. `repeats` and `alpha` are the gate's, for the warning of what it can then detect.
    `UsageError` where twins are given to different splits, or open tasks are left where every split is given.
    """
    named: dict[str, Split] = {task.id: "audit" for task in audit}
    _unique(tasks, named)
    everything = [*tasks, *audit]
    groups = twins(everything)
    named |= {task.id: task.split for task in tasks if task.split}
    open_groups = [group for group in groups.values() if not any(task.id in named for task in group)]
    for group in groups.values():
        _agree(group, named)
    if open_groups:
        named |= _shared(open_groups, named, seed, ratio or (PAPER if len(groups) >= ENOUGH else SMALL))
    units = {task.id: unit for unit, group in groups.items() for task in group}
    parts = {name: tuple(task for task in everything if named[task.id] == name) for name in ORDER}
    return Tasks(**parts, units=units, warnings=tuple(_warnings(parts, units, repeats, alpha)))


def twins(tasks: Iterable[LoadedTask]) -> dict[str, list[LoadedTask]]:
    """The twin groups, each named after the least id in it. Tasks of one group, or of one prompt and start, belong
    together."""
    known = list(tasks)
    parents = {task.id: task.id for task in known}

    def top(name: str) -> str:
        while parents[name] != name:
            parents[name] = parents[parents[name]]
            name = parents[name]
        return name

    first: dict[str, str] = {}
    for task in known:
        for tie in (f"asks {_asked(task)}", *((f"group {task.group}",) if task.group else ())):
            a, b = top(task.id), top(first.setdefault(tie, task.id))
            parents[max(a, b)] = min(a, b)
    groups: dict[str, list[LoadedTask]] = defaultdict(list)
    for task in known:
        groups[top(task.id)].append(task)
    return dict(groups)


def _asked(task: LoadedTask) -> str:
    """What a task asks, without case, width and spacing, and what it starts from."""
    folded = unicodedata.normalize("NFKC", task.prompt).casefold()
    parts = [" ".join(folded.split()).encode("utf-8", "surrogatepass")]
    for path, content in sorted(task.files.items()):
        parts += [path.encode("utf-8", "surrogatepass"), content]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()


def _unique(tasks: Iterable[LoadedTask], audit: Mapping[str, Split]) -> None:
    for task in tasks:
        if task.id in audit:
            raise UsageError(
                f"id: {task.id} is the name of an audit task too", where=task.where, remedy="Give each task its own"
            )


def _agree(group: Sequence[LoadedTask], named: Mapping[str, Split]) -> None:
    """Twins in two splits would make the held-out ones no evidence."""
    one = next((task for task in group if task.id in named), None)
    other = one and next((task for task in group if named.get(task.id) != named[one.id]), None)
    if one and other:
        where, split = other.where, named.get(other.id) or "no split"
        raise UsageError(
            f"it is a twin of {one.where} (one group, or the same prompt), which is in {named[one.id]}, not {split}",
            where=where,
            remedy="Put twins into one split, or leave one of them out",
        )


def _shared(
    groups: Sequence[Sequence[LoadedTask]], given: Mapping[str, Split], seed: int, ratio: Ratio
) -> dict[str, Split]:
    """A split for each task of the open groups, over the splits that nobody names."""
    taken = set(given.values())
    shares = {name: share for name, share in zip(ORDER, ratio, strict=True) if name not in taken and share > 0}
    if not shares:
        raise UsageError(
            "it names no split, and all splits are given already",
            where=groups[0][0].where,
            remedy="Name a split on every task, or on none",
        )
    order = Seeded(seed).shuffled(sorted(groups, key=lambda group: min(_asked(task) for task in group)))
    shared: dict[str, Split] = {}
    at = 0
    for name, count in _counts(len(order), shares).items():
        shared |= {task.id: name for group in order[at : at + count] for task in group}
        at += count
    return shared


def _counts(units: int, shares: Mapping[Split, float]) -> dict[Split, int]:
    """How many units each split gets: largest remainders, and one each as far as they go round."""
    whole = sum(shares.values())
    exact = {name: units * share / whole for name, share in shares.items()}
    counts = {name: int(amount) for name, amount in exact.items()}
    claims = sorted(shares, key=lambda name: (counts[name] - exact[name], _FIRST.index(name)))
    for name in claims[: units - sum(counts.values())]:
        counts[name] += 1
    for name in (name for name in _FIRST if name in counts and not counts[name]):
        rich = max(counts, key=lambda other: counts[other])
        if counts[rich] > 1:
            counts[rich], counts[name] = counts[rich] - 1, 1
    return counts


def _warnings(
    parts: Mapping[Split, Sequence[LoadedTask]], units: Mapping[str, str], repeats: int, alpha: float
) -> Iterable[str]:
    count = {name: len({units[task.id] for task in tasks}) for name, tasks in parts.items()}
    told = ", ".join(f"{name} {count[name]}" for name in ORDER)
    if not count["train"]:
        yield f"there are no train tasks, so nothing can be learnt ({told})"
    if not count["gate"]:
        yield f"there are no gate tasks, so nothing can be proven ({told})"
    if not count["audit"]:
        yield f"there are no audit tasks, so the result will not be measured on fresh ones ({told})"
    if count["gate"]:
        yield f"with {told} independent tasks {_detectable(count['gate'], repeats, alpha)}"


def _detectable(units: int, repeats: int, alpha: float) -> str:
    able = power(units, repeats, alpha)
    terms = f"(power 80 %, α {alpha:g}, {repeats} repeats)"
    if able.detectable_effect is None:
        wanted = max(able.discordant_needed, units_for(0.3, repeats, alpha))
        return f"the gate can prove no effect at all {terms}; {wanted} gate tasks would show one of +0.30"
    return f"the gate can detect an effect of +{able.detectable_effect:.2f} or more {terms}"
