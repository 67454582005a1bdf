"""Formats that are one JSON document: read whole when they changed, and not at all when they did not.

The cursor's `before` is the digest of the whole content, its state the keys of the events that were given, so that an
event that is gone (a request that was undone) is withdrawn.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from skillopt_harvesters.bytestream import digest, open_regular, why
from skillopt_harvesters.jsonl import REFUSED
from skillopt_harvesters.model import Batch, Cursor, Event, SessionFacts, Source, Trouble, Unreadable, Usage

DOCUMENT_CAP = 48 << 20
"""Bytes of a document that are held; a larger one is reported and not read."""
CHUNK = 1 << 20
STAYS = ""
"""No event's key."""

_keys = msgspec.msgpack.Decoder(list[str])


class Document(msgspec.Struct, kw_only=True):
    """What a document gave."""

    session: SessionFacts
    events: list[Event] = []
    usage: list[Usage] = []
    understood: int = 0
    unknown: int = 0
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    warnings: list[Trouble] = []


def read_head(fd: int, size: int) -> bytes:
    """The first bytes of a descriptor, which is closed."""
    try:
        return os.pread(fd, size, 0)
    except OSError:
        return b""
    finally:
        os.close(fd)


def content_of(source: Source) -> bytes:
    """The whole content. Raises `Unreadable`, also where it is larger than the cap."""
    fd, found = open_regular(source.path)
    try:
        if found.st_size > DOCUMENT_CAP:
            raise Unreadable(source.path, f"{found.st_size} bytes are more than can be read at once")
        chunks = []
        offset = 0
        while chunk := os.pread(fd, CHUNK, offset):
            chunks.append(chunk)
            offset += len(chunk)
            if offset > DOCUMENT_CAP:
                raise Unreadable(source.path, "grew while it was read")
        return b"".join(chunks)
    except OSError as problem:
        raise Unreadable(source.path, why(problem)) from problem
    finally:
        os.close(fd)


def unchanged(content: bytes, cursor: Cursor | None, parser: int) -> bool:
    return cursor is not None and cursor.parser == parser and cursor.before == digest(content)


def batch_of(document: Document, content: bytes, cursor: Cursor | None, parser: int) -> Iterator[Batch]:
    """The one batch of a document that changed."""
    keys = [event.key for event in document.events]
    yield Batch(
        session=document.session,
        events=document.events,
        usage=document.usage,
        cursor=Cursor(offset=len(content), before=digest(content), parser=parser, state=msgspec.msgpack.encode(keys)),
        understood=document.understood,
        unknown=document.unknown,
        skipped=dict(document.skipped),
        warnings=document.warnings,
        withdrawn=gone(cursor, keys),
    )


def gone(cursor: Cursor | None, keys: Sequence[str]) -> list[str]:
    now = {*keys, STAYS}
    return [key for key in given(cursor) if key not in now]


def given(cursor: Cursor | None) -> list[str]:
    """The keys of the events that were given; `STAYS` stands for some that are never to be withdrawn."""
    if cursor is None or not cursor.state:
        return []
    try:
        return _keys.decode(cursor.state)
    except REFUSED:
        return []
