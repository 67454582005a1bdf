"""Gemini CLI's messages to events.

Only the digest of its folder is in a conversation. The folder itself is believed where a call names it and the digest
proves it, or where the agent left its name beside the conversations.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters import gemini_shapes as shapes
from skillopt_harvesters.bytestream import open_regular
from skillopt_harvesters.content import NOTHING, as_written, blocks_of, decoded, plain, text_of
from skillopt_harvesters.gemini_log import Placed, Told
from skillopt_harvesters.gemini_shapes import Call, Message
from skillopt_harvesters.jsonl import Line
from skillopt_harvesters.model import Author, Kind, Origin, Outcome, Source, Unreadable, Usage
from skillopt_harvesters.places import Place
from skillopt_harvesters.simple_turns import SimpleTurns
from skillopt_harvesters.turns import Conversation, new_facts
from skillopt_harvesters.walk import spelled
from skillopt_harvesters.whole import read_head

AGENT = "gemini"
SHELL = {"run_shell_command", "shell"}
INJECTED = ("<session_context>", "<hook_context>", "<state_snapshot>", "System: Please continue.")
FILES = "--- Content from referenced files ---"
CANCELLED = "Request cancelled."
REFUSALS = ("did not allow", "denied")
ROOT_FILE = ".project_root"
ROOT_BYTES = 4096
_EXIT = re.compile(r"(?:^|\n|\\n)Exit Code: (-?\d+)")


class GeminiTurns(SimpleTurns[Line]):
    """One conversation."""

    def __init__(self, source: Source, named: str) -> None:
        super().__init__(source, Conversation(facts=new_facts(AGENT)), named)
        self.prompts: set[str] = set()
        self.place: Place | None = None

    def tell(self, told: Told) -> None:
        """All of it."""
        self.known(told)
        compressed = list(told.compressed)
        for placed in told.messages.values():
            while compressed and compressed[0] < placed.start:
                self.compression(compressed.pop(0))
            self.message(placed)
        for start in compressed:
            self.compression(start)
        self.unknown += told.unknown
        self.skipped.update(told.skipped)
        if told.undone:
            self.skipped["undone message"] += told.undone
        for line, reason in told.troubles:
            self.warn(line, reason)

    def known(self, told: Told) -> None:
        """What is known of the whole."""
        head, facts, path = told.head, self.facts, Path(self.source.path)
        facts.native_id = head.session_id or facts.native_id
        facts.title = head.summary or ""
        self.span(self.at(head.start_time))
        self.span(self.at(head.last_updated))
        if head.kind == "subagent" or (path.parent.parent.name == "chats" and head.kind is None):
            facts.origin = Origin.SUBAGENT
            facts.parent = spelled(path.parent.name) if path.parent.parent.name == "chats" else ""
        self.been_in(root_beside(path))
        for folder in head.directories or ():
            self.been_in(folder)
        if head.project_hash and not facts.cwds:
            digest = head.project_hash
            self.place = Place(lambda folder: sha256(folder.encode("utf-8", "surrogatepass")).hexdigest() == digest)

    def message(self, placed: Placed) -> None:
        message, self.start, self.end = placed.message, placed.start, placed.end
        self.stamp = message.timestamp if message.timestamp is not None else message.ts
        self.span(self.now())
        kind = message.type or message.role
        if kind == "user":
            self.user(message, repeated=placed.repeated)
        elif kind in ("gemini", "model", "assistant"):
            self.agent(message)
        elif kind in ("info", "error", "warning"):
            self.notice(message, kind)
        else:
            self.unknown += 1
            self.skipped[f"message of type {kind!s:.40}"] += 1
            return
        self.understood += 1

    def key(self, message: Message) -> str:
        """Stable where the message has an id of its own; made unique where that is a short one."""
        if message.id is None:
            return f"{self.facts.native_id}@{self.start}"
        return message.id if len(message.id) >= 32 else f"{self.facts.native_id}/{message.id}"

    def compression(self, start: int) -> None:
        self.start = self.end = start
        self.emit(self.event(f"{self.facts.native_id}@{start}:compression", Kind.COMPACTION, Author.HARNESS))

    # -- the person

    def user(self, message: Message, *, repeated: bool) -> None:
        text = typed(message)
        if not text:
            self.skipped["no words"] += 1
        elif text.startswith(INJECTED):
            self.skipped["injected"] += 1
        elif repeated and text in self.prompts:
            self.skipped["repeated for the model"] += 1
        else:
            self.prompts.add(text)
            kind = Kind.COMMAND if is_command(text) else Kind.PROMPT
            self.prompt(self.event(self.key(message), kind, Author.PERSON, clip.words(text)))

    def notice(self, message: Message, kind: str) -> None:
        text = plain(message.content).strip()
        if text == CANCELLED:
            self.broken_off()
        elif kind == "error":
            self.emit(self.event(self.key(message), Kind.ERROR, Author.HARNESS, clip.error_text(text)))
        else:
            self.skipped[kind] += 1

    # -- the agent

    def agent(self, message: Message) -> None:
        key = self.key(message)
        self.used(message.model)
        self.tokens(message, key)
        text = plain(message.content if message.content != NOTHING else message.parts)
        if text.strip():
            event = self.event(key, Kind.ANSWER, Author.AGENT, clip.words(text.strip()))
            self.answered(msgspec.structs.replace(event, message_id=key))
        for number, raw in enumerate(message.tool_calls or ()):
            call = decoded(Call, bytes(raw))
            if call is not None:
                self.tool(call, key, number)

    def tool(self, call: Call, key: str, number: int) -> None:
        name = call.id or f"{number}"
        stamp, self.stamp = self.stamp, call.timestamp if call.timestamp is not None else self.stamp
        event = self.called(f"{key}:{name}", name, call.name or "", call.args, key)
        if self.place is not None and not self.facts.cwds:
            self.been_in(self.place.look(event.arguments))
        outcome, text = ending(call)
        if outcome is not Outcome.OPEN:
            self.closed(name)
            self.ended(event, outcome, text)
            if outcome is Outcome.INTERRUPTED:
                self.broken_off()
        self.stamp = stamp

    def tokens(self, message: Message, key: str) -> None:
        spent = message.tokens
        if spent is None:
            return
        cached = spent.cached or 0
        self.spend(
            Usage(
                key=key,
                input=max(0, (spent.input or 0) + (spent.tool or 0) - cached),
                output=(spent.output or 0) + (spent.thoughts or 0),
                cache_read=cached,
                model=message.model or "",
                at_ms=self.now(),
            )
        )


def typed(message: Message) -> str:
    """What the person typed: as it was shown where that is kept, without the files that were put in."""
    shown = text_of(blocks_of(message.display_content)).strip()
    if shown:
        return shown
    text = plain(message.content if message.content != NOTHING else message.parts)
    return text.partition(FILES)[0].strip()


def is_command(text: str) -> bool:
    """Whether a prompt is a slash command, and not a path."""
    word = text.split(None, 1)[0]
    return word[0] == "/" and word[1:].replace("-", "").replace(":", "").isalnum()


def ending(call: Call) -> tuple[Outcome, str]:
    """How a call ended, and its output or the text of its failure."""
    output, error = given_back(call)
    if call.status in ("cancelled", "canceled") or error.startswith("[Operation Cancelled]"):
        refused = any(word in error for word in REFUSALS)
        return (Outcome.REFUSED if refused else Outcome.INTERRUPTED), error
    if call.status == "error" or error:
        return Outcome.ERROR, error or output
    if call.status not in ("success", None) and call.result == NOTHING:
        return Outcome.OPEN, ""
    codes = _EXIT.findall(output) if call.name in SHELL else ()
    return (Outcome.ERROR if codes and codes[-1] != "0" else Outcome.OK), output


def given_back(call: Call) -> tuple[str, str]:
    """A call's output and its error text; the longest that is kept of the error."""
    outputs, errors = [], []
    for block in blocks_of(call.result):
        response = decoded(shapes.Response, bytes(block.function_response))
        answer = decoded(shapes.Answer, bytes(response.response)) if response is not None else None
        if answer is not None:
            outputs.append(as_written(answer.output))
            errors.append(as_written(answer.error))
        elif block.text:
            outputs.append(block.text)
    errors.append(as_written(call.error))
    return "\n".join(filter(None, outputs)), max(errors, key=len)


def root_beside(path: Path) -> str:
    """The folder whose name the agent left beside its conversations, "" where it left none."""
    for parent in path.parents:
        if parent.name == "chats":
            try:
                fd, _ = open_regular(str(parent.parent / ROOT_FILE))
            except Unreadable:
                return ""
            return read_head(fd, ROOT_BYTES).decode("utf-8", "replace").strip().partition("\n")[0]
    return ""


def loose_id(path: Path, content: bytes) -> str:
    """The name of a conversation that has no id: its file's, and a digest of how it begins."""
    return f"{spelled(path.stem)}-{crc32(content[:4096]):08x}"
