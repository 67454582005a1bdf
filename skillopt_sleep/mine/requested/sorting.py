"""Tasks into patterns: a model names the kinds of request and says which tasks are of one kind, over nights too.

What two requests share in words is seen by structure (`mine.requests`); that two others ask for the same in other
words, or that two alike ones do not, takes a reader. A kind keeps its name and its identity for good.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.asking import Complete
from skillopt_core.prompting import fenced, filled
from skillopt_core.replies import Unusable, json_object
from skillopt_core.types import Missing
from skillopt_sleep.mine.asked import ask_all
from skillopt_sleep.mine.kinds.grounds import hazard
from skillopt_sleep.mine.questions import template
from skillopt_sleep.mine.requested.asking import Written
from skillopt_sleep.mine.requested.vetting import Task
from skillopt_sleep.mine.wording import clipped

PREFIX: Final = "asked:"
"""Of the signature of a pattern that a model found; the identity of its first task follows."""
MOST_LINES: Final = 60
"""Kinds and tasks that are compared with each other, known kinds among them."""
MOST_KNOWN: Final = 30
_LONGEST_NAME: Final = 80
_LONGEST_LINE: Final = 200
LONGEST_QUESTION: Final = MOST_LINES * (_LONGEST_LINE + _LONGEST_NAME + 10) * 4 + 2000
"""Bytes of the question, at most."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of request that is known: its signature, its name, and the episodes of its tasks."""

    signature: str
    name: str
    episodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    numbers: tuple[int, ...]


def sorted_out(
    complete: Complete,
    tasks: Sequence[Task],
    known: Sequence[Kind],
    written: Written,
    is_secret: Callable[[str], bool],
) -> list[Kind]:
    """The kind of each task, in the order of the tasks. Without an answer each goes by the name that it was given."""
    shown, fresh = list(known[:MOST_KNOWN]), tasks[: MOST_LINES - min(len(known), MOST_KNOWN)]
    groups = _asked(complete, shown, fresh, written) if fresh and len(shown) + len(fresh) > 1 else []
    kinds: dict[int, Kind] = {}
    for group in groups:
        own = [n - len(shown) - 1 for n in group.numbers if n > len(shown)]
        old = next((shown[n - 1] for n in group.numbers if n <= len(shown)), None)
        if own:
            name = "" if is_secret(group.name) else group.name
            kinds.update(dict.fromkeys(own, old or _new(name, tasks[own[0]])))
    by_name = {kind.name.casefold(): kind for kind in known}
    for n, task in enumerate(tasks):
        if n not in kinds:
            kinds[n] = by_name.setdefault(_name(task.kind, task).casefold(), _new(task.kind, task))
    return [kinds[n] for n in range(len(tasks))]


def with_tasks(kinds: Sequence[Kind], tasks: Sequence[Task]) -> list[Kind]:
    """Each kind once, with the episodes of these tasks beside those that it had."""
    episodes: dict[str, dict[str, None]] = defaultdict(dict)
    for kind, task in zip(kinds, tasks, strict=True):
        episodes[kind.signature].update(dict.fromkeys((*kind.episodes, task.episode.id)))
    named = {kind.signature: kind.name for kind in reversed(kinds)}
    return [Kind(signature, named[signature], tuple(own)) for signature, own in episodes.items()]


def _new(name: str, first: Task) -> Kind:
    return Kind(f"{PREFIX}{first.id}", _name(name, first), ())


def _name(name: str, task: Task) -> str:
    """A model's name for a kind, or the beginning of a task's prompt where that may not be shown."""
    plain = clipped(name, _LONGEST_NAME)
    return plain if plain and plain.isprintable() and not hazard(plain) else clipped(task.prompt, _LONGEST_NAME)


def _asked(complete: Complete, known: Sequence[Kind], tasks: Sequence[Task], written: Written) -> list[_Group]:
    rows = [*(kind.name for kind in known), *(f"{task.kind}: {task.prompt}" for task in tasks)]
    lines = "\n".join(f"{n}. {clipped(row, _LONGEST_LINE)}" for n, row in enumerate(rows, 1))
    question = template("requests")
    if written.exhausted:
        return []
    replies = ask_all(complete, [filled(question, {"requests": fenced("requests", lines)})], _groups, question)
    written.exhausted = replies.exhausted
    for answer in replies.given:
        if not isinstance(answer, Missing):
            return _disjoint(answer, len(rows))
        written.lost[answer.reason] += 1
    return []


def _groups(reply: str) -> tuple[_Group, ...]:
    found = json_object(reply, "kinds")["kinds"]
    if not isinstance(found, list):
        raise Unusable('"kinds" is no list')
    groups = tuple(group for group in map(_group, found) if group)
    if found and not groups:
        raise Unusable('no kind has "name" as a string and "requests" as numbers')
    return groups


def _group(entry: object) -> _Group | None:
    if not isinstance(entry, dict):
        return None
    name, numbers = entry.get("name"), entry.get("requests")
    if not isinstance(numbers, list):
        return None
    return _Group(name if isinstance(name, str) else "", tuple(n for n in numbers if type(n) is int))


def _disjoint(groups: Iterable[_Group], most: int) -> list[_Group]:
    """Each number once, in the first group that names it; numbers that there are not are left out."""
    taken: set[int] = set()
    found: list[_Group] = []
    for group in groups:
        own = tuple(n for n in dict.fromkeys(group.numbers) if 1 <= n <= most and n not in taken)
        taken.update(own)
        found.append(_Group(group.name, own))
    return found
