"""The questions to the model, and what may be read out of its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from skillopt_core.asking import Complete
from skillopt_core.prompting import fenced, filled
from skillopt_core.replies import Unusable, json_object
from skillopt_core.types import Missing
from skillopt_sleep.mine.asked import ask_all
from skillopt_sleep.mine.kinds.items import Item
from skillopt_sleep.mine.questions import template

MOST_KINDS: Final = 12
"""Kinds that are read out of one answer."""
MOST_RULES: Final = 80
"""Rules that are compared with each other."""
_MOST_NUMBERS: Final = 100
_MOST_DIGITS: Final = 6
_NAME: Final = 80
_RULE: Final = 600
_LONGEST_LINE: Final = 160
LONGEST_COMPARISON: Final = MOST_RULES * _LONGEST_LINE * 4 + 2000
"""Bytes of a prompt that compares rules, at most."""


@dataclass(frozen=True, slots=True)
class Named:
    """One kind as a model named it, with the items that it really was shown."""

    name: str
    rule: str
    items: tuple[Item, ...]


@dataclass
class Asked:
    """What came of asking. `lost` counts by reason what a model was asked for and did not give.

    `answered` are the batches with a readable answer, of `of` of them, `read` their items; `exhausted` says how
    the budget ended it.
    """

    of: int = 0
    answered: int = 0
    read: list[Item] = field(default_factory=list)
    kinds: list[Named] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    exhausted: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    numbers: tuple[int, ...]
    name: str
    rule: str


def prompts_of(batches: Iterable[Sequence[Item]]) -> list[str]:
    """One prompt a batch, its items numbered from 1 and fenced as data."""
    return [filled(template("kinds"), {"items": fenced("items", _listed(batch))}) for batch in batches]


def most_requests(batches: int) -> int:
    """Prompts that so many batches can lead to at most: each repaired once, and one comparison of the rules."""
    return 2 * batches + (2 if batches > 1 else 0)


def ask_kinds(complete: Complete, batches: Sequence[Sequence[Item]]) -> Asked:
    """The kinds that the model finds in each batch, in their order; what it fails to give is counted, never guessed.

    The budget's end stops the asking; what was answered before it stays. Raises what `complete` raises beside that.
    """
    replies = ask_all(complete, prompts_of(batches), _kinds, template("kinds"))
    asked = Asked(of=len(batches), exhausted=replies.exhausted)
    for batch, answer in zip(batches, replies.given, strict=False):
        _take(asked, batch, answer)
    return asked


def same_rules(complete: Complete, rules: Sequence[str], asked: Asked) -> list[list[int]]:
    """Groups of places of rules that the model takes for the same. A group of two at least, each place once."""
    shown = rules[:MOST_RULES]
    if len(shown) < 2 or asked.exhausted:
        return []
    lines = "\n".join(f"{n}. {rule[:_LONGEST_LINE]}" for n, rule in enumerate(shown, 1))
    question = template("same")
    prompt = filled(question, {"rules": fenced("rules", lines)})
    replies = ask_all(complete, [prompt], _groups, question)
    asked.exhausted = replies.exhausted
    for answer in replies.given:
        if not isinstance(answer, Missing):
            return _disjoint(answer, len(shown))
        asked.lost[answer.reason] += 1
    return []


def _take(asked: Asked, batch: Sequence[Item], answer: tuple[_Read, ...] | Missing) -> None:
    if isinstance(answer, Missing):
        asked.lost[answer.reason] += 1
        return
    asked.answered += 1
    asked.read.extend(batch)
    for read in answer:
        named = dict.fromkeys(read.numbers)
        numbers = [n for n in named if 1 <= n <= len(batch)]
        if len(numbers) < len(named):
            asked.lost["a number that no item has"] += 1
        if numbers:
            asked.kinds.append(Named(read.name, read.rule, tuple(batch[n - 1] for n in numbers)))


def _listed(batch: Sequence[Item]) -> str:
    return "\n".join(line for n, item in enumerate(batch, 1) for line in _lines(n, item))


def _lines(number: int, item: Item) -> Iterator[str]:
    yield f"{number}. {item.sort}"
    yield from (f"did: {done}" for done in item.did)
    yield f"said: {item.said}"


def _kinds(reply: str) -> tuple[_Read, ...]:
    found = _list(json_object(reply, "kinds"), "kinds")
    read = tuple(kind for kind in map(_kind, found[:MOST_KINDS]) if kind)
    if found and not read:
        raise Unusable('no kind has "items" as numbers and "rule" as a string')
    return read


def _kind(entry: object) -> _Read | None:
    if not isinstance(entry, dict):
        return None
    rule, name, items = entry.get("rule"), entry.get("name"), entry.get("items")
    numbers = _numbers(items if isinstance(items, list) else [items])
    if not isinstance(rule, str) or not rule.strip() or not numbers:
        return None
    return _Read(numbers, name[:_NAME] if isinstance(name, str) else "", rule[:_RULE])


def _groups(reply: str) -> tuple[tuple[int, ...], ...]:
    found = _list(json_object(reply, "same"), "same")
    groups = tuple(_numbers(entry) for entry in found if isinstance(entry, list))
    if found and not any(groups):
        raise Unusable('"same" is no list of lists of numbers')
    return groups


def _disjoint(groups: Iterable[Sequence[int]], most: int) -> list[list[int]]:
    taken: set[int] = set()
    found: list[list[int]] = []
    for group in groups:
        own = [n - 1 for n in dict.fromkeys(group) if 1 <= n <= most and n not in taken]
        taken.update(n + 1 for n in own)
        if len(own) > 1:
            found.append(own)
    return found


def _list(found: Mapping[str, object], key: str) -> list[object]:
    entries = found[key]
    if not isinstance(entries, list):
        raise Unusable(f'"{key}" is no list')
    return entries


def _numbers(entries: Sequence[object]) -> tuple[int, ...]:
    """Whole numbers, also where they are written as text; anything else is left out."""
    found: list[int] = []
    for entry in entries[:_MOST_NUMBERS]:
        if isinstance(entry, str) and entry.strip().isdecimal() and len(entry) <= _MOST_DIGITS:
            found.append(int(entry))
        elif isinstance(entry, int) and not isinstance(entry, bool):
            found.append(entry)
    return tuple(found)
