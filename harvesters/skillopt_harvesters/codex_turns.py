"""What a person typed into Codex, and what each message cost.

A prompt stands in up to three places: a `response_item` of role user, an `event_msg.user_message`, and an
`item_completed` with a UserMessage. The events hold what was typed; the item also holds what was injected, so it counts
only where a file has no such events. Which it is shows only later: an item waits until an event confirms it or the
agent goes on without one.
"""

from __future__ import annotations

import msgspec

from skillopt_harvesters import clip
from skillopt_harvesters import codex_shapes as shapes
from skillopt_harvesters.codex_shapes import FullPayload, Payload, Record
from skillopt_harvesters.codex_words import Words, classify, escalated
from skillopt_harvesters.fold import believed
from skillopt_harvesters.jsonl import part
from skillopt_harvesters.model import Author, Event, Kind, Outcome, Source, Usage
from skillopt_harvesters.turns import Conversation, TurnFold

ABORTS = {"interrupted", "user_cancelled", "replaced"}


class Waiting(msgspec.Struct):
    """A user item that no event has confirmed yet."""

    words: str
    kind: Kind
    start: int
    end: int
    stamp: str | int | float | None


class State(msgspec.Struct):
    """`verdicts`: what an event said of a call before its output came. `unspent`: events whose message's tokens come
    later; `spent`: the message whose tokens came before its items."""

    talk: Conversation
    thread: str = ""
    began_ms: int | None = None
    inherited: bool = False
    subagent: bool = False
    turn: int = 0
    count: int = 0
    events: bool = False
    waiting: Waiting | None = None
    typed: str = ""
    typed_by: list[str] = []
    verdicts: dict[str, bool] = {}
    recorded: bool = False
    counts: int = 0
    total: int = 0
    spent: str = ""
    unspent: list[Event] = []
    spoken: str = ""


class CodexTurns(TurnFold[Record]):
    """One rollout, as far as the person and the tokens go."""

    def __init__(self, source: Source, state: State, named: str) -> None:
        super().__init__(source, state.talk, named)
        self.s = state
        if not state.thread:
            state.thread = self.facts.native_id = named

    def key(self, name: str) -> str:
        return f"{self.s.thread}:{self.s.turn}:{name}"

    def event(self, key: str, kind: Kind, author: Author, text: str = "") -> Event:
        return Event(
            key=key,
            kind=kind,
            author=author,
            offset=self.start,
            length=self.end - self.start,
            at_ms=self.now(),
            text=text,
        )

    # -- the person

    def user_item(self, payload: Payload) -> None:
        content = part(shapes.pieces, payload.content, None)
        if content is None:
            content = part(shapes.text, payload.message, None)
        texts = [content] if isinstance(content, str) else [p.text for p in content or () if p.text]
        found = [classify(text) for text in texts]
        if any(words.why == "abort notice" for words in found):
            self.aborted("interrupted")
        typed = [words for words in found if words.kind in (Kind.PROMPT, Kind.COMMAND)]
        for words in found:
            if words.kind is Kind.SKILL:
                self.skill_given(words)
            elif words.kind is None:
                self.skipped[f"injected: {words.why}"] += 1
        if not typed:
            return
        text = "\n".join(words.text for words in typed)
        if typed[0].kind is Kind.COMMAND:
            self.typed(text, Kind.COMMAND)
            return
        if self.s.typed == text and "item" not in self.s.typed_by:
            self.s.typed_by.append("item")
            return
        self.confirm()
        self.s.waiting = Waiting(text, Kind.PROMPT, self.start, self.end, self.stamp)

    def user_event(self, by: str, text: str, images: bool) -> None:
        """What was typed, from one of the two kinds of events."""
        words = classify(text)
        self.s.events = True
        if words.kind is Kind.PROMPT:
            said = words.text
        elif images and not text.strip():
            said = "[image]"
        else:
            self.skipped[f"injected: {words.why}"] += 1
            return
        if self.s.typed == said and by not in self.s.typed_by:
            self.s.typed_by.append(by)
            return
        item = self.s.waiting
        self.s.waiting = None
        self.typed(said, Kind.PROMPT)
        self.s.typed_by = [by, "item"] if item is not None and (item.words == said or images) else [by]

    def confirm(self) -> None:
        """The agent goes on: a user item that no event has confirmed is a prompt if this file has no such events."""
        item, self.s.waiting = self.s.waiting, None
        if item is None:
            return
        if self.s.events:
            self.skipped["user item without its event"] += 1
            return
        at_hand = self.start, self.end, self.stamp
        self.start, self.end, self.stamp = item.start, item.end, item.stamp
        self.typed(item.words, item.kind)
        self.start, self.end, self.stamp = at_hand
        self.s.typed_by = ["item"]

    def typed(self, text: str, kind: Kind) -> None:
        state = self.s
        state.typed, state.typed_by = text, []
        state.turn += 1
        state.count = 0
        if state.subagent:
            self.skipped["sub-agent's prompt"] += 1
            return
        for call in list(self.talk.calls.values()):
            if call.outcome is Outcome.OPEN and escalated(call.arguments):
                self.talk.calls[call.call_id] = msgspec.structs.replace(call, outcome=Outcome.REFUSED)
                self.failed(call, "", Outcome.REFUSED, self.now())
        self.prompt(self.event(self.key("prompt"), kind, Author.PERSON, clip.words(text)))

    def skill_given(self, words: Words) -> None:
        event = self.event(self.key(f"skill:{words.text}"), Kind.SKILL, Author.HARNESS)
        self.emit(msgspec.structs.replace(event, tool=words.text, head="opened"))

    def aborted(self, reason: str) -> None:
        """One a turn: a turn ends once, though two records may say so."""
        author = Author.PERSON if reason in ABORTS and not self.s.subagent else Author.HARNESS
        for call in [call for call in self.talk.calls.values() if escalated(call.arguments)]:
            self.closed(call.call_id)
            self.failed(call, "", Outcome.REFUSED, self.now())
        self.interrupt(self.event(self.key("interrupt"), Kind.INTERRUPT, author))

    # -- tokens

    def usage_record(self, payload: FullPayload) -> None:
        """A response's tokens under the response's own id; the `token_count` that follows says the same again."""
        usage = part(shapes.tokens, payload.usage, None)
        if usage is not None:
            self.s.recorded = True
            self.count_tokens(f"{self.s.thread}:{payload.response_id or self.s.counts}", usage)

    def token_count(self, payload: Payload) -> None:
        """Cumulative totals: the last message's tokens where the total moved, the difference where they are missing."""
        info = part(shapes.token_info, payload.info, None)
        if info is None or self.s.recorded:
            return
        total, last = info.total_token_usage, info.last_token_usage
        if total is not None:
            now = believed(total.total_tokens or (total.input_tokens or 0) + (total.output_tokens or 0))
            before, self.s.total = self.s.total, now
            if now == before:
                return
            if last is None and now > before and not before:
                last = total
        if last is not None:
            self.count_tokens(f"{self.s.thread}:tokens:{self.s.counts}", last)

    def count_tokens(self, key: str, usage: shapes.Tokens) -> None:
        """Tokens of one message. They come before its items (0.40) or behind them (0.171)."""
        self.s.counts += 1
        cached = usage.cached_input_tokens or 0
        model = self.facts.models[-1] if self.facts.models else ""
        self.spend(
            Usage(
                key=key,
                input=max(0, (usage.input_tokens or 0) - cached),
                output=usage.output_tokens or 0,
                cache_read=cached,
                cache_write=usage.cache_write_input_tokens or 0,
                model=model,
                at_ms=self.now(),
            )
        )
        answer = self.talk.answer
        waiting = [call for call in self.talk.calls.values() if not call.message_id] if self.talk.calls else ()
        if not waiting and not self.s.unspent and (answer is None or answer.message_id):
            self.s.spent = key
            return
        self.s.spent = ""
        for call in waiting:
            self.talk.calls[call.call_id] = msgspec.structs.replace(call, message_id=key)
        for event in self.s.unspent:
            self.emit(msgspec.structs.replace(event, message_id=key))
        self.s.unspent = []
        if answer is not None and not answer.message_id:
            self.talk.answer = msgspec.structs.replace(answer, message_id=key)

    # -- between batches

    def settle(self, last: bool) -> None:
        super().settle(last)
        item = self.s.waiting
        if last and item is not None and not self.s.events and not self.s.subagent:
            key = f"{self.s.thread}:{self.s.turn + 1}:prompt"
            self.start, self.end, self.stamp = item.start, item.end, item.stamp
            self.emit(self.event(key, item.kind, Author.PERSON, clip.words(item.words)))

    def state(self) -> bytes:
        return msgspec.msgpack.encode(self.s)
