"""Gemini CLI's conversations as they stand at the end of their file: a document, or a log that changes its past.

In a log a message that comes again replaces the earlier one; `$rewindTo` takes back a message and all behind it;
`$set.messages` is not the conversation but what the model is sent from then on (after a compression it is much less),
so it adds what is new and takes nothing away.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from skillopt_harvesters.bytestream import Window
from skillopt_harvesters.content import decoded, plain
from skillopt_harvesters.gemini_shapes import Entry, Head, Message
from skillopt_harvesters.jsonl import REFUSED, RecordReader, loose, scan, skip_around

MESSAGES = re.compile(r'"(?:messages|history)"\s*:\s*\[')
BOM = b"\xef\xbb\xbf"
LOOK = 50
"""Lines in which a whole record is looked for, to tell a damaged log from a damaged document."""
SNAPSHOT = "<state_snapshot>"
"""With this begins what a compression leaves of a conversation."""

_entries = RecordReader(Entry)
_any = msgspec.json.Decoder()


@dataclass(slots=True)
class Placed:
    """A message and the extent of its record in the file. `repeated`: it was only seen in what the model is sent."""

    message: Message
    start: int
    end: int
    repeated: bool = False


@dataclass(slots=True)
class Told:
    """A conversation. `troubles` are lines (from 1; 0: none) and reasons."""

    head: Head = field(default_factory=Head)
    messages: dict[str, Placed] = field(default_factory=dict)
    undone: int = 0
    compressed: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    troubles: list[tuple[int, str]] = field(default_factory=list)
    unknown: int = 0

    def add(self, message: Message, start: int, end: int, *, repeated: bool = False) -> None:
        key = message.id or f"@{len(self.messages)}"
        if repeated and key in self.messages:
            return
        self.messages[key] = Placed(message, start, end, repeated)

    def say(self, head: Head) -> None:
        """What is said of the whole; what a later line does not say stays."""
        for name in head.__struct_fields__:
            value = getattr(head, name)
            if value is not None and name not in ("messages", "history"):
                setattr(self.head, name, value)


def told(content: bytes) -> Told:
    """The conversation that a file holds."""
    first, _, rest = content.removeprefix(BOM).lstrip().partition(b"\n")
    if is_whole(first) and (rest.strip() or b'"messages"' not in first):
        return of_log(content)
    return of_document(content)


def is_whole(line: bytes) -> bool:
    """Whether a line is a JSON object by itself."""
    try:
        return isinstance(_any.decode(line), dict)
    except REFUSED:
        return False


def of_document(content: bytes) -> Told:
    """A whole document; of one that is cut off, what can be read of it."""
    result = Told()
    head = decoded(Head, content.removeprefix(BOM))
    if head is None:
        return of_log(content) if any(map(is_whole, content.split(b"\n", LOOK)[:LOOK])) else salvaged(content, result)
    result.say(head)
    raws = [bytes(raw) for raw in head.messages or head.history or ()]
    if not raws and head.session_id is None:
        lone(content, result)
    at = 0
    for raw in raws:
        at = max(content.find(raw, at), at)
        take(result, raw, at)
        at += len(raw)
    return result


def lone(content: bytes, result: Told) -> None:
    """A document that is one message."""
    message = decoded(Message, content.removeprefix(BOM))
    if message is not None and message.type is not None:
        result.add(message, 0, len(content))
    else:
        result.troubles.append((0, "not a conversation"))


def salvaged(content: bytes, result: Told) -> Told:
    """The messages in front of the damage."""
    text = content.decode("utf-8", "surrogateescape")
    result.troubles.append((0, "the document is damaged; what stands before the damage is read"))
    found = MESSAGES.search(text)
    if found is None:
        return result
    opening = decoded(Head, (text[: found.start()].rstrip().rstrip(",") + "}").encode("utf-8", "replace"))
    if opening is not None:
        result.say(opening)
    for value, start, end in objects_from(text, found.end()):
        message = loose(Message, value)
        offset = len(text[:start].encode("utf-8", "surrogateescape"))
        result.add(message, offset, offset + len(text[start:end].encode("utf-8", "surrogateescape")))
    return result


def objects_from(text: str, at: int) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The objects of a list that is open at `at`, up to the first that is damaged."""
    while True:
        at = skip_around(text, at)
        value, end = scan(text, at)
        if not isinstance(value, dict):
            return
        yield value, at, end
        at = skip_around(text, end)
        if text[at : at + 1] != ",":
            return
        at += 1


def of_log(content: bytes) -> Told:
    """The lines, applied one after the other."""
    result = Told()
    end = content.rfind(b"\n") + 1
    windows = [Window(0, content[:end], end, False)] if end else []
    if end < len(content):
        windows.append(Window(end, content[end:], len(content) - end, True))
    lines = 0
    for window in windows:
        stretch = _entries.decode(window, True)
        result.troubles += [(lines + line, reason) for line, reason in stretch.troubles]
        result.skipped.update(stretch.skipped)
        lines += stretch.lines
        for entry, start, stop in zip(stretch.records, stretch.starts, stretch.ends, strict=True):
            apply(result, entry, content[start:stop], start)
    return result


def apply(result: Told, entry: Entry, raw: bytes, start: int) -> None:
    """One line."""
    if entry.rewind is not None:
        rewind(result, entry.rewind)
    elif entry.id is not None:
        take(result, raw, start)
    elif bytes(memoryview(entry.patch)[:1]) == b"{":
        head = decoded(Head, bytes(entry.patch)) or Head()
        result.say(head)
        resent(result, head, start, start + len(raw))
    elif entry.session_id is not None:
        result.say(decoded(Head, raw) or Head())
    else:
        result.unknown += 1
        result.skipped["unknown line"] += 1


def rewind(result: Told, key: str) -> None:
    """Take back a message and what came after; all of them if it is not known."""
    keys = list(result.messages)
    at = keys.index(key) if key in result.messages else 0
    for gone in keys[at:]:
        del result.messages[gone]
    result.undone += len(keys) - at


def resent(result: Told, head: Head, start: int, end: int) -> None:
    """What the model is sent from now on: messages that were not seen before are added."""
    if head.messages is None:
        return
    for raw in head.messages:
        message = decoded(Message, bytes(raw))
        if message is None:
            continue
        if message.id not in result.messages and plain(message.content).lstrip().startswith(SNAPSHOT):
            result.compressed.append(start)
        result.add(message, start, end, repeated=True)


def take(result: Told, raw: bytes, start: int) -> None:
    message = decoded(Message, raw)
    if message is None:
        result.unknown += 1
        result.skipped["not a message"] += 1
    else:
        result.add(message, start, start + len(raw))
