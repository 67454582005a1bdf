"""A scripted judge: reads a prompt by its frame alone, as a model should, and says what it was scripted to say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from werkzeug import Request, Response

from tests.models.scripted import message

MARK = re.compile(r'\{"mark": "([0-9a-f]{12})"')


def block(name: str, prompt: str) -> str:
    """What stands in a tagged block, from its opening tag to the first closing tag that has the same digest."""
    tags = re.findall(rf"^<({name}-[0-9a-f]{{16}})>$", prompt, re.MULTILINE)
    tag = tags[0]
    return prompt.split(f"<{tag}>\n", 1)[1].split(f"\n</{tag}>", 1)[0]


def mark_of(prompt: str) -> str:
    """The mark that the frame names, on its last line."""
    return MARK.findall(prompt.strip().splitlines()[-1])[0]


def reply(prompt: str, grade: Callable[[str], int]) -> str:
    """A verdict by what the answers hold: a grade, or the better one of two."""
    if re.search(r"^<first-answer-", prompt, re.MULTILINE):
        first, second = grade(block("first-answer", prompt)), grade(block("second-answer", prompt))
        better = "neither" if first == second else "first" if first > second else "second"
        return json.dumps({"mark": mark_of(prompt), "reason": "as scripted", "better": better})
    return json.dumps({"mark": mark_of(prompt), "reason": "as scripted", "grade": grade(block("answer", prompt))})


def prompt_of(request: Request) -> str:
    (only,) = request.get_json()["messages"]
    return str(only["content"])


def judging(grade: Callable[[str], int]) -> Callable[[Request], Response]:
    """The judge as an answer of the scripted server."""
    return lambda request: message(request.path, reply(prompt_of(request), grade), (300, 20))
