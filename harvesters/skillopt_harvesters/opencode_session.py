"""OpenCode's messages and their parts to events, wherever they are stored.

Keys are made of times and contents, not of ids: a fork gives its copies ids of their own, and a session lies both in
the old files and in the database they were moved to.
"""

from __future__ import annotations

from zlib import crc32

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters import opencode_shapes as shapes
from skillopt_harvesters.content import as_written, decoded
from skillopt_harvesters.jsonl import Line
from skillopt_harvesters.model import Author, Kind, Origin, Outcome, Source, Usage
from skillopt_harvesters.opencode_shapes import Message, Part, Session, ToolState
from skillopt_harvesters.simple_turns import SimpleTurns
from skillopt_harvesters.turns import Conversation, new_facts

AGENT = "opencode"
REJECTED = "The user rejected permission to use this specific tool call"
FEEDBACK = "with the following feedback:"
DISMISSED = "The user dismissed this question"
RULE = ("The user has specified a rule which prevents", "A rule prevents this tool call")
ABORTED = ("Tool execution aborted", "Tool execution was interrupted")
BY_PERSON = "The following tool was executed by the user"
"""Said by the program before a command that the person ran."""
SILENT = {
    *("reasoning", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "subtask", "compaction"),
    "text",
}


class OpenCodeTurns(SimpleTurns[Line]):
    """One session."""

    def __init__(self, source: Source, named: str) -> None:
        super().__init__(source, Conversation(facts=new_facts(AGENT)), named)
        self.number = 0
        self.reverted = ""
        self.by_person = False

    def known(self, session: Session) -> None:
        facts = self.facts
        facts.native_id = session.id or facts.native_id
        if session.parent:
            facts.origin, facts.parent = Origin.SUBAGENT, session.parent
        facts.title = session.title or ""
        facts.agent_version = session.version or ""
        self.been_in(session.directory)
        if session.time is not None:
            self.span(self.at(session.time.created))
            self.span(self.at(session.time.updated))
        if session.revert is not None:
            self.reverted = session.revert.message or ""

    def message(self, message: Message, parts: list[Part], length: int) -> None:
        """A message with its parts; `length` are the bytes of them all."""
        self.number += 1
        self.start, self.end = self.number, self.number + length
        self.stamp = message.time.created if message.time is not None else None
        if self.reverted and message.id is not None and message.id >= self.reverted:
            self.skipped["undone message"] += 1
            self.understood += 1
            return
        self.span(self.now())
        if message.role == "user":
            self.user(message, parts)
        elif message.role == "assistant":
            self.assistant(message, parts)
        else:
            self.unknown += 1
            self.skipped[f"message of role {message.role!s:.20}"] += 1
            return
        self.understood += 1
        for part in parts:
            if part.type != "tool" and part.type not in SILENT:
                self.unknown += 1
                self.skipped[f"unknown part {part.type!s:.40}"] += 1

    def key(self, message: Message, text: str) -> str:
        """The same for a message wherever it is copied to. Sub-agents begin in the same millisecond, and no one forks
        them: theirs hold the session."""
        if self.stamp is None:
            return f"{self.facts.native_id}/{message.id or self.number}"
        if self.facts.origin is Origin.SUBAGENT:
            text += self.facts.native_id
        return f"{self.stamp}/{crc32(text.encode('utf-8', 'replace')):08x}"

    # -- the person

    def user(self, message: Message, parts: list[Part]) -> None:
        texts = [part for part in parts if part.type == "text" and part.text]
        words = "\n".join(part.text or "" for part in texts if not part.synthetic and not part.ignored).strip()
        self.by_person = any(part.synthetic and (part.text or "").startswith(BY_PERSON) for part in texts)
        command = next((part.command for part in parts if part.type == "subtask" and part.command), None)
        if self.facts.origin is Origin.SUBAGENT:
            self.skipped["sub-agent's prompt"] += 1
        elif any(part.type == "compaction" for part in parts):
            self.emit(self.event(f"{self.key(message, 'compaction')}:compaction", Kind.COMPACTION, Author.HARNESS))
        elif words:
            self.leave_open()
            self.prompt(self.event(self.key(message, words), Kind.PROMPT, Author.PERSON, clip.words(words)))
        elif command:
            self.leave_open()
            self.prompt(self.event(self.key(message, command), Kind.COMMAND, Author.PERSON, f"/{command[:200]}"))
        else:
            self.skipped["injected" if texts else "no words"] += 1

    # -- the agent

    def assistant(self, message: Message, parts: list[Part]) -> None:
        key = self.key(message, "assistant")
        self.placed(message)
        self.used(message.model_id or model_of(message))
        self.tokens(message, key)
        text = "\n".join(part.text for part in parts if part.type == "text" and part.text and not part.synthetic)
        if bytes(message.summary) == b"true" or any(part.type == "compaction" for part in parts):
            self.emit(self.event(f"{key}:compaction", Kind.COMPACTION, Author.HARNESS))
            text = "" if bytes(message.summary) == b"true" else text
        if text.strip():
            event = self.event(key, Kind.ANSWER, Author.AGENT, clip.words(text.strip()))
            self.answered(msgspec.structs.replace(event, message_id=key))
        for part in parts:
            if part.type == "tool" and part.state is not None:
                self.tool(part, part.state, key)
        self.by_person = False
        self.failed_message(message, key)

    def placed(self, message: Message) -> None:
        path = decoded(shapes.Place, bytes(message.path))
        if path is not None:
            self.been_in(path.cwd)
            if path.root and path.root != "/" and not self.facts.git_root:
                self.facts.git_root = path.root

    def failed_message(self, message: Message, key: str) -> None:
        """How a message ended that did not end well."""
        failure = message.error
        if failure is None:
            return
        if failure.name == "MessageAbortedError":
            self.broken_off()
        else:
            said = failure.data.message if failure.data is not None else None
            text = ": ".join(filter(None, (failure.name, said)))
            self.emit(self.event(f"{key}:error", Kind.ERROR, Author.HARNESS, clip.error_text(text)))

    def tool(self, part: Part, state: ToolState, key: str) -> None:
        name = part.call or part.id or f"{key}:{self.number}"
        stamp = self.stamp
        if state.time is not None and state.time.start is not None:
            self.stamp = state.time.start
        if self.by_person:
            self.ran(part, state, f"{key}:{name}")
        else:
            call = self.called(f"{key}:{name}", name, part.tool or "", state.input, key)
            outcome, text, said = ending(state)
            if outcome is not Outcome.OPEN:
                self.closed(name)
                self.ended(call, outcome, text, said)
        self.stamp = stamp

    def ran(self, part: Part, state: ToolState, key: str) -> None:
        """A command that the person ran."""
        command = decoded(Command, bytes(state.input))
        words = (command.command if command is not None else None) or part.tool or ""
        self.emit(self.event(key, Kind.COMMAND, Author.PERSON, clip.words(f"!{words}")))

    def tokens(self, message: Message, key: str) -> None:
        spent = message.tokens
        if spent is None:
            return
        cache = spent.cache or shapes.Cache()
        self.spend(
            Usage(
                key=key,
                input=spent.input or 0,
                output=(spent.output or 0) + (spent.reasoning or 0),
                cache_read=cache.read or 0,
                cache_write=cache.write or 0,
                model=message.model_id or model_of(message),
                at_ms=self.now(),
            )
        )


class Command(msgspec.Struct):
    command: str | None = None


def model_of(message: Message) -> str:
    found = decoded(shapes.Named, bytes(message.model))
    return (found.model if found is not None else None) or ""


def ending(state: ToolState) -> tuple[Outcome, str, str]:
    """How a call ended, its output or the text of its failure, and the person's words if it was refused with some."""
    status = state.status
    if status in ("pending", "running"):
        return Outcome.OPEN, "", ""
    if status in ("completed", "success"):
        text = as_written(state.output)
        failed = state.metadata is not None and bool(state.metadata.exit)
        return (Outcome.ERROR if failed else Outcome.OK), text, ""
    text = as_written(state.error) or as_written(state.output)
    if text.startswith(REJECTED):
        return Outcome.REFUSED, text, text.partition(FEEDBACK)[2].strip()
    if text.startswith(DISMISSED):
        return Outcome.REFUSED, text, ""
    if text.startswith(RULE):
        return Outcome.DENIED, text, ""
    if text.startswith(ABORTED) or (state.metadata is not None and state.metadata.interrupted):
        return Outcome.INTERRUPTED, text, ""
    return Outcome.ERROR, text, ""
