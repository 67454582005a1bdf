"""Asking a model about many things, as far as the budget reaches: what was answered before its end stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from skillopt_core.asking import Complete, ask
from skillopt_core.prompting import default_prompts
from skillopt_core.protocols import Exhausted
from skillopt_core.types import Missing

TOGETHER: Final = 8
"""Prompts of one call of `complete`."""

T = TypeVar("T")


@dataclass
class Replies(Generic[T]):
    """What came back, in the order of the prompts; fewer where the budget ended it (`exhausted` says how)."""

    given: list[T | Missing] = field(default_factory=list)
    exhausted: str = ""


def ask_all(complete: Complete, prompts: Sequence[str], read: Callable[[str], T], template: str) -> Replies[T]:
    """What `read` makes of each reply; it raises `Unusable` for one that cannot be read, which is asked for once more.

    Raises what `complete` raises beside `Exhausted`.
    """
    replies: Replies[T] = Replies()
    for start in range(0, len(prompts), TOGETHER):
        some = prompts[start : start + TOGETHER]
        try:
            replies.given += _ask(complete, some, read, template)
        except Exhausted as out:
            replies.exhausted = str(out)
            replies.given += _stored(complete, some, read, template)
            break
    return replies


def _stored(complete: Complete, prompts: Sequence[str], read: Callable[[str], T], template: str) -> list[T | Missing]:
    """Those answers, up to the first that is not there, that were given before the end: they cost nothing now."""
    answers: list[T | Missing] = []
    for prompt in prompts:
        try:
            answers += _ask(complete, [prompt], read, template)
        except Exhausted:
            break
    return answers


def _ask(complete: Complete, prompts: Sequence[str], read: Callable[[str], T], template: str) -> list[T | Missing]:
    return ask(complete, prompts, read, repair=default_prompts()["repair"], template=template)
