"""The turns of formats that tell a call and its result plainly, whether they are read line by line or whole."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.content import NOTHING
from skillopt_harvesters.glance import Glance, glance_of
from skillopt_harvesters.jsonl import REFUSED, Line, clean_text
from skillopt_harvesters.model import Author, Batch, Cursor, Event, Kind, Outcome, Source
from skillopt_harvesters.skills import skill_event
from skillopt_harvesters.turns import Conversation, TurnFold
from skillopt_harvesters.whole import gone

T = TypeVar("T", bound=Line)

ALIASES = {
    "read": "read_file",
    "ReadFile": "read_file",
    "read_file_v2": "read_file",
    "Shell": "bash",
    "exec": "bash",
    "run_shell_command": "bash",
    "run_terminal": "bash",
    "run_terminal_cmd": "bash",
    "run_terminal_command_v2": "bash",
    "activate_skill": "skill",
}
"""Tools by the names under which `skills` knows them."""


class SimpleTurns(TurnFold[T]):
    """A fold with the few steps that these formats need. `named` may come from a file's name and be no Unicode."""

    def __init__(self, source: Source, talk: Conversation, named: str) -> None:
        super().__init__(source, talk, clean_text(named))
        if not self.facts.native_id:
            self.facts.native_id = self.named

    def event(self, key: str, kind: Kind, author: Author, text: str = "") -> Event:
        """An event of the record at hand."""
        return Event(
            key=key,
            kind=kind,
            author=author,
            offset=self.start,
            length=self.end - self.start,
            at_ms=self.now(),
            text=text,
        )

    def called(self, key: str, name: str, tool: str, arguments: msgspec.Raw | str, spent: str = "") -> Event:
        """A call of the record at hand, open until its result comes."""
        call = self.event(key, Kind.CALL, Author.AGENT)
        call = msgspec.structs.replace(
            call,
            call_id=name,
            tool=tool,
            arguments=clip.arguments(unquoted(arguments)),
            outcome=Outcome.OPEN,
            message_id=spent,
        )
        self.call(call)
        return call

    def ended(self, call: Event, outcome: Outcome, text: str, said: str = "") -> None:
        """The result of a call. `said` are the person's words where the call was refused with some."""
        if outcome is Outcome.OK:
            self.succeeded(call, glance_of(text))
            return
        self.failed(call, text, outcome, self.now(), said)
        if said and outcome is Outcome.REFUSED:
            self.rejected(call, self.event("", Kind.REJECTION, Author.PERSON), said)

    def succeeded(self, call: Event, seen: Glance, outcome: Outcome = Outcome.OK) -> Event | None:
        opened = super().succeeded(call, seen, outcome)
        alias = ALIASES.get(call.tool)
        if opened is None and alias is not None:
            opened = skill_event(msgspec.structs.replace(self.events[call.key], tool=alias))
            if opened is not None:
                self.emit(opened)
        return opened

    def broken_off(self, author: Author = Author.PERSON) -> None:
        """The turn was broken off, which is said once however often it stands there: what was open is interrupted."""
        self.interrupt(self.event(f"{self.talk.turn or self.named}:interrupt", Kind.INTERRUPT, author))

    def leave_open(self) -> None:
        """The turn is over: a call that is open now never gets a result, and no later interrupt concerns it."""
        for call in self.left_open():
            self.emit(call)
        self.talk.calls.clear()

    def state(self) -> bytes:
        return b""


def unquoted(arguments: msgspec.Raw | str) -> msgspec.Raw | str:
    """Arguments without the quotes where they are JSON inside a JSON string, and without the blanks of a layout."""
    if isinstance(arguments, str):
        return arguments or "null"
    written = bytes(arguments)
    if not written:
        return NOTHING
    try:
        if written[:1] == b'"':
            return msgspec.json.decode(written, type=str) or "null"
        if written[1:2].isspace():
            return msgspec.Raw(msgspec.json.format(written, indent=-1))
    except REFUSED:
        pass
    return arguments


def whole_batch(turns: SimpleTurns[T], content: bytes, cursor: Cursor | None, parser: int) -> Batch:
    """The one batch of a document that was told to its end (`whole`)."""
    batch = turns.batch(Cursor(), more=False)
    keys = [event.key for event in batch.events]
    state = msgspec.msgpack.encode(keys)
    batch.cursor = Cursor(offset=len(content), before=digest(content), parser=parser, state=state)
    batch.withdrawn = gone(cursor, keys)
    return batch
