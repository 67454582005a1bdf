"""What a model answered, checked by hand over json: never trusted to have the right shape, names or numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.types import Edit, Label, Op

LONGEST_TEXT: Final = 2000
LONGEST_DOCUMENT: Final = 16_000

_OPS: Final[Mapping[str, Op]] = {
    "add": "add",
    "append": "add",
    "insert_after": "insert_after",
    "insert": "insert_after",
    "replace": "replace",
    "delete": "delete",
    "remove": "delete",
}
_TRAILING_COMMA: Final = re.compile(r",(\s*[}\]])")
_BULLET: Final = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_STARTS: Final = 40


class Unusable(Exception):
    """A reply that cannot be read; its message says what is wrong, for the repair."""


@dataclass(frozen=True, slots=True)
class ReadEdit:
    """An edit as it was read. `sources` are the numbers that the model gave as its origin, unchecked."""

    edit: Edit
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReadPattern:
    """A pattern as it was read, with the labels of the tasks that the model named, unchecked."""

    why: str
    label: Label
    tasks: tuple[str, ...]
    edits: tuple[ReadEdit, ...]
    malformed: int


def json_object(reply: str, key: str) -> Mapping[str, object]:
    """The first JSON object in the reply that has `key`, wherever it stands; a trailing comma is forgiven."""
    for text in (reply, _TRAILING_COMMA.sub(r"\1", reply)):
        for found in _objects(text):
            if key in found:
                return found
    raise Unusable(f'there is no JSON object with "{key}"')


def read_patterns(reply: str) -> tuple[ReadPattern, ...]:
    """The patterns of a reflection. Malformed edits are counted; a reply with nothing but those is unusable."""
    patterns = tuple(_pattern(item) for item in _items(json_object(reply, "patterns"), "patterns"))
    if any(pattern.malformed for pattern in patterns) and not any(pattern.edits for pattern in patterns):
        raise Unusable('no edit has "op" (add, insert_after, replace or delete), "anchor" and "text" as strings')
    return patterns


def read_edits(reply: str) -> tuple[ReadEdit, ...]:
    """The edits of a merge or a correction."""
    items = _items(json_object(reply, "edits"), "edits")
    edits = tuple(edit for edit in map(_edit, items) if edit)
    if items and not edits:
        raise Unusable('no edit has "op" (add, insert_after, replace or delete), "anchor" and "text" as strings')
    return edits


def read_numbers(reply: str, key: str) -> tuple[int, ...]:
    """A list of whole numbers."""
    return _numbers(_items(json_object(reply, key), key))


def read_number(reply: str, key: str) -> tuple[int, str]:
    """One whole number, and the reason that goes with it."""
    found = json_object(reply, key)
    number = found[key]
    if isinstance(number, bool) or not isinstance(number, int):
        raise Unusable(f'"{key}" is no whole number')
    return number, _string(found.get("reason"))


def read_text(reply: str, key: str) -> str:
    """A string."""
    text = json_object(reply, key)[key]
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise Unusable(f'"{key}" is no string of at most {LONGEST_TEXT} characters')
    return text


def read_document(reply: str, old: str) -> str:
    """A whole document. One that lost more than half of the old text was cut off or summed up, and is unusable."""
    text = json_object(reply, "document")["document"]
    if not isinstance(text, str) or len(text) > max(LONGEST_DOCUMENT, 2 * len(old)):
        raise Unusable('"document" is no string, or far too long')
    if len(text) * 2 < len(old):
        raise Unusable('"document" is not the whole document')
    return text


def read_variants(reply: str) -> tuple[tuple[int, str], ...]:
    """Other wordings, each with the number of its request, unchecked."""
    items = _items(json_object(reply, "variants"), "variants")
    found = [(item.get("of"), item.get("prompt")) for item in items if isinstance(item, dict)]
    read = tuple((of, text) for of, text in found if type(of) is int and isinstance(text, str))
    if items and not read:
        raise Unusable('no variant has "of" as a number and "prompt" as a string')
    return read


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_STARTS):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _items(found: Mapping[str, object], key: str) -> Sequence[object]:
    items = found[key]
    if not isinstance(items, list):
        raise Unusable(f'"{key}" is no list')
    return items


def _pattern(item: object) -> ReadPattern:
    if not isinstance(item, dict):
        raise Unusable("a pattern is no object")
    raw = item.get("edits", _as_edits(item.get("rule")))
    items = raw if isinstance(raw, list) else []
    label = Label.EXECUTION_LAPSE if item.get("label") == Label.EXECUTION_LAPSE else Label.SKILL_DEFECT
    edits = tuple(edit for edit in map(_edit, items) if edit)
    tasks = item.get("tasks")
    names = tuple(name for name in tasks if isinstance(name, str)) if isinstance(tasks, list) else ()
    return ReadPattern(_string(item.get("why")), label, names, edits, len(items) - len(edits))


def _as_edits(rule: object) -> object:
    """The flat form, which a small model can hold: one rule is one edit that adds it at the end. Silence is none."""
    if rule is None or (isinstance(rule, str) and not rule.strip()):
        return []
    return [{"op": "add", "anchor": "", "text": _bulleted(rule) if isinstance(rule, str) else rule}]


def _bulleted(rule: str) -> str:
    """One rule as one list item, whatever the model put in front of it."""
    return "- " + _BULLET.sub("", " ".join(rule.split()), count=1)


def _edit(item: object) -> ReadEdit | None:
    """None for what is no edit."""
    if not isinstance(item, dict):
        return None
    op = _OPS.get(_string(item.get("op")).strip().lower())
    anchor, text = item.get("anchor", ""), item.get("text", "")
    if op is None or not isinstance(anchor, str) or not isinstance(text, str) or len(text) > LONGEST_TEXT:
        return None
    sources = item.get("from")
    numbers = _numbers(sources if isinstance(sources, list) else [sources])
    return ReadEdit(Edit(op, anchor, text, why=_string(item.get("why"))), numbers)


def _numbers(items: Sequence[object]) -> tuple[int, ...]:
    return tuple(item for item in items if isinstance(item, int) and not isinstance(item, bool))


def _string(value: object) -> str:
    return value[:500] if isinstance(value, str) else ""
