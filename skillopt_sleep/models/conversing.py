"""A conversation with a model: a system message, a request, turns with calls of tools, and how an answer is sampled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skillopt_sleep.models.base import Reply
from skillopt_sleep.redact import Redacted


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that is offered. `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it. `arguments` is None where they were no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Said(Reply):
    """An answer that may call tools. `message` is what the same endpoint wants to see again of it, as JSON.

    That holds more than the text where a model thinks: endpoints refuse what follows when its thoughts are missing.
    """

    calls: tuple[ToolCall, ...] = ()
    message: object = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to."""

    call: ToolCall
    text: Redacted
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer, and what followed it: the results of its calls, or `text` where it called no function."""

    said: Said
    results: tuple[Result, ...] = ()
    text: Redacted | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """All that is sent. `closed`: the tools stay described, since calls of them stand in it, and may not be called."""

    system: Redacted
    request: Redacted
    tools: tuple[Tool, ...] = ()
    turns: tuple[Turn, ...] = ()
    closed: bool = False

    @property
    def sent(self) -> str:
        """A text that is no shorter than what is sent, for whoever counts its tokens."""
        return "\n".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield self.system
        yield self.request
        for tool in self.tools:
            yield json.dumps([tool.name, tool.description, tool.parameters, WRAPPING], ensure_ascii=False)
        for turn in self.turns:
            yield json.dumps(turn.said.message, ensure_ascii=False, default=str)
            yield from (f"{result.call.id} {WRAPPING} {result.text}" for result in turn.results)
            yield turn.text or ""


WRAPPING = '{"type": "function", "tool_choice": "auto", "role": "tool_result"}'
"""What stands around a tool or its result on the wire, more or less, and counts as well."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an answer is drawn. `temperature` None is the provider's own; `seed` is for models that take one."""

    max_output: int
    temperature: float | None = None
    seed: int = 0


@runtime_checkable
class Conversing(Protocol):
    """A model that can be talked to. Raises as `Completer.complete` does.

    `functions`: it calls tools in a form of its own. Where it does not, tools are offered and called in words.
    """

    model: str
    where: str

    @property
    def functions(self) -> bool: ...

    def converse(self, asked: Conversation, sampling: Sampling) -> Said: ...


def arguments_of(text: object) -> Mapping[str, object] | None:
    """The arguments of a call, from JSON or from what was read of it already; None where they are no object."""
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def written(text: str, calls: Sequence[ToolCall]) -> str:
    """All that a model wrote, as far as it is seen: that is what was worked for."""
    return "".join([text, *(f"{call.name}{json.dumps(call.arguments, ensure_ascii=False)}" for call in calls)])
