"""What readers remember of a source (open calls, the last answer) goes through the redactor like all else.

A reader's state is MessagePack. One that is not cannot be cleaned and is not kept: its source is read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import fields

from skillopt_harvesters.model import Event, SessionFacts, Usage
from skillopt_sleep.redact import Redacted

SHORTEST: Final = 8
"""Characters; no shorter string holds a secret worth the name."""

FIELDS: Final = frozenset(field.name for shape in (Event, Usage, SessionFacts) for field in fields(shape))
"""Names of our own, under which readers remember things."""

HOLDERS: Final = (str, list, dict)

RedactMany = Callable[[Sequence[str]], list[Redacted]]


def clean_states(states: Sequence[bytes], redact_many: RedactMany, known: Mapping[str, str]) -> list[bytes | None]:
    """The states without secrets, in their order; None for one that cannot be cleaned.

    `known` are texts that were redacted already, by their raw form: those that came out as they were need no second
    look. The others of a state are looked at joined: hardly ever is there a secret among them, and then that is all.
    """
    decoded = [_decoded(state) for state in states]
    words = [_strings(value) for value, _ in decoded]
    joined = ["\n".join(word for word in some if known.get(word) != word) for some in words]
    cleaned: list[bytes | None] = []
    for state, (value, sound), some, text, clean in zip(
        states, decoded, words, joined, redact_many(joined), strict=True
    ):
        if not sound:
            cleaned.append(None)
        elif clean == text:
            cleaned.append(state)
        else:
            shown = dict(zip(some, redact_many(some), strict=True))
            cleaned.append(msgspec.msgpack.encode(_replaced(value, shown)))
    return cleaned


def _decoded(state: bytes) -> tuple[Any, bool]:
    try:
        return (msgspec.msgpack.decode(state) if state else None), True
    except msgspec.DecodeError:
        return None, False


def _strings(value: object) -> list[str]:
    """Every distinct string inside a decoded value that is long enough to hold a secret."""
    found: dict[str, None] = {}
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is str:
            if len(item) >= SHORTEST:
                found[item] = None
        elif type(item) is list:
            waiting.extend(item)
        elif type(item) is dict:
            waiting.extend([name for name in item if name not in FIELDS])
            waiting.extend([some for some in item.values() if type(some) in HOLDERS])
    return list(found)


def _replaced(value: object, clean: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return clean.get(value, value)
    if isinstance(value, list):
        return [_replaced(item, clean) for item in value]
    if isinstance(value, dict):
        return {_replaced(key, clean): _replaced(item, clean) for key, item in value.items()}
    return value
