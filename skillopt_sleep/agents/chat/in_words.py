"""Tools in words, for models that have no form of their own for it: offered in the system message, called by a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.models.conversing import Conversation, Result, Said, Tool, ToolCall, Turn
from skillopt_sleep.redact import Redacted

NAMED: Final = (
    "Tools: {names}\n"
    "A tool is called by beginning the reply with CALL and its name, like this:\n"
    "CALL {first}: what to look for\n\n"
)
"""Of eight wordings that a model of half a billion parameters was tried with, the one that it follows when told to call
the tool and mostly leaves alone when not (5 and 1 of 6 train tasks)."""
_OFFER: Final = (
    "You may use these tools:\n{tools}\n"
    "To use one, reply with its form alone. You are then shown what came of it. "
    "When you are done, reply with your answer, without CALL.\n\n"
)
_LAST: Final = "\n\nThere are no more calls. Reply with your answer."
_LINE: Final = re.compile(r"^[ \t>*`-]*CALL[ \t]+([^\s:`]{1,80})[ \t]*(?::(.*))?$", re.MULTILINE)
_FORM: Final = re.compile(r"^[ \t>*`-]*CALL[ \t]+([A-Za-z0-9_-]{1,64})\b[ \t`]*:?(.*)$", re.MULTILINE)
"""A call with what it is given behind it or below it: a model of half a billion parameters writes both."""
_FENCE: Final = re.compile(r"\A```[^\n]*\n(.*?)\n?```[ \t]*\Z", re.DOTALL)


def read_answer(text: str, tools: Sequence[str]) -> Answer:
    """The words, and the calls among them of tools that were offered by name and bring nothing back."""
    called = tuple(match[1] for match in _LINE.finditer(text) if match[1] in tools)
    return Answer(_LINE.sub("", text).strip() if called else text, called)


def spoken(asked: Conversation) -> Conversation:
    """The same conversation in words alone: what tools there are, and what came of each call."""
    forms = "\n".join(f"- {tool.name}: {tool.description} Form:\n{_form(tool)}" for tool in asked.tools)
    system = Redacted(_OFFER.format(tools=forms) + asked.system) if asked.tools else asked.system
    turns = [replace(turn, results=(), text=_told(turn.results)) if turn.results else turn for turn in asked.turns]
    if asked.closed and turns:
        turns[-1] = replace(turns[-1], text=Redacted((turns[-1].text or "") + _LAST))
    return Conversation(system, asked.request, turns=tuple(turns))


def heard(said: Said, tools: Sequence[Tool]) -> Said:
    """An answer with the calls that its words make. What stands behind a call's line belongs to the call."""
    known = {tool.name: tool for tool in tools}
    calls = tuple(_calls(said.text, known))
    return replace(said, calls=calls, message=said.message or said.written) if calls else said


def _calls(text: str, known: Mapping[str, Tool]) -> Iterator[ToolCall]:
    lines = [match for match in _FORM.finditer(text) if match[1] in known]
    for number, line in enumerate(lines):
        end = lines[number + 1].start() if number + 1 < len(lines) else len(text)
        given = (line[2] + text[line.end() : end]).strip()
        yield ToolCall(f"call_{number}", line[1], _arguments(_bare(given), known[line[1]]))


def _arguments(given: str, tool: Tool) -> Mapping[str, object]:
    """The first line for a path or for the first of two parameters, the rest for the second; else all of it.

    Where both stand in one line the first word is the first.
    """
    names = _parameters(tool)
    first, _, rest = given.partition("\n")
    if len(names) < 2:
        return dict.fromkeys(names, first.strip() if names == ["path"] else given)
    if not rest:
        first, _, rest = first.strip().partition(" ")
    return {names[0]: first.strip(), names[1]: _bare(rest)}


def _bare(text: str) -> str:
    fenced = _FENCE.match(text.strip())
    return fenced[1] if fenced else text


def _form(tool: Tool) -> str:
    names = _parameters(tool)
    return f"CALL {tool.name}\n" + "\n".join(f"({name})" for name in names)


def _parameters(tool: Tool) -> list[str]:
    found = tool.parameters.get("properties")
    return list(found) if isinstance(found, dict) else []


def _told(results: Sequence[Result]) -> Redacted:
    said = [f"{one.call.name}{' failed' if one.failed else ''}:\n{one.text}" for one in results]
    return Redacted("\n\n".join(said))


def turn_of(said: Said, results: Sequence[Result]) -> Turn:
    """A turn of either form."""
    return Turn(said, tuple(results))
