"""Asking a model and reading what it says: all prompts at once, the unreadable replies once more.

What stays unreadable is `Missing("unusable reply")`, so that whoever asked can count it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, Self, TypeVar

from skillopt_core.prompting import clipped, fenced, filled
from skillopt_core.replies import Unusable
from skillopt_core.schemas import Schema
from skillopt_core.types import Missing

UNUSABLE: Final = "unusable reply"
_QUOTED: Final = 6000
_FORM: Final = "in this form:"

T = TypeVar("T")


class Prompt(str):
    """A prompt that knows the JSON Schema of its reply (schemas.py). For all else it is a plain string.

    A server that can constrain what a model writes takes it from `schema`; who cannot passes on the words alone.
    """

    __slots__ = ("schema",)
    schema: Schema

    def __new__(cls, text: str, schema: Schema) -> Self:
        prompt = super().__new__(cls, text)
        prompt.schema = schema
        return prompt


def schema_of(prompt: str) -> Schema | None:
    """The schema that goes with a prompt, None where it has none."""
    return prompt.schema if isinstance(prompt, Prompt) else None


class Complete(Protocol):
    """Who completes: as many replies as prompts, in the same order, a failed one as `Missing(reason)`.

    A prompt may be a `Prompt`: `schema_of(prompt)` is the JSON Schema to hold the model to, where that can be done. All
    prompts of one call are independent, so that a pool may run them together. Raises `Exhausted`.
    """

    def __call__(self, prompts: Sequence[str]) -> Sequence[str | Missing]: ...


class _Broken:
    """A reply that could not be read, and why."""

    def __init__(self, reply: str, problem: str) -> None:
        self.reply = reply
        self.problem = problem


def ask(
    complete: Complete, prompts: Sequence[str], read: Callable[[str], T], *, repair: str, template: str
) -> list[T | Missing]:
    """What `read` makes of each reply. `read` raises `Unusable`; such a reply is sent back once with what was wrong.

    `repair` is the prompt for that; `template` is the prompt that was filled: the line after its "in this form:" is the
    form that is asked for again.
    """
    answers = [_read(reply, read) for reply in _replies(complete, prompts)]
    broken = {n: answer for n, answer in enumerate(answers) if isinstance(answer, _Broken)}
    if broken:
        form = template.rpartition(_FORM)[2].strip().partition("\n")[0]
        again = [_repair(answer, repair, form, schema_of(prompts[n])) for n, answer in broken.items()]
        for n, reply in zip(broken, _replies(complete, again), strict=True):
            answers[n] = _read(reply, read)
    return [Missing(UNUSABLE) if isinstance(answer, _Broken) else answer for answer in answers]


def _read(reply: str | Missing, read: Callable[[str], T]) -> T | Missing | _Broken:
    if isinstance(reply, Missing):
        return reply
    try:
        return read(reply)
    except Unusable as error:
        return _Broken(reply, str(error))


def _repair(broken: _Broken, repair: str, form: str, schema: Schema | None) -> str:
    slots = {"problem": broken.problem, "form": form, "reply": fenced("reply", clipped(broken.reply, _QUOTED))}
    text = filled(repair, slots)
    return text if schema is None else Prompt(text, schema)


def _replies(complete: Complete, prompts: Sequence[str]) -> Sequence[str | Missing]:
    replies = complete(prompts) if prompts else ()
    if len(replies) != len(prompts):
        raise ValueError(f"{len(replies)} replies came back for {len(prompts)} prompts")
    return replies
