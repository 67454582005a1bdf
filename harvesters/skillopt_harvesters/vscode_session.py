"""VS Code's requests to events (transcript-formats.md 4.3).

What was typed is `message.text`, never the rendered message of the result. Turns that were undone, that the program
began by itself, or that only confirm something are passed over.
"""

from __future__ import annotations

from typing import Any

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters import vscode_shapes as shapes
from skillopt_harvesters.fold import to_ms
from skillopt_harvesters.glance import glance_of
from skillopt_harvesters.jsonl import part
from skillopt_harvesters.model import Author, Event, Kind, Outcome, Usage
from skillopt_harvesters.skills import skill_event
from skillopt_harvesters.vscode_shapes import NOTHING, Part, Request
from skillopt_harvesters.whole import Document

CANCELLED = 2
UP = 1
FATES = {1: "kept", 2: "undone", 3: "modified by the person"}
REFUSALS = {0, 5, "denied", "skipped"}
EMPTY = (NOTHING, msgspec.Raw(b"false"), msgspec.Raw(b""))
SUFFIX = "__vscode"


class Turns:
    """Gathers the requests of one session."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.facts = document.session

    def request(self, request: Request, number: int, start: int, length: int) -> None:
        why = passed_over(request)
        if why:
            self.document.skipped[why] += 1
            return
        turn = OneTurn(self, request, number, start, length)
        turn.take()

    def give(self, event: Event) -> None:
        self.document.events.append(event)

    def span(self, ms: int | None) -> None:
        facts = self.facts
        if ms is not None:
            facts.started_ms = ms if facts.started_ms is None else min(ms, facts.started_ms)
            facts.ended_ms = ms if facts.ended_ms is None else max(ms, facts.ended_ms)


def passed_over(request: Request) -> str:
    """Why a request is no turn of the person's; "" if it is one."""
    if request.should_be_removed_on_send not in EMPTY or request.is_hidden:
        return "undone request"
    if request.is_system_initiated:
        return "begun by the program"
    return "confirmation" if request.confirmation not in EMPTY else ""


class OneTurn:
    """One request and its response."""

    def __init__(self, turns: Turns, request: Request, number: int, start: int, length: int) -> None:
        self.turns = turns
        self.asked = request
        self.key = request.request_id or f"{turns.facts.native_id}:{number}"
        if len(self.key) < 24:
            self.key = f"{turns.facts.native_id}/{self.key}"
        self.start = start
        self.length = length
        self.ms = to_ms(request.timestamp)
        state = request.model_state
        self.done_ms = to_ms(state.completed_at) if state is not None else None
        self.cancelled = bool(request.is_canceled) or (state is not None and state.value == CANCELLED)
        self.functions = functions_of(request)

    def event(self, name: str, kind: Kind, author: Author, text: str = "", ms: int | None = None) -> Event:
        return Event(
            key=f"{self.key}:{name}",
            kind=kind,
            author=author,
            offset=self.start,
            length=self.length,
            at_ms=self.ms if ms is None else ms,
            text=text,
        )

    def take(self) -> None:
        request, turns = self.asked, self.turns
        facts = turns.facts
        turns.span(self.ms)
        turns.span(self.done_ms)
        if request.agent is not None and request.agent.extension_version:
            facts.agent_version = request.agent.extension_version
        if request.model_id and request.model_id not in facts.models:
            facts.models.append(request.model_id)
        self.prompt()
        answer = self.response()
        if answer:
            event = self.event("answer", Kind.ANSWER, Author.AGENT, clip.words(answer), self.done_ms)
            turns.give(msgspec.structs.replace(event, message_id=self.key))
        self.feedback()
        self.tokens()

    def prompt(self) -> None:
        message = part(shapes.messages, self.asked.message, None)
        text = ((message if isinstance(message, str) else message and message.text) or "").strip()
        command = self.asked.slash_command.name if self.asked.slash_command else None
        if text:
            self.turns.give(self.event("prompt", Kind.PROMPT, Author.PERSON, clip.words(text)))
        elif command:
            self.turns.give(self.event("prompt", Kind.COMMAND, Author.PERSON, f"/{command}"))
        else:
            self.turns.document.skipped["empty"] += 1

    def response(self) -> str:
        """The shown text of the response; its tool calls are given on the way, in their order."""
        said: list[str] = []
        for raw in self.asked.response or ():
            piece = part(shapes.parts, raw, None)
            if piece is None:
                said.append(part(shapes.text, raw, "") or "")
            elif piece.kind == "toolInvocationSerialized":
                self.call(piece)
            elif piece.kind in (None, "markdownContent", "markdown", "markdownVuln"):
                said.append(marked(piece.content if piece.value == NOTHING else piece.value))
            elif piece.kind == "inlineReference":
                said.append(piece.name or path_of(piece.inline_reference))
        return "".join(said).strip()

    def call(self, piece: Part) -> None:
        name = (piece.tool_call_id or "").partition(SUFFIX)[0]
        function = self.functions.get(name)
        call = self.event(name, Kind.CALL, Author.AGENT)
        terminal = part(shapes.terminals, piece.tool_specific_data, None)
        call = msgspec.structs.replace(
            call,
            call_id=name,
            tool=(function.name if function is not None else None) or piece.tool_id or "",
            arguments=arguments_of(piece, function, terminal),
            outcome=Outcome.OPEN,
            message_id=self.key,
        )
        details = part(shapes.details, piece.result_details, None)
        text = self.output_of(name, piece, details, terminal)
        outcome = self.outcome_of(piece, details, terminal)
        if outcome is not Outcome.OK:
            self.turns.give(
                msgspec.structs.replace(call, outcome=outcome, text=clip.error_text(text), output_length=len(text))
            )
            return
        seen = glance_of(text)
        call = msgspec.structs.replace(call, outcome=outcome, output_length=seen.length)
        done = msgspec.structs.replace(call, output_digest=seen.fingerprint, head=seen.head)
        self.turns.give(done)
        opened = skill_event(done)
        if opened is not None:
            self.turns.give(opened)

    def outcome_of(self, piece: Part, details: shapes.Details | None, terminal: shapes.Terminal | None) -> Outcome:
        confirmed = part(shapes.confirmations, piece.is_confirmed, None)
        if confirmed is False or (isinstance(confirmed, shapes.Confirmed) and confirmed.type in REFUSALS):
            return Outcome.REFUSED
        if details is not None and details.is_error:
            return Outcome.ERROR
        if terminal is not None and terminal.terminal_command_state and terminal.terminal_command_state.exit_code:
            return Outcome.ERROR
        if piece.is_complete is False:
            return Outcome.INTERRUPTED if self.cancelled else Outcome.OPEN
        return Outcome.OK

    def output_of(
        self, name: str, piece: Part, details: shapes.Details | None, terminal: shapes.Terminal | None
    ) -> str:
        """The text that a tool gave, where it is kept; what VS Code said of the call where it is not."""
        if terminal is not None and terminal.terminal_command_output and terminal.terminal_command_output.text:
            return terminal.terminal_command_output.text
        metadata = self.asked.result.metadata if self.asked.result else None
        kept = (metadata.tool_call_results or {}).get(name) if metadata is not None else None
        for raw in (kept, details.output if details is not None else None):
            if raw is not None and raw != NOTHING:
                text = "\n".join(strings_of(part(_any, raw, None)))
                if text:
                    return text
        return ""

    def feedback(self) -> None:
        request, turns = self.asked, self.turns
        if self.cancelled:
            turns.give(self.event("cancelled", Kind.INTERRUPT, Author.PERSON, ms=self.done_ms))
        if request.vote is not None:
            event = self.event("vote", Kind.FEEDBACK, Author.PERSON, request.vote_down_reason or "")
            turns.give(msgspec.structs.replace(event, head="up" if request.vote == UP else "down"))
        for n, touched in enumerate(request.edited_file_events or ()):
            fate = FATES.get(touched.event_kind or 0)
            if fate:
                event = self.event(f"edit:{n}", Kind.FEEDBACK, Author.PERSON, path_of(touched.uri))
                turns.give(msgspec.structs.replace(event, head=fate))
        failure = request.result.error_details if request.result else None
        if failure is not None and failure.message and not self.cancelled:
            turns.give(self.event("error", Kind.ERROR, Author.HARNESS, clip.error_text(failure.message)))

    def tokens(self) -> None:
        usage, result = self.asked.usage, self.asked.result
        read = (usage.prompt_tokens if usage else None) or (result.prompt_tokens if result else None)
        written = (usage.completion_tokens if usage else None) or (result.output_tokens if result else None)
        if read or written:
            model = self.asked.model_id or ""
            spent = Usage(key=self.key, input=read or 0, output=written or 0, model=model, at_ms=self.ms)
            self.turns.document.usage.append(spent)


_any = msgspec.json.Decoder()


def functions_of(request: Request) -> dict[str, shapes.Function]:
    """The model's own tool calls by id, which alone hold the arguments."""
    metadata = request.result.metadata if request.result else None
    rounds = (metadata.tool_call_rounds if metadata is not None else None) or ()
    found = [call for one in rounds for call in one.tool_calls or ()]
    return {(call.id or "").partition(SUFFIX)[0]: call for call in found}


def arguments_of(piece: Part, function: shapes.Function | None, terminal: shapes.Terminal | None) -> str:
    if function is not None and function.arguments != NOTHING:
        inner = part(shapes.text, function.arguments, None)
        return clip.arguments(function.arguments if inner is None else inner)
    if terminal is not None:
        line = part(shapes.command_lines, terminal.command_line, None)
        if isinstance(line, shapes.CommandLine):
            line = line.user_edited or line.tool_edited or line.original
        command = line or terminal.command
        if command:
            return clip.fitted({"command": command})
    details = part(shapes.details, piece.result_details, None)
    if details is not None and details.input != NOTHING:
        inner = part(shapes.text, details.input, None)
        return clip.arguments(details.input if inner is None else inner)
    said = marked(piece.past_tense_message) or marked(piece.invocation_message)
    return clip.fitted({"message": said}) if said else ""


def marked(raw: msgspec.Raw) -> str:
    """A Markdown text, which is a string or an object with a `value`."""
    found = part(shapes.marked, raw, None)
    return (found if isinstance(found, str) else found and found.value) or ""


def path_of(raw: msgspec.Raw) -> str:
    found = part(shapes.uris, raw, None)
    return (found if isinstance(found, str) else found and (found.fs_path or found.path)) or ""


def strings_of(value: Any, depth: int = 0) -> list[str]:
    """The texts inside a tool's result, whose shape differs from tool to tool."""
    if isinstance(value, str):
        return [value]
    if depth > 12:
        return []
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item, depth + 1)]
    if isinstance(value, dict):
        inner = [value[name] for name in ("content", "value", "text", "children", "node") if name in value]
        return [text for item in inner for text in strings_of(item, depth + 1)]
    return []
