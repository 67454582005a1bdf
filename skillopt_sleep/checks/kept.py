"""Checks as the store keeps them: an argument there is a text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from skillopt_sleep.checks.kinds import BUILT_IN
from skillopt_sleep.checks.model import BadArgument, Check, Kind
from skillopt_sleep.domain.tasks import TaskCheck


def argument_text(argument: object) -> str:
    """An argument as the store keeps it: a text as it is, else JSON with its keys in order."""
    return argument if isinstance(argument, str) else json.dumps(argument, ensure_ascii=False, sort_keys=True)


def kept_check(check: TaskCheck, kinds: Mapping[str, Kind] = BUILT_IN) -> Check:
    """The check with its argument read. `BadArgument` where no kind gives it a meaning.

    An argument that is an object, a list or a number stands there as JSON; one that is a text stands there as it is.
    """
    kind = kinds.get(check.kind)
    if kind is None:
        raise BadArgument(f"there is no kind {check.kind!r}", f"Kinds are {', '.join(sorted(kinds))}")
    wrong: BadArgument | None = None
    for argument in _readings(check.argument):
        try:
            kind.read(argument)
        except BadArgument as error:
            wrong = wrong or error
        else:
            return Check(check.kind, argument)
    raise wrong or BadArgument("it says nothing", kind.argument)


def _readings(text: str) -> Iterator[object]:
    """What the text may stand for, the likeliest first."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield text
        return
    plain = not isinstance(value, (dict, list))
    yield from (text, value) if plain else (value, text)
    if text in {"", "null"}:
        yield None
