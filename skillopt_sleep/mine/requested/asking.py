"""The question to the model about a session, and what may be read out of its answer; vetting.py judges that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from skillopt_core.asking import Complete, Prompt
from skillopt_core.prompting import fenced, filled
from skillopt_core.replies import Unusable, json_object
from skillopt_core.schemas import Schema
from skillopt_core.types import Missing
from skillopt_sleep.mine.asked import ask_all
from skillopt_sleep.mine.questions import template
from skillopt_sleep.mine.requested.sheets import Sheet

LONGEST_PROMPT: Final = 1500
LONGEST_LITERAL: Final = 200
MOST_CHECKS: Final = 4
"""Checks of one task."""
_MOST_READ: Final = 50
"""Tasks that are read out of one answer: all that is beyond what was asked for is counted."""
_KIND: Final = 80
_STARTS: Final = {
    True: "a copy of the project's folder at the commit on which this session began, with its files and tests",
    False: "an empty folder, in which nothing of this project is there",
}


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """A check as a model named it, unchecked: `offer` is a mark, `test` one of "", contains, lacks, answer."""

    offer: str = ""
    test: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A task as a model wrote it, unchecked. `requests` are numbers of its sheet."""

    requests: tuple[int, ...]
    kind: str
    prompt: str
    checks: tuple[DraftCheck, ...]


@dataclass
class Written:
    """What came of asking: the drafts of each sheet that was answered, in order; `lost` counts what was not given."""

    of: int = 0
    drafts: list[tuple[Sheet, tuple[Draft, ...]]] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    exhausted: str = ""


def prompt_of(sheet: Sheet, most: int, *, has_commit: bool) -> str:
    """The question about one session: at most `most` tasks, which will start as is said."""
    slots = {"most": str(most), "start": _STARTS[has_commit], "session": fenced("session", sheet.text())}
    return Prompt(filled(template("tasks"), slots), _schema(sheet, most))


def most_requests(sheets: int) -> int:
    """Prompts that so many sessions can lead to at most: each repaired once, and one question about kinds."""
    return 2 * sheets + (2 if sheets else 0)


def ask_tasks(complete: Complete, sheets: Sequence[Sheet], prompts: Sequence[str]) -> Written:
    """The tasks that a model writes of each session, of which `prompts` has one each, in the same order.

    The budget's end stops the asking; what was answered before it stays.
    """
    replies = ask_all(complete, prompts, _tasks, template("tasks"))
    written = Written(of=len(sheets), exhausted=replies.exhausted)
    for sheet, answer in zip(sheets, replies.given, strict=False):
        if isinstance(answer, Missing):
            written.lost[answer.reason] += 1
        else:
            written.drafts.append((sheet, answer))
    return written


def _tasks(reply: str) -> tuple[Draft, ...]:
    found = json_object(reply, "tasks")["tasks"]
    if not isinstance(found, list):
        raise Unusable('"tasks" is no list')
    drafts = tuple(draft for draft in map(_draft, found[:_MOST_READ]) if draft)
    if found and not drafts:
        raise Unusable('no task has "requests" as numbers, "prompt" as a string and "checks" as a list')
    return drafts


def _draft(entry: object) -> Draft | None:
    if not isinstance(entry, dict):
        return None
    prompt, kind, checks = entry.get("prompt"), entry.get("kind"), entry.get("checks")
    numbers = _numbers(entry.get("requests"))
    if not isinstance(prompt, str) or not isinstance(checks, list) or not numbers:
        return None
    read = tuple(_check(one) for one in checks[:_MOST_READ])
    return Draft(numbers, kind[:_KIND] if isinstance(kind, str) else "", prompt[: LONGEST_PROMPT + 1], read)


def _check(entry: object) -> DraftCheck:
    """As it was named; what is no check has no mark, and is refused with that reason."""
    if not isinstance(entry, dict):
        return DraftCheck()
    offer = entry.get("offer")
    tests = [(test, text) for key, test in _TESTS.items() if isinstance(text := entry.get(key), str) and text.strip()]
    test, text = tests[0] if len(tests) == 1 else ("several" if tests else "", "")
    return DraftCheck(offer if isinstance(offer, str) else "", test, text[: LONGEST_LITERAL + 1])


_TESTS: Final = {"contains": "contains", "lacks": "lacks", "answer_contains": "answer"}


def _numbers(given: object) -> tuple[int, ...]:
    entries = given if isinstance(given, list) else [given]
    return tuple(one for one in entries[:_MOST_READ] if type(one) is int)


def _schema(sheet: Sheet, most: int) -> Schema:
    check = {
        "type": "object",
        "properties": {
            "offer": {"enum": [*sheet.offers, ""]},
            "contains": {"type": "string", "maxLength": LONGEST_LITERAL},
            "lacks": {"type": "string", "maxLength": LONGEST_LITERAL},
            "answer_contains": {"type": "string", "maxLength": LONGEST_LITERAL},
        },
        "additionalProperties": False,
    }
    numbers = {"enum": list(range(1, len(sheet.requests) + 1))}
    task = {
        "requests": {"type": "array", "items": numbers, "maxItems": len(sheet.requests)},
        "kind": {"type": "string", "maxLength": _KIND},
        "prompt": {"type": "string", "maxLength": LONGEST_PROMPT},
        "checks": {"type": "array", "items": check, "maxItems": MOST_CHECKS},
    }
    one = {"type": "object", "properties": task, "required": list(task), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"tasks": {"type": "array", "items": one, "maxItems": most}},
        "required": ["tasks"],
        "additionalProperties": False,
    }
