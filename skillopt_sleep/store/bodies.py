"""Bodies: text that somebody wrote, kept once under the digest of its content.

The words of a stretch of events lie in one body: one row and one compression for what is read together. A forgotten
body is a tombstone: its row stays, empty, so that the same content is never stored again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import zstandard
from sqlalchemy import Connection, bindparam, select

from skillopt_sleep.redact import RULES_VERSION, Redacted
from skillopt_sleep.store.schema.harvest import body

SMALL: Final = 512
"""Bytes; up to here compression costs more than it saves."""
LEVEL: Final = -1
"""Of zstd: half the time of level 1 for a third more bytes."""
LARGEST: Final = 1 << 30
"""Bytes that one body may unpack to: a damaged row asks for no more."""
BATCH: Final = 500
FORGOTTEN: Final = Redacted("[forgotten]")

_EMPTY: Final = hashlib.blake2b(b"", digest_size=16).digest()
_TOOLS = threading.local()  # zstd's contexts serve one thread each


class Body(NamedTuple):
    """One row of `body`, ready to be stored."""

    digest: bytes
    codec: str
    content: bytes
    redaction: int


class Words(NamedTuple):
    """What an event says, and the names by which it is linked: all of it that is no column."""

    text: Redacted = Redacted("")
    arguments: Redacted = Redacted("")
    head: Redacted = Redacted("")
    call_id: str = ""
    message_id: str = ""
    agent_id: str = ""
    output_length: int = 0
    output_digest: str = ""


WordsRow = tuple[Redacted, Redacted, Redacted, str, str, str, int, str]
"""`Words`, as a plain tuple."""

NO_WORDS: Final = Words()
LOST: Final = Words(FORGOTTEN)

_PACK = msgspec.msgpack.Encoder().encode
_UNPACK = msgspec.msgpack.Decoder(list[Words]).decode


def digest_of(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def make(content: bytes, redaction: int) -> Body:
    """A body of raw bytes: of our own making (0), or of text that went through redaction rules of that version."""
    digest = digest_of(content)
    if len(content) <= SMALL:
        return Body(digest, "raw", content, redaction)
    packed = _compressor().compress(content)
    if len(packed) >= len(content):
        return Body(digest, "raw", content, redaction)
    return Body(digest, "zstd", packed, redaction)


def of_stretch(words: Sequence[WordsRow], redaction: int) -> Body:
    """The words of a stretch's events as one body, in their places."""
    return make(_PACK(words), redaction)


def stretch_words(codec: str | None, content: bytes | None) -> list[Words] | None:
    """What `of_stretch` packed; None where all of it was forgotten."""
    if codec is None or not content:
        return None
    return unpacked(content_of(codec, content))


def unpacked(content: bytes) -> list[Words]:
    return _UNPACK(content)


def squeezed(state: bytes) -> bytes:
    """A reader's state, compressed where that is worth it. It never begins like a compressed one by itself."""
    return state if len(state) <= SMALL else _compressor().compress(state)


def released(state: bytes) -> bytes:
    return content_of("zstd", state) if state.startswith(zstandard.FRAME_HEADER) else state


def content_of(codec: str, content: bytes) -> bytes:
    if codec == "raw":
        return content
    return _decompressor().decompress(content, max_output_size=LARGEST)


_KEEP = body.insert().prefix_with("OR IGNORE")


def keep(connection: Connection, bodies: Iterable[Body]) -> None:
    """Store bodies; those that are there already, forgotten ones among them, stay as they are."""
    rows = [{"digest": b.digest, "codec": b.codec, "bytes": b.content, "redaction": b.redaction} for b in bodies]
    if rows:
        connection.execute(_KEEP, rows)


class Kept:
    """Bodies kept in one transaction, by what they are."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def image(self, content: bytes | None) -> bytes | None:
        """Keep bytes of our own making (a file's image). Returns the digest by which a row refers to them."""
        if content is None:
            return None
        made = make(content, 0)
        keep(self._connection, [made])
        return made.digest

    def text(self, text: Redacted | None) -> bytes | None:
        """Keep text that went through today's redaction rules."""
        if text is None:
            return None
        made = make(text.encode("utf-8", "replace"), RULES_VERSION)
        keep(self._connection, [made])
        return made.digest


class Gathered:
    """Texts that are kept together, in one statement, before the rows that refer to them are written."""

    def __init__(self) -> None:
        self._bodies: dict[bytes, Body] = {}

    def text(self, text: Redacted) -> bytes:
        """Note text that went through today's redaction rules. Returns the digest by which a row refers to it."""
        made = make(text.encode("utf-8", "replace"), RULES_VERSION)
        self._bodies[made.digest] = made
        return made.digest

    def keep(self, connection: Connection) -> None:
        """Store what was noted."""
        keep(connection, self._bodies.values())


_FIND = select(body.c.digest, body.c.codec, body.c.bytes).where(body.c.digest.in_(bindparam("digests", expanding=True)))


def find(connection: Connection, digests: Iterable[bytes | None]) -> Mapping[bytes, bytes]:
    """Contents by digest, without those that are not there; a tombstone is empty bytes."""
    wanted = sorted({d for d in digests if d is not None})
    found: dict[bytes, bytes] = {}
    for start in range(0, len(wanted), BATCH):
        rows = connection.execute(_FIND, {"digests": wanted[start : start + BATCH]})
        found.update({row.digest: content_of(row.codec, row.bytes) if row.bytes else b"" for row in rows})
    return found


def text_in(found: Mapping[bytes, bytes], digest: bytes | None) -> str:
    """A text among what `find` gave; "" for none, a mark for a forgotten one."""
    if digest is None:
        return ""
    return found[digest].decode() if found[digest] or digest == _EMPTY else FORGOTTEN


def _compressor() -> zstandard.ZstdCompressor:
    tool: zstandard.ZstdCompressor | None = getattr(_TOOLS, "compressor", None)
    if tool is None:
        tool = _TOOLS.compressor = zstandard.ZstdCompressor(level=LEVEL)
    return tool


def _decompressor() -> zstandard.ZstdDecompressor:
    tool: zstandard.ZstdDecompressor | None = getattr(_TOOLS, "decompressor", None)
    if tool is None:
        tool = _TOOLS.decompressor = zstandard.ZstdDecompressor()
    return tool
