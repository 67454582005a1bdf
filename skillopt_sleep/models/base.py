"""Who completes a prompt: one protocol, one error policy, one place where calls are paid for and written down."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final, Literal, Protocol, TypeVar, runtime_checkable
from urllib.parse import urlsplit

from skillopt_core.asking import schema_of
from skillopt_core.schemas import Schema
from skillopt_core.types import Missing
from skillopt_sleep.budget import Budget, Reservation, Usage
from skillopt_sleep.domain.ledgers import CompletionKey, CompletionLedger
from skillopt_sleep.errors import ModelError, NotSignedIn
from skillopt_sleep.models.pool import Pool, Slot
from skillopt_sleep.redact import Redacted

TRIES: Final = 2
"""Requests that one prompt is worth: one retry, by this layer alone, each with a reservation of its own."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
LONGEST_TOKEN: Final = 32
"""Characters of one token, at most, on the average of an answer: what is longer was not made within the limit."""

Cost = Literal["none", "prompt", "all"]
R = TypeVar("R", bound="Reply")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as it came. `truncated`: the model ran into a limit; `refused`: it or a filter would not answer.

    `written` is all that was written, where `text` is only a part of it: that is what was worked for.
    """

    text: str
    usage: Usage | None
    truncated: bool = False
    model: str = ""
    refused: bool = False
    written: str = ""


class CallFailed(Exception):
    """A call that gave nothing: missing data.

    `cost` is the most that it may have cost all the same: `none` where nobody worked (429, no connection), the `prompt`
    where the provider said that it failed (5xx), `all` where the answer was lost on its way. `pause` is how many
    seconds to wait before another try, None where there should be none.
    """

    def __init__(self, reason: str, cost: Cost = "prompt", pause: float | None = None) -> None:
        super().__init__(reason)
        self.cost = cost
        self.pause = pause


class Completer(Protocol):
    """One model behind one endpoint.

    `complete` sends one request. It raises `CallFailed` where that gave nothing, and `ModelError` (`NotSignedIn` among
    them) where the request itself was refused.
    """

    model: str
    where: str

    def complete(self, prompt: Redacted, max_output: int) -> Reply: ...


@runtime_checkable
class Constrained(Protocol):
    """A completer that can hold an answer to a JSON Schema. Raises as `Completer.complete` does."""

    def complete_as(self, prompt: Redacted, max_output: int, schema: Schema) -> Reply: ...


class Paying:
    """One role's calls to one model: set aside, made in the provider's pool, settled, tried a second time at most.

    Thread-safe. The very first call goes alone: a request that is refused (`ModelError`) then ends the work before
    anything is spent. Once a call was answered, a refusal of another one is that prompt's own, and a failed call; a
    refused key ends the work at any time.
    """

    def __init__(self, budget: Budget, pool: Pool, *, role: str, model: str, sleep: Callable[[float], None]) -> None:
        self.pool = pool
        self._budget = budget
        self._role = role
        self._model = model
        self._sleep = sleep
        self._first = Lock()
        self._begun = self._answered = False
        self._refused: ModelError | None = None

    def call(self, prompt: str, max_output: int, ask: Callable[[], R], keep: Callable[[R], K]) -> K:
        """What `keep` makes of the answer to a prompt, which is all that `ask` sends.

        An answer is kept before it is settled: who is killed in between does not pay twice. Raises `CallFailed`,
        `ModelError`, and `Exhausted` before a try that the budget cannot cover.
        """
        if not self._begun:
            with self._first:
                if not self._begun:
                    try:
                        return self._called(prompt, max_output, ask, keep)
                    finally:
                        self._begun = True
        return self._called(prompt, max_output, ask, keep)

    def _called(self, prompt: str, max_output: int, ask: Callable[[], R], keep: Callable[[R], K]) -> K:
        """Each try is paid for by itself."""
        for tries in range(1, TRIES + 1):
            try:
                with self.pool.slot() as slot:
                    return self._tried(slot, prompt, max_output, ask, keep, again=tries > 1)
            except CallFailed as failed:
                if failed.pause is None or tries == TRIES:
                    raise
                self._sleep(min(failed.pause, LONGEST_PAUSE_S))
        raise AssertionError

    def _tried(
        self, slot: Slot, prompt: str, max_output: int, ask: Callable[[], R], keep: Callable[[R], K], *, again: bool
    ) -> K:
        if self._refused is not None:
            raise self._refused
        if self.pool.stopping:
            raise CallFailed("it was stopped", "none")
        held = self._budget.reserve(self._role, self._model, prompt, max_output)
        self.pool.pace(slot, held.tokens, waited=again)
        try:
            reply = ask()
        except CallFailed as failed:
            self._settle_failed(held, failed.cost)
            if failed.cost == "none" and failed.pause is not None:
                self.pool.refused(slot, min(failed.pause, LONGEST_PAUSE_S))
            raise
        except ModelError as refused:
            self._settle_failed(held, "none")
            if self._answered and not isinstance(refused, NotSignedIn):
                raise CallFailed(refused.message, "none") from refused
            self._refused = refused
            raise
        self._answered = True
        kept = keep(reply)
        took = self._budget.settle(held, reply.usage, reply.written or reply.text)
        self.pool.answered(slot, took)
        return kept

    def _settle_failed(self, held: Reservation, cost: Cost) -> None:
        if cost == "prompt":
            self._budget.settle(held, None)
        elif cost == "none":
            self._budget.release(held)
        else:
            self._budget.forfeit(held)


class Completion:
    """`complete(prompts) -> replies` of the core over one model: looked up, reserved, called, settled, written down.

    Replies come redacted and in the order of the prompts; a failed, empty, cut or overlong one is `Missing`, never
    stored as an answer. Calls are paid for, and refused, as `Paying` says. The same prompt twice in one call is asked
    once. `pool` is that of the provider, else one of `workers` for this alone.
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
        sleep: Callable[[float], None],
        max_output: int = 2048,
        workers: int = 4,
        pool: Pool | None = None,
    ) -> None:
        self._completer = completer
        self._ledger = ledger
        self._night = night
        self._role = role
        self._redact = redact
        self._max_output = max_output
        self._pool = pool or Pool(workers, now=time.monotonic, sleep=sleep)
        self._paying = Paying(budget, self._pool, role=role, model=completer.model, sleep=sleep)

    def __call__(self, prompts: Sequence[str]) -> Sequence[str | Missing]:
        different = list(dict.fromkeys(prompts))
        replies = dict(zip(different, self._pool.run(self._one, different), strict=True))
        return [replies[prompt] for prompt in prompts]

    def _one(self, text: str) -> str | Missing:
        prompt = self._redact(text)
        digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
        key = CompletionKey(self._night, self._role, self._completer.model, digest, str(self._max_output))
        if (stored := self._ledger.reply(key)) is not None:
            return stored
        schema = schema_of(text)
        try:
            return self._paying.call(
                prompt,
                self._max_output,
                lambda: self._asked(prompt, schema),
                lambda reply: self._kept(key, prompt, reply),
            )
        except CallFailed as failed:
            return self._lost(key, prompt, str(failed))

    def _kept(self, key: CompletionKey, prompt: Redacted, reply: Reply) -> str | Missing:
        if why := unfit(reply, self._max_output):
            return self._lost(key, prompt, why)
        answer = self._redact(reply.text)
        self._save(key, prompt, answer, "ok")
        return answer

    def _asked(self, prompt: Redacted, schema: Schema | None) -> Reply:
        if schema is not None and isinstance(self._completer, Constrained):
            return self._completer.complete_as(prompt, self._max_output, schema)
        return self._completer.complete(prompt, self._max_output)

    def _lost(self, key: CompletionKey, prompt: Redacted, why: str) -> Missing:
        self._save(key, prompt, None, why)
        return Missing(why)

    def _save(self, key: CompletionKey, prompt: Redacted, reply: Redacted | None, status: str) -> None:
        self._ledger.save(key, prompt, reply, status)


def unfit(reply: Reply, max_output: int) -> str:
    """Why a reply is no answer; "" where it is one."""
    if reply.refused:
        return "an answer was refused"
    if reply.truncated:
        return "the answer was cut off"
    if not reply.text.strip():
        return "the answer was empty"
    return "the answer was longer than was asked for" if len(reply.text) > max_output * LONGEST_TOKEN else ""


def host_of(url: str) -> str:
    """Host and port of an address, without what may stand beside them: a password in it is shown to nobody."""
    parts = urlsplit(url)
    name = parts.hostname or url.partition("://")[2].rpartition("@")[2].partition("/")[0]
    return f"{name}:{parts.port}" if parts.port else name
