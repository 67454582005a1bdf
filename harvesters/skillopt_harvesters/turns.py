"""What every conversation has, whatever its format: prompts that begin turns, calls that are open until their result
comes, the last words of a turn, a refusal that waits for its reason."""

from __future__ import annotations

from copy import copy
from typing import TypeVar

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters.fold import Common, Fold
from skillopt_harvesters.glance import Glance
from skillopt_harvesters.jsonl import Line
from skillopt_harvesters.model import Author, Event, Kind, Outcome, SessionFacts, Source
from skillopt_harvesters.skills import FILE, SKILL_TOOLS, skill_event

T = TypeVar("T", bound=Line)
OK = Outcome.OK

REASON_WITHIN_MS = 15 * 60_000
"""A prompt later than this after a refusal without words is a new request and not its reason."""
OPEN_KEEP = 256
"""Open calls that are remembered; a result comes soon or never."""


class Conversation(Common, kw_only=True):
    """What is carried from batch to batch. `turn` is the key of the prompt that began it."""

    turn: str = ""
    answer: Event | None = None
    refused: Event | None = None
    calls: dict[str, Event] = msgspec.field(default_factory=dict)


def new_facts(agent: str) -> SessionFacts:
    return SessionFacts(agent=agent, native_id="")


class TurnFold(Fold[T]):
    """A fold over a conversation.

    A refusal without words makes the person's next prompt its reason: that becomes a REJECTION of the call, and no
    PROMPT. It stays a prompt where it is plainly a new request: a slash command, or typed `REASON_WITHIN_MS` later, or
    after the agent went on.
    """

    def __init__(self, source: Source, talk: Conversation, named: str) -> None:
        super().__init__(source, talk)
        self.named = named
        self.talk = talk
        self.fresh: list[str] = []

    # -- the person

    def prompt(self, event: Event) -> None:
        """A genuine prompt: it ends the turn before it."""
        self.end_turn()
        refused, self.talk.refused = self.talk.refused, None
        if refused is not None and event.kind is Kind.PROMPT and soon(refused.at_ms, event.at_ms):
            event = msgspec.structs.replace(event, kind=Kind.REJECTION, call_id=refused.call_id)
        self.talk.turn = event.key
        self.emit(event)

    def interrupt(self, event: Event) -> None:
        """The person stopped the agent: what it was doing was interrupted."""
        self.emit(event)
        for name, call in list(self.talk.calls.items()):
            if call.agent_id == event.agent_id:
                del self.talk.calls[name]
                self.emit(msgspec.structs.replace(call, outcome=Outcome.INTERRUPTED))

    # -- the agent

    def answered(self, event: Event) -> None:
        """The last words so far of a turn; the parts of one message are joined."""
        if not event.text or event.text.isspace():
            return
        self.talk.refused = None
        before = self.talk.answer
        text, key = event.text, f"{self.talk.turn or self.named}:answer"
        if before is not None and before.message_id and before.message_id == event.message_id:
            text = clip.words(f"{before.text}\n{text}")
        if text is not event.text or key != event.key:
            event = msgspec.structs.replace(event, key=key, text=text)
        self.talk.answer = event

    def end_turn(self) -> None:
        if self.talk.answer is not None:
            self.emit(self.talk.answer)
            self.talk.answer = None

    def call(self, event: Event) -> None:
        """A call whose result has not come yet."""
        if not event.agent_id:
            self.talk.refused = None
        self.talk.calls[event.call_id] = event
        self.fresh.append(event.call_id)

    def closed(self, name: str) -> Event | None:
        """The open call of this id, which is open no longer."""
        return self.talk.calls.pop(name, None)

    def succeeded(self, call: Event, seen: Glance, outcome: Outcome = OK) -> Event | None:
        """A call's result, merged into the call's own event. Gives the SKILL event if the call opened one."""
        call.outcome = outcome
        call.output_length, call.output_digest, call.head = seen.length, seen.fingerprint, seen.head
        self.events[call.key] = call
        if call.tool not in SKILL_TOOLS and FILE not in call.arguments:
            return None
        opened = skill_event(call)
        if opened is not None:
            self.emit(opened)
        return opened

    def failed(self, call: Event, text: str, outcome: Outcome, refused_ms: int | None = None, said: str = "") -> None:
        """A call that failed. Where the person refused it without words, the next prompt may say why."""
        done = msgspec.structs.replace(call, outcome=outcome, text=clip.error_text(text), output_length=len(text))
        self.emit(done)
        if outcome is Outcome.REFUSED and not said and not call.agent_id:
            self.talk.refused = msgspec.structs.replace(done, at_ms=refused_ms)

    def rejected(self, call: Event, event: Event, said: str) -> None:
        """The words with which the person refused a call."""
        self.emit(
            msgspec.structs.replace(
                event,
                key=f"{call.key}:words",
                kind=Kind.REJECTION,
                author=Author.PERSON,
                text=clip.words(said),
                call_id=call.call_id,
            )
        )

    # -- between batches

    def left_open(self) -> list[Event]:
        """The calls since the last batch that are still open."""
        calls = self.talk.calls
        names, self.fresh = dict.fromkeys(self.fresh), []
        return [calls[name] for name in names if name in calls]

    def settle(self, last: bool) -> None:
        if self.talk.answer is not None:
            self.emit(self.talk.answer)
        for call in self.left_open():
            self.emit(copy(call))  # what is handed out does not change any more
        self.talk.calls = dict(list(self.talk.calls.items())[-OPEN_KEEP:])


def soon(refused_ms: int | None, typed_ms: int | None) -> bool:
    return refused_ms is None or typed_ms is None or abs(typed_ms - refused_ms) <= REASON_WITHIN_MS
