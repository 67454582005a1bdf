"""The parts of Claude Code's records that are read (transcript-formats.md 1.2, 1.3; versions 1.0.24 to 2.1.237).

Every field is optional, because every one of them is absent in some version. What may take several forms is kept raw.
"""

from __future__ import annotations

import msgspec

from skillopt_harvesters.jsonl import part

NOTHING = msgspec.Raw(b"null")


class Tokens(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class Message(msgspec.Struct):
    """`content` is a text or a list of blocks."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: msgspec.Raw = NOTHING
    usage: Tokens | None = None


class Record(msgspec.Struct, rename="camel"):
    """One line."""

    type: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    agent_id: str | None = None
    entrypoint: str | None = None
    prompt_source: str | None = None
    source_tool_use_id: str | None = msgspec.field(default=None, name="sourceToolUseID")
    tool_denial_kind: str | None = None
    message: Message | None = None
    tool_use_result: msgspec.Raw = NOTHING
    origin: msgspec.Raw = NOTHING
    plan_content: msgspec.Raw = NOTHING
    attachment: msgspec.Raw = NOTHING
    subtype: str | None = None
    operation: str | None = None
    content: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    custom_title: str | None = None
    ai_title: str | None = None
    worktree_session: msgspec.Raw = NOTHING
    relocated_cwd: str | None = None


class Block(msgspec.Struct):
    """One content block: text, thinking, tool_use, tool_result, image, document …"""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    content: msgspec.Raw = NOTHING
    is_error: bool | None = None


class TextPart(msgspec.Struct):
    type: str | None = None
    text: str | None = None


class Facts(msgspec.Struct, rename="camel"):
    """What a tool's structured result may say beyond its text."""

    interrupted: bool | None = None
    return_code_interpretation: str | None = None
    answers: dict[str, object] | None = None


class Kinded(msgspec.Struct):
    kind: str | None = None


class Attachment(msgspec.Struct, rename="camel"):
    type: str | None = None
    prompt: msgspec.Raw = NOTHING
    command_mode: str | None = None
    origin: Kinded | None = None
    names: list[str] | None = None
    skill_names: list[str] | None = None
    skills: list[NamedSkill] | None = None


class NamedSkill(msgspec.Struct):
    name: str | None = None
    path: str | None = None


class Worktree(msgspec.Struct, rename="camel"):
    original_cwd: str | None = None


class Failure(msgspec.Struct):
    message: str | None = None


blocks = msgspec.json.Decoder(str | list[Block])
raw_blocks = msgspec.json.Decoder(list[msgspec.Raw])
one_block = msgspec.json.Decoder(Block)
text_parts = msgspec.json.Decoder(str | list[TextPart])
text = msgspec.json.Decoder(str)
result_facts = msgspec.json.Decoder(Facts)
kinded = msgspec.json.Decoder(Kinded)
attachments = msgspec.json.Decoder(Attachment)
worktrees = msgspec.json.Decoder(Worktree)
failures = msgspec.json.Decoder(Failure | str)


def contents(raw: msgspec.Raw) -> tuple[list[str], list[Block], int]:
    """Texts, tool results and the number of images of a content."""
    content = part(blocks, raw, None)
    if isinstance(content, str):
        return [content], [], 0
    found = content if content is not None else loose_blocks(raw)
    texts = [block.text for block in found if block.type == "text" and block.text]
    results = [block for block in found if block.type == "tool_result"]
    return texts, results, sum(block.type == "image" for block in found)


def loose_blocks(raw: msgspec.Raw) -> list[Block]:
    """The blocks of a content of which one has an unexpected shape."""
    found = [part(one_block, one, None) for one in part(raw_blocks, raw, None) or ()]
    return [block for block in found if block is not None]
