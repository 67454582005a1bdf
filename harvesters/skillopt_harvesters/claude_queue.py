"""Prompts typed while Claude Code worked (transcript-formats.md 1.6): a queue whose operations name hardly anything.

An enqueued text that begins no user record and was not put back into the input box was handed to the model within the
running turn, and stands nowhere else. While it is not known how it ends, it is given provisionally.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from skillopt_harvesters.claude_words import classify
from skillopt_harvesters.model import Event, Kind

QUEUE_KEEP = 64


class Queued(msgspec.Struct):
    """A text in the queue. `given`: emitted already; `taken`: certainly handed to the model within the turn."""

    event: Event
    given: bool = False
    taken: bool = False


class Queue:
    """The queue of one session, over `items` of an earlier reading."""

    def __init__(self, items: list[Queued], emit: Callable[[Event], None], withdraw: Callable[[str], None]) -> None:
        self.items = items
        self._emit = emit
        self._withdraw = withdraw

    def add(self, event: Event) -> None:
        self.items.append(Queued(event))
        del self.items[:-QUEUE_KEEP]

    def handed_over(self, text: str) -> bool:
        """A text left the queue for the running turn: the one that is named, else the first. False if it is unknown."""
        if text and any(item.event.text == text and item.taken for item in self.items):
            return True
        for item in self.items:
            if not item.taken and (not text or item.event.text == text):
                self._take(item)
                return True
        return False

    def delivered(self, text: str) -> bool:
        """The program shows a queued text as it was handed over; True if it is known, and so given once."""
        for item in self.items:
            if item.event.text == text:
                self._take(item)
                return True
        return False

    def put_back(self, text: str) -> None:
        """Back into the input box: the text that is named, else all."""
        self._keep([item for item in self.items if item.taken or (text and item.event.text != text)])

    def begun(self, texts: list[str]) -> None:
        """A user record: a queued text that it contains as whole lines is this record."""
        if self.items:
            lines = "\n" + "\n".join(text.strip() for text in texts) + "\n"
            self._keep([item for item in self.items if item.taken or f"\n{item.event.text}\n" not in lines])

    def give_all(self) -> None:
        for item in self.items:
            self._give(item)

    def _take(self, item: Queued) -> None:
        item.taken = True
        self._give(item)

    def _give(self, item: Queued) -> None:
        text = item.event.text
        if not item.given and not text.startswith("/") and classify(text).kind is Kind.PROMPT:
            item.given = True
            self._emit(item.event)

    def _keep(self, kept: list[Queued]) -> None:
        for item in self.items:
            if item.given and all(item is not other for other in kept):
                self._withdraw(item.event.key)
        self.items = kept
