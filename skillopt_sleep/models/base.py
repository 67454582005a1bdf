"""Who completes a prompt: one protocol, one error policy, one place where calls are paid for and written down."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from skillopt_core.types import Missing
from skillopt_sleep.budget import Budget, Usage, most_tokens
from skillopt_sleep.domain.ledgers import CompletionKey, CompletionLedger
from skillopt_sleep.errors import ModelError
from skillopt_sleep.redact import Redacted


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as it came. `truncated`: the model ran into the output limit."""

    text: str
    usage: Usage | None
    truncated: bool = False
    model: str = ""


class CallFailed(Exception):
    """A call that gave nothing (429 or 5xx after its one retry, no connection, a time-out): missing data."""


class Completer(Protocol):
    """One model behind one endpoint.

    `complete` raises `CallFailed` where the call gave nothing, and `ModelError` (`NotSignedIn` among them) where no
    later call can do better, so that the night stops before it spends.
    """

    model: str
    where: str

    def complete(self, prompt: Redacted, max_output: int) -> Reply: ...


class Completion:
    """`complete(prompts) -> replies` of the core over one model: looked up, reserved, called, settled, written down.

    Replies come in the order of the prompts; a failed, empty or truncated one is `Missing`, never stored as an answer.
    Raises `Exhausted` before a call that the budget cannot cover.
    """

    def __init__(
        self,
        completer: Completer,
        budget: Budget,
        ledger: CompletionLedger,
        *,
        night: str,
        role: str,
        redact: Callable[[str], Redacted],
        max_output: int = 2048,
        workers: int = 4,
    ) -> None:
        self._completer = completer
        self._budget = budget
        self._ledger = ledger
        self._night = night
        self._role = role
        self._redact = redact
        self._max_output = max_output
        self._workers = workers

    def __call__(self, prompts: Sequence[str]) -> Sequence[str | Missing]:
        if len(prompts) <= 1:
            return [self._one(prompt) for prompt in prompts]
        with ThreadPoolExecutor(min(self._workers, len(prompts))) as pool:
            pending = [pool.submit(self._one, prompt) for prompt in prompts]
        failed = next((f.exception() for f in pending if f.exception() is not None), None)
        if failed is not None:
            raise failed
        return [f.result() for f in pending]

    def _one(self, text: str) -> str | Missing:
        prompt = self._redact(text)
        digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
        key = CompletionKey(self._night, self._role, self._completer.model, digest, str(self._max_output))
        if (stored := self._ledger.reply(key)) is not None:
            return stored
        reservation = self._budget.reserve(self._role, self._completer.model, most_tokens(prompt), self._max_output)
        try:
            reply = self._completer.complete(prompt, self._max_output)
        except CallFailed as failed:
            # The provider may have worked before it failed: the prompt counts, the answer that never came does not.
            self._budget.settle(reservation, self._completer.model, None)
            self._ledger.save(key, prompt, None, str(failed))
            return Missing(str(failed))
        self._budget.settle(reservation, self._completer.model, reply.usage, reply.text)
        if reply.truncated or not reply.text.strip():
            reason = "the answer was cut off" if reply.truncated else "the answer was empty"
            self._ledger.save(key, prompt, None, reason)
            return Missing(reason)
        self._ledger.save(key, prompt, self._redact(reply.text), "ok")
        return reply.text


def by_status(status: int, where: str) -> Exception:
    """What an HTTP status means: 408, 409, 429 and 5xx gave nothing this time; any other 4xx will be the same again."""
    if status in {408, 409, 429} or status >= 500:
        return CallFailed(f"HTTP {status}")
    return ModelError(f"the request was refused (HTTP {status})", where=where, remedy="Check the model's name")
