"""The shape of each reply as JSON Schema: offered to `complete` with the prompt, so that a model can be held to it.

Only what local servers and providers alike can turn into a grammar (2020-12: type, properties, required, items, enum,
maxItems, maxLength, additionalProperties). Properties stand in the order in which they should be written: the reason
first. Whether a schema was obeyed is never believed; replies.py reads every reply by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from skillopt_core.types import Label

Schema = Mapping[str, object]

LONGEST_SENTENCE: Final = 300
"""Characters of a sentence that a small model is held to: it stops where it would go on and on."""

_OPS: Final = ("add", "insert_after", "replace", "delete")
_TEXT: Final[Schema] = {"type": "string"}
_SENTENCE: Final[Schema] = {"type": "string", "maxLength": LONGEST_SENTENCE}


def reflection(aliases: Sequence[str], edit_budget: int, *, labelled: bool) -> Schema:
    """`{"patterns": [...]}` with at most `edit_budget` patterns, about the tasks that were shown and no others."""
    edit = _object({"op": _one_of(_OPS), "anchor": _TEXT, "text": _TEXT})
    fields: dict[str, Schema] = {"label": _one_of(tuple(Label))} if labelled else {}
    fields |= {"why": _TEXT, "tasks": _some(_one_of(aliases), len(aliases)), "edits": _some(edit, edit_budget)}
    return _object({"patterns": _some(_object(fields), edit_budget)})


def short_reflection(aliases: Sequence[str], edit_budget: int) -> Schema:
    """The same for a small model: a pattern is one sentence of why, its tasks, and one rule to add."""
    pattern = _object({"why": _SENTENCE, "tasks": _some(_one_of(aliases), len(aliases)), "rule": _SENTENCE})
    return _object({"patterns": _some(pattern, edit_budget)})


def traced_edits(most: int) -> Schema:
    """`{"edits": [...]}` of a merge or a correction of `most` edits, each with the numbers that it comes from."""
    numbers = _some(_one_of(range(1, most + 1)), most)
    edit = _object({"from": numbers, "op": _one_of(_OPS), "anchor": _TEXT, "text": _TEXT, "why": _TEXT})
    return _object({"edits": _some(edit, most)})


def chosen(of: int, keep: int) -> Schema:
    """`{"keep": [...]}`: at most `keep` of the numbers from 1 to `of`."""
    return _object({"keep": _some(_one_of(range(1, of + 1)), keep)})


def paced(most: int) -> Schema:
    """`{"reason": "", "edits": n}` with n from 0 to `most`."""
    return _object({"reason": _TEXT, "edits": _one_of(range(most + 1))})


def variants(of: int, most: int) -> Schema:
    """`{"variants": [...]}`: at most `most` other wordings, each of one of `of` requests."""
    return _object({"variants": _some(_object({"of": _one_of(range(1, of + 1)), "prompt": _TEXT}), most)})


def one_text(key: str) -> Schema:
    """`{key: ""}`: guidance, notes, a whole document."""
    return _object({key: _TEXT})


def _object(fields: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _some(item: Schema, most: int) -> Schema:
    return {"type": "array", "items": item, "maxItems": most}


def _one_of(values: Sequence[str] | range) -> Schema:
    """A JSON enum; labels become plain strings."""
    return {"enum": [value if isinstance(value, int) else str(value) for value in values]}
