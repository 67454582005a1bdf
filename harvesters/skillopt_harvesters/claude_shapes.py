"""The parts of Claude Code's records that are read (transcript-formats.md 1.2, 1.3; versions 1.0.24 to 2.1.237).

Every field is optional, because every one of them is absent in some version. What may take several forms is kept raw.
"""

from __future__ import annotations

import msgspec

from skillopt_harvesters.jsonl import Line

NOTHING = msgspec.Raw(b"null")


class Tokens(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class Block(msgspec.Struct, gc=False):
    """One content block: text, thinking, tool_use, tool_result, image, document …"""

    tool_use_id: str | None = None
    type: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING
    text: str | None = None
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    model: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None


class Record(Line, gc=False, rename="camel"):
    """One line. The fields stand as they follow one another in most records: a decoder finds the next one at once,
    and one that is not there only after all."""

    is_sidechain: bool | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    type: str | None = None
    message: Message | None = None
    uuid: str | None = None
    timestamp: str | int | float | None = None
    tool_use_result: Facts | str | float | bool | list[msgspec.Raw] | None = None
    agent_id: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    entrypoint: str | None = None
    prompt_source: str | None = None
    source_tool_use_id: str | None = msgspec.field(default=None, name="sourceToolUseID")
    tool_denial_kind: str | None = None
    permission_decision: msgspec.Raw = NOTHING
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


class Facts(msgspec.Struct, gc=False, rename="camel"):
    """What a tool's structured result may say beyond its text; what it holds is no promise."""

    interrupted: msgspec.Raw = NOTHING
    return_code_interpretation: msgspec.Raw = NOTHING
    answers: msgspec.Raw = NOTHING


class TextPart(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None


class Decision(msgspec.Struct):
    """Who decided on a call, from 2.1.33x on: `user`, `config`, `hook` …"""

    source: str | None = None


class Kinded(msgspec.Struct, gc=False):
    kind: str | None = None


class Attachment(msgspec.Struct, gc=False, rename="camel"):
    type: str | None = None
    prompt: msgspec.Raw = NOTHING
    command_mode: str | None = None
    origin: Kinded | None = None
    names: list[str] | None = None
    skill_names: list[str] | None = None
    skills: list[NamedSkill] | None = None


class NamedSkill(msgspec.Struct, gc=False):
    name: str | None = None
    path: str | None = None


class Worktree(msgspec.Struct, gc=False, rename="camel"):
    original_cwd: str | None = None


class Failure(msgspec.Struct, gc=False):
    message: str | None = None


blocks = msgspec.json.Decoder(str | list[Block])
text_parts = msgspec.json.Decoder(str | list[TextPart])
text = msgspec.json.Decoder(str)
answers = msgspec.json.Decoder(dict[str, object])
decisions = msgspec.json.Decoder(Decision)
kinded = msgspec.json.Decoder(Kinded)
attachments = msgspec.json.Decoder(Attachment)
worktrees = msgspec.json.Decoder(Worktree)
failures = msgspec.json.Decoder(Failure | str)


def contents(content: str | list[Block] | None) -> tuple[list[str], list[Block], int]:
    """Texts, tool results and the number of images of a content."""
    if content is None or isinstance(content, str):
        return [content] if content else [], [], 0
    if len(content) == 1 and content[0].type == "tool_result":
        return [], content, 0
    texts = [block.text for block in content if block.type == "text" and block.text]
    results = [block for block in content if block.type == "tool_result"]
    return texts, results, sum(block.type == "image" for block in content)
