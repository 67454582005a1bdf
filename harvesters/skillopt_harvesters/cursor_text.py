"""Cursor's older transcripts: plain text with `user:` and `assistant:` on lines of their own, calls and results
marked. Only readers' descriptions of it are at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters.cursor_session import CursorTurns, new_state
from skillopt_harvesters.cursor_words import said_at, spoken, typed
from skillopt_harvesters.model import Author, Batch, Cursor, Kind, Outcome, Source
from skillopt_harvesters.simple_turns import whole_batch
from skillopt_harvesters.walk import spelled
from skillopt_harvesters.whole import content_of, unchanged

PARSER = 1
ROLE = re.compile(rb"^(user|assistant):[ \t]*\r?$", re.MULTILINE)
MARK = re.compile(r"^\[(Thinking|Tool call|Tool result)\][ \t]*(.*)$", re.MULTILINE)
ARGUMENT = re.compile(r"^\s+([A-Za-z_][\w.-]*): (.*)$")


def read_text(source: Source, cursor: Cursor | None, slug: str, parent: str) -> Iterator[Batch]:
    content = content_of(source)
    if unchanged(content, cursor, PARSER):
        return
    turns = CursorTurns(source, new_state(), spelled(Path(source.path).stem), slug, parent)
    tell(turns, content)
    yield whole_batch(turns, content, cursor, PARSER)


def looks_text(head: bytes) -> bool:
    return re.match(rb"\s*user:[ \t]*\r?\n", head) is not None and b"\nassistant:" in head


def tell(turns: CursorTurns, content: bytes) -> None:
    """The blocks between the role lines."""
    marks = list(ROLE.finditer(content))
    ends = [mark.start() for mark in marks[1:]] + [len(content)]
    for mark, turns.start, turns.end in zip(marks, [mark.start() for mark in marks], ends, strict=True):
        text = content[mark.end() : turns.end].decode("utf-8", "replace").strip("\r\n")
        turns.stamp = None
        if mark[1] == b"user":
            turns.asked(typed(text), said_at(text))
        else:
            answered(turns, text)
        turns.understood += 1
    if content.strip() and not marks:
        turns.warn(0, "not empty, but no record was understood (cursor)")


def answered(turns: CursorTurns, text: str) -> None:
    """The agent's part: what it said, its calls, and the results that follow them."""
    said = []
    for kind, rest, body in pieces(text):
        if kind == "Tool call":
            turns.tool(None, rest.strip(), msgspec.json.encode(arguments_of(body)).decode())
        elif kind == "Tool result":
            name = next(iter(turns.talk.calls), None)
            call = turns.closed(name) if name is not None else None
            if call is not None and body.strip():
                turns.ended(call, Outcome.OK, body.strip("\n"))
        elif not kind:
            said.append(body)
    words = spoken("\n".join(said))
    if words:
        turns.answered(turns.event("", Kind.ANSWER, Author.AGENT, clip.words(words)))


def pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """The marked pieces of a text: mark, what stands behind it on its line, and the lines that follow."""
    marks = list(MARK.finditer(text))
    yield "", "", text[: marks[0].start()] if marks else text
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        yield mark[1], mark[2], text[mark.end() : end]


def arguments_of(body: str) -> dict[str, str]:
    """The arguments of a call: `name: value` on indented lines; a value may go on over further lines."""
    found: dict[str, str] = {}
    name = ""
    for line in body.strip("\n").split("\n"):
        match = ARGUMENT.match(line)
        if match:
            name = match[1]
            found[name] = match[2]
        elif name:
            found[name] += f"\n{line}"
    return found
