"""What a message holds: a text, or a list of blocks. One shape for the blocks of several agents."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

import msgspec

from skillopt_harvesters.jsonl import loose, part

S = TypeVar("S", bound=msgspec.Struct)

NOTHING = msgspec.Raw(b"null")
TEXTS = {"text", "input_text", "output_text", None}

_RENAMED = {"function_response": "functionResponse", "tool_call_id": "toolCallId"}


class Block(msgspec.Struct, rename=_RENAMED):
    """A piece of a message. What takes several forms is kept raw."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    arguments: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    tool_call_id: str | None = None
    content: msgspec.Raw = NOTHING
    is_error: bool | None = None
    function_response: msgspec.Raw = NOTHING


_raws = msgspec.json.Decoder(list[msgspec.Raw])
_texts = msgspec.json.Decoder(str)
_any = msgspec.json.Decoder()
_block = msgspec.json.Decoder(Block)
_blocks = msgspec.json.Decoder(list[Block])


def blocks_of(raw: msgspec.Raw) -> list[Block]:
    """The blocks of a content; a plain text is one block. A block that is of no known form costs only itself."""
    written = bytes(memoryview(raw)[:1])
    if written == b'"':
        return [Block(text=part(_texts, raw, ""))]
    if written == b"{":
        return [one for one in (block_of(raw),) if one is not None]
    found: list[Block] | None = part(_blocks, raw, None)
    if found is not None:
        return found
    each = (block_of(item) for item in part(_raws, raw, None) or ())
    return [one for one in each if one is not None]


def block_of(raw: msgspec.Raw) -> Block | None:
    found: Block | None = part(_block, raw, None)
    if found is None:
        value = part(_any, raw, None)
        if isinstance(value, str):
            found = Block(text=value)
        elif isinstance(value, dict):
            found = loose(Block, value)
    return found


def text_of(blocks: Iterable[Block]) -> str:
    """The texts of the blocks that are text, a line break between them."""
    return "\n".join(block.text for block in blocks if block.text and block.type in TEXTS)


def decoded(shape: type[S], raw: Any) -> S | None:
    """A struct of written JSON, a field of an unexpected shape as if it were absent; None where it is no object."""
    if not isinstance(raw, bytes) or not raw:
        return None
    found: S | None = part(decoder_of(shape), msgspec.Raw(raw), None)
    if found is None:
        value = part(_any, msgspec.Raw(raw), None)
        found = loose(shape, value) if isinstance(value, dict) else None
    return found


@cache
def decoder_of(shape: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


def plain(raw: msgspec.Raw) -> str:
    """The text of a content, "" where it holds none."""
    return text_of(blocks_of(raw))


def as_written(raw: msgspec.Raw) -> str:
    """A value as text: a string without its quotes, a list of blocks as their texts, anything else as JSON."""
    written = bytes(raw)
    if written in (b"", b"null"):
        return ""
    return plain(raw) or ("" if written[:1] == b'"' else written.decode("utf-8", "replace"))
