"""A simulated critic of settable quality: so that anyone can see what the loop and its gate do with a bad optimizer.

Implements the core's `Critic`. It sees what any critic sees: the skill, train attempts, and what is said of their
failed checks. Its figures are simulated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from skillopt_core.aggregate import join
from skillopt_core.memory import Memory
from skillopt_core.seeded import Seeded
from skillopt_core.types import Edit, Missing, Patch, Skill, Trajectory
from skillopt_sleep.critics.imperatives import (
    Heading,
    Label,
    Limit,
    Order,
    Tool,
    demanded,
    ordered,
    orders,
    phrase,
)
from skillopt_sleep.critics.spans import Unphrasable


class Quality(StrEnum):
    """What kind of optimizer it plays.

    good: the rule that what was said of a failed check asks for. useless: a rule that changes nothing. harmful: a
    plausible wrong one, that blames what the failed answers had. leaking: a rule that gives tasks or answers away.
    """

    GOOD = "good"
    USELESS = "useless"
    HARMFUL = "harmful"
    LEAKING = "leaking"


_USELESS: Final = (
    "Read the question twice.",
    "Write for a reader who is in a hurry.",
    "Prefer plain words to learned ones.",
    "Mind the reader's time.",
    "Think before you write.",
    "Put the most telling point first.",
    "Use the active voice.",
    "Write as you would speak to a colleague.",
    "Check the spelling of names.",
    "Take the question at its word.",
)
_HEADING: Final = re.compile(r"^#{1,6} +(\S.*?)\s*$", re.MULTILINE)
_LABELLED: Final = re.compile(r"^([A-Z][\w -]{0,40}): *\S", re.MULTILINE)
_CALLED: Final = re.compile(r"^\[called (\S+)\]$", re.MULTILINE)
_LEAST: Final = 40
"""Characters: no shorter answer is ever asked for."""

Support = Mapping[str, frozenset[str]]
"""Rules, each with the tasks that show the need, best supported first."""


class SimulatedCritic:
    """`leaks` are texts that no critic should know (patterns, gold answers): the leaking one writes them down."""

    def __init__(self, quality: Quality = Quality.GOOD, *, seed: int = 0, leaks: Sequence[str] = ()) -> None:
        self._quality = quality
        self._stream = Seeded(seed)
        self._leaks = tuple(leaks)

    def reflect(
        self, skill: Skill, seen: Sequence[Trajectory], edit_budget: int, memory: Memory
    ) -> Sequence[Patch | Missing]:
        """One patch of at most `edit_budget` new rules, added at the end, where a later line wins."""
        failed = [attempt for attempt in seen if attempt.score.hard < 1]
        said = skill.text.casefold()
        rules = {rule: tasks for rule, tasks in self._rules(skill, failed).items() if rule.casefold() not in said}
        edits = (
            Edit("add", "", f"- {rule}", tasks, why=f"simulated: {self._quality}") for rule, tasks in rules.items()
        )
        fresh = [edit for edit in edits if memory.remembered(edit, skill.digest) is None]
        return [Patch(tuple(fresh[:edit_budget]))] if fresh else []

    def merge(self, patches: Sequence[Patch], memory: Memory) -> Patch | Missing:
        """Duplicates united, conflicts on one anchor settled."""
        return join(patches)

    def rank(self, edits: Sequence[Edit], keep: int, memory: Memory) -> Sequence[int] | Missing:
        """By support, then as they came."""
        return sorted(range(len(edits)), key=lambda index: -len(edits[index].support))[:keep]

    def _rules(self, skill: Skill, failed: Sequence[Trajectory]) -> Support:
        match self._quality:
            case Quality.GOOD:
                return _supported(_asked_for(skill, failed))
            case Quality.USELESS:
                return dict.fromkeys(self._stream.shuffled(_USELESS), _tasks(failed))
            case Quality.HARMFUL:
                blamed = _supported(_blamed(failed))
                return {rule: blamed[rule] for rule in self._stream.shuffled(list(blamed))[:1]}
            case Quality.LEAKING:
                return _supported(_given_away(failed, self._leaks))


def _asked_for(skill: Skill, failed: Sequence[Trajectory]) -> Iterator[tuple[str, str]]:
    """What the failed checks ask for and the skill does not order yet, each with a task that shows it."""
    holding = orders(skill.text)
    for attempt in failed:
        for description in attempt.score.failed:
            for order in demanded(description):
                if not ordered(order, holding):
                    yield from _phrased(order, attempt.task)


def _blamed(failed: Sequence[Trajectory]) -> Iterator[tuple[str, str]]:
    """Superstition: what the failed answers had is why they failed. It may well be what makes others pass."""
    shortest = min((len(attempt.transcript) for attempt in failed), default=0)
    for attempt in failed:
        text = attempt.transcript
        blamed: tuple[Order, ...] = (
            Limit(max(shortest // 2, _LEAST)),
            *(Heading(title, wanted=False) for title in _HEADING.findall(text)),
            *(Label(name, wanted=False) for name in _LABELLED.findall(text)),
            *(Tool(name, wanted=False) for name in _CALLED.findall(text)),
        )
        for order in blamed:
            yield from _phrased(order, attempt.task)


def _given_away(failed: Sequence[Trajectory], leaks: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The tasks' own words, and what no critic should know."""
    for attempt in failed:
        yield from ((f"See to it that {leak} is found in the answer.", attempt.task) for leak in leaks)
        yield f"If you are asked to {attempt.prompt.rstrip('.')}, answer as before.", attempt.task


def _phrased(order: Order, task: str) -> Iterator[tuple[str, str]]:
    try:
        yield phrase(order), task
    except Unphrasable:
        return


def _supported(shown: Iterator[tuple[str, str]]) -> Support:
    tasks: dict[str, set[str]] = {}
    for rule, task in shown:
        tasks.setdefault(rule, set()).add(task)
    return {rule: frozenset(tasks[rule]) for rule in sorted(tasks, key=lambda rule: -len(tasks[rule]))}


def _tasks(attempts: Sequence[Trajectory]) -> frozenset[str]:
    return frozenset(attempt.task for attempt in attempts)
