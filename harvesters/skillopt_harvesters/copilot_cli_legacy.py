"""Copilot CLI's oldest sessions: one JSON document each, of which only readers' descriptions are at hand
(transcript-formats.md 3.1). Prompts come from `timeline` where there is one, else from the messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skillopt_harvesters import clip
from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.fold import to_ms
from skillopt_harvesters.glance import glance_of
from skillopt_harvesters.jsonl import clean_text, objects
from skillopt_harvesters.model import Author, Batch, Cursor, Event, Kind, Outcome, SessionFacts, Source, Trouble
from skillopt_harvesters.walk import spelled
from skillopt_harvesters.whole import Document, batch_of, content_of, unchanged

PARSER = 2
AGENT = "copilot-cli"
LISTS = ("timeline", "chatMessages", "history", "messages")
PERSONS = {"user", "human"}
AGENTS = {"assistant", "copilot", "agent"}


def looks_legacy(head: bytes) -> bool:
    """An object with one of the lists, and with what only this agent puts beside it."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text.startswith(b"{") or b'"requests"' in text:
        return False
    named = any(f'"{name}"'.encode() in text for name in ("timeline", "chatMessages"))
    return (named and b'"sessionId"' in text) or (b'"history"' in text and b'"workspacePath"' in text)


def read_legacy(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
    content = content_of(source)
    if not unchanged(content, cursor, PARSER):
        yield from batch_of(document_of(source, content), content, cursor, PARSER)


def document_of(source: Source, content: bytes) -> Document:
    facts = SessionFacts(agent=AGENT, native_id=spelled(Path(source.path).stem))
    value = next(objects(content.decode("utf-8", "replace").removeprefix("\ufeff")), None)
    if not isinstance(value, dict):
        return Document(session=facts, warnings=[Trouble(source.path, 0, "not JSON")])
    facts.native_id = text_of(value, "sessionId") or facts.native_id
    facts.cwds = [cwd for cwd in (text_of(value, "workspacePath", "cwd"),) if cwd]
    facts.started_ms = facts.ended_ms = to_ms(value.get("startTime"))
    document = Document(session=facts)
    entries: list[Any] = next((value[name] for name in LISTS if isinstance(value.get(name), list) and value[name]), [])
    taken = Legacy(document, len(content))
    for entry in entries:
        taken.entry(entry)
    taken.end_turn()
    if not document.understood:
        document.warnings = [Trouble(source.path, 0, "not empty, but no record was understood (copilot-cli)")]
    return document


def text_of(entry: dict[str, Any], *names: str) -> str:
    for name in names:
        if isinstance(entry.get(name), str):
            return clean_text(entry[name])
    return ""


class Legacy:
    """Gathers the entries of one document."""

    def __init__(self, document: Document, length: int) -> None:
        self.document = document
        self.length = length
        self.turn = 0
        self.answer: Event | None = None

    def entry(self, entry: Any) -> None:
        if not isinstance(entry, dict):
            self.document.unknown += 1
            return
        kind = text_of(entry, "role", "type")
        text = text_of(entry, "text", "content", "prompt", "result", "message").strip()
        ms = to_ms(entry.get("timestamp") or entry.get("time"))
        self.span(ms)
        if kind in PERSONS and text:
            self.end_turn()
            self.turn += 1
            self.give(self.event("prompt", Kind.PROMPT, Author.PERSON, ms, text))
        elif kind in AGENTS:
            if text:
                self.answer = self.event("answer", Kind.ANSWER, Author.AGENT, ms, text)
            self.calls(entry, ms)
        elif kind == "tool_call_completed":
            self.completed(entry, ms)
        elif kind == "abort":
            self.give(self.event("interrupt", Kind.INTERRUPT, Author.PERSON, ms, ""))
        else:
            self.document.skipped[f"entry {kind:.40}"] += 1
        self.document.understood += 1

    def event(self, name: str, kind: Kind, author: Author, ms: int | None, text: str) -> Event:
        key = f"{self.document.session.native_id}:{self.turn}:{name}"
        return Event(key=key, kind=kind, author=author, offset=0, length=self.length, at_ms=ms, text=clip.words(text))

    def give(self, event: Event) -> None:
        self.document.events.append(event)

    def end_turn(self) -> None:
        if self.answer is not None:
            self.give(self.answer)
            self.answer = None

    def span(self, ms: int | None) -> None:
        facts = self.document.session
        if ms is not None:
            facts.started_ms = min(ms, facts.started_ms or ms)
            facts.ended_ms = max(ms, facts.ended_ms or ms)

    def calls(self, entry: dict[str, Any], ms: int | None) -> None:
        asked = entry.get("tool_calls")
        for call in asked if isinstance(asked, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                name, tool = text_of(call, "id"), text_of(function, "name")
                self.call(name, tool, function.get("arguments"), ms, Outcome.OPEN, "")

    def completed(self, entry: dict[str, Any], ms: int | None) -> None:
        result = entry.get("result")
        result = result if isinstance(result, dict) else {}
        failed = text_of(result, "type") in ("failure", "error", "rejected", "denied")
        refused = text_of(result, "type") == "rejected"
        outcome = Outcome.REFUSED if refused else Outcome.ERROR if failed else Outcome.OK
        text = text_of(result, "log", "content", "error")
        self.call(text_of(entry, "callId", "id"), text_of(entry, "name"), entry.get("arguments"), ms, outcome, text)

    def call(self, name: str, tool: str, arguments: Any, ms: int | None, outcome: Outcome, text: str) -> None:
        name = name or digest(repr(arguments).encode("utf-8", "replace"))[:12]
        seen = glance_of(text)
        good = outcome is Outcome.OK
        self.give(
            Event(
                key=f"{self.document.session.native_id}:{name}",
                kind=Kind.CALL,
                author=Author.AGENT,
                offset=0,
                length=self.length,
                at_ms=ms,
                call_id=name,
                tool=tool,
                arguments=clip.arguments(arguments) if isinstance(arguments, str) else clip.fitted(arguments or {}),
                outcome=outcome,
                text="" if good else clip.error_text(text),
                output_length=seen.length,
                output_digest=seen.fingerprint if good else "",
                head=seen.head if good else "",
            )
        )
