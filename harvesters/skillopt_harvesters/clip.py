"""What is kept of long texts: a head that ends with a token, JSON arguments that stay JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from skillopt_harvesters.jsonl import REFUSED, clean_text
from skillopt_harvesters.model import KEEP, MARGIN

WORDS_KEEP = 1 << 16
"""Characters of a prompt or an answer that are kept."""
LIST_KEEP = 64
"""Items of a list inside arguments that are kept."""
CUT = "…"

_raw = msgspec.json.Decoder(msgspec.Raw)
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def words(text: str) -> str:
    """A prompt or an answer."""
    return text if len(text) <= WORDS_KEEP else before_cut(text, WORDS_KEEP)


def error_text(text: str) -> str:
    """The text of a failed call: at most KEEP + MARGIN characters."""
    return text[: KEEP + MARGIN]


def arguments(raw: msgspec.Raw | bytes | str) -> str:
    """A call's arguments as JSON text of at most KEEP characters; long strings inside are shortened, evenly."""
    if isinstance(raw, str):
        if len(raw) <= KEEP and "\\u" not in raw:
            return "" if raw == "null" else raw if is_json(raw) else lenient_arguments(raw.encode("utf-8", "replace"))
        content = raw.encode("utf-8", "replace")
    else:
        text = str(raw, "utf-8", "replace")
        if len(text) <= KEEP and "\\u" not in text:
            return "" if text == "null" else text
        content = bytes(raw)
    try:
        value = msgspec.json.decode(content)
    except REFUSED:
        return lenient_arguments(content)
    return fitted(value)


def is_json(text: str) -> bool:
    try:
        _raw.decode(text)
    except REFUSED:
        return False
    return True


def lenient_arguments(content: bytes) -> str:
    """Arguments that are no clean JSON: cleaned if they can be, else kept as one JSON string."""
    text = content.decode("utf-8", "replace")
    try:
        return fitted(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return fitted(text)


def fitted(value: Any) -> str:
    """JSON text of at most KEEP characters for a decoded value."""
    text = compact(value)
    if len(text) <= KEEP:
        return text
    room = KEEP
    for _ in range(12):
        limit = level(lengths(value), room)
        text = compact(shortened(value, limit))
        if len(text) <= KEEP:
            return text
        room = room * 3 // 4
    return _compact.encode({"clipped": before_cut(text.replace('"', "'").replace("\\", "/"), KEEP // 2)})


def compact(value: Any) -> str:
    """JSON text without blanks; lone surrogates as U+FFFD."""
    try:
        return msgspec.json.encode(value).decode()
    except (*REFUSED, OverflowError):
        return clean_text(_compact.encode(value))


def lengths(value: Any) -> list[int]:
    """Lengths of all the strings in a value, keys among them."""
    if isinstance(value, str):
        return [len(value)]
    if isinstance(value, dict):
        return [n for k, v in value.items() for n in (len(k), *lengths(v))]
    if isinstance(value, list):
        return [n for v in value[:LIST_KEEP] for n in lengths(v)]
    return []


def level(sizes: list[int], room: int) -> int:
    """The longest string length at which all strings together, each cut to it, fit into `room` characters."""
    ordered = sorted(sizes)
    for i, size in enumerate(ordered):
        share = room // (len(ordered) - i)
        if size > share:
            return max(share, 8)
        room -= size
    return ordered[-1] if ordered else 0


def shortened(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return before_cut(value, limit)
    if isinstance(value, dict):
        return {before_cut(k, limit): shortened(v, limit) for k, v in value.items()}
    if isinstance(value, list):
        kept = [shortened(v, limit) for v in value[:LIST_KEEP]]
        return kept if len(value) <= LIST_KEEP else [*kept, CUT]
    return value


def before_cut(text: str, limit: int) -> str:
    """The first `limit` characters at most, without the token that the cut went through: half a secret is no secret's
    shape any more, and so would not be redacted."""
    if len(text) <= limit:
        return text
    blank = max(text.rfind(" ", 0, limit - 1), text.rfind("\n", 0, limit - 1))
    if limit - 1 - MARGIN <= blank < limit - 2 and blank > 0 and not text[limit - 1].isspace():
        return text[: blank + 1] + CUT  # nearly always
    head = text[: limit - 1]
    if text[limit - 1].isspace():
        return head + CUT
    kept = head.rstrip()
    blank = max(kept.rfind(" "), kept.rfind("\n"))
    if blank > 0 and blank >= limit - 1 - MARGIN:
        return text[: blank + 1] + CUT
    for back in range(1, min(len(head), MARGIN)):
        if head[-back] in "\t\r\"'`,;=()[]{}<>|":
            return head[: len(head) - back + 1] + CUT
    return head[: max(0, len(head) - MARGIN)] + CUT
