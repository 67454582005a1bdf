"""Who completes a prompt: one protocol, one error policy, one place where calls are paid for and written down."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, runtime_checkable
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


class Completion:
    """`complete(prompts) -> replies` of the core over one model: looked up, reserved, called, settled, written down.

    Replies come redacted and in the order of the prompts; a failed, empty, cut or overlong one is `Missing`, never
    stored as an answer. Raises `Exhausted` before a call that the budget cannot cover. The very first call goes alone:
    a request that is refused (`ModelError`) then ends the work before anything is spent. Once a call was answered, a
    refusal of another one is that prompt's own, and it is missing; a refused key ends the work at any time. The same
    prompt twice in one call is asked once. `pool` is that of the provider, else one of `workers` for this alone.
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
        self._budget = budget
        self._ledger = ledger
        self._night = night
        self._role = role
        self._redact = redact
        self._sleep = sleep
        self._max_output = max_output
        self._pool = pool or Pool(workers, now=time.monotonic, sleep=sleep)
        self._answered = False

    def __call__(self, prompts: Sequence[str]) -> Sequence[str | Missing]:
        different = list(dict.fromkeys(prompts))
        alone = 0 if self._answered else 1
        first = [self._one(prompt) for prompt in different[:alone]]
        replies = dict(zip(different, [*first, *self._pool.run(self._one, different[alone:])], strict=True))
        return [replies[prompt] for prompt in prompts]

    def _one(self, text: str) -> str | Missing:
        prompt = self._redact(text)
        digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
        key = CompletionKey(self._night, self._role, self._completer.model, digest, str(self._max_output))
        if (stored := self._ledger.reply(key)) is not None:
            return stored
        try:
            return self._called(key, prompt, schema_of(text))
        except CallFailed as failed:
            return self._lost(key, prompt, str(failed))
        except NotSignedIn:
            raise
        except ModelError as refused:
            if not self._answered:
                raise
            return self._lost(key, prompt, refused.message)

    def _called(self, key: CompletionKey, prompt: Redacted, schema: Schema | None) -> str | Missing:
        """The answer to one prompt, each try paid for by itself."""
        for tries in range(1, TRIES + 1):
            try:
                with self._pool.slot() as slot:
                    return self._tried(slot, key, prompt, schema, again=tries > 1)
            except CallFailed as failed:
                if failed.pause is None or tries == TRIES:
                    raise
                self._sleep(min(failed.pause, LONGEST_PAUSE_S))
        raise AssertionError

    def _tried(
        self, slot: Slot, key: CompletionKey, prompt: Redacted, schema: Schema | None, *, again: bool
    ) -> str | Missing:
        """One request. Its answer is kept before it is settled: who is killed in between does not pay twice."""
        held = self._budget.reserve(self._role, self._completer.model, prompt, self._max_output)
        self._pool.pace(slot, held.tokens, waited=again)
        try:
            reply = self._asked(prompt, schema)
        except CallFailed as failed:
            self._settle_failed(held, failed.cost)
            if failed.cost == "none" and failed.pause is not None:
                self._pool.refused(slot, min(failed.pause, LONGEST_PAUSE_S))
            raise
        except ModelError:
            self._settle_failed(held, "none")
            raise
        self._answered = True
        answer = self._kept(key, prompt, reply)
        took = self._budget.settle(held, reply.usage, reply.written or reply.text)
        self._pool.answered(slot, took)
        return answer

    def _kept(self, key: CompletionKey, prompt: Redacted, reply: Reply) -> str | Missing:
        if why := self._unfit(reply):
            return self._lost(key, prompt, why)
        answer = self._redact(reply.text)
        self._save(key, prompt, answer, "ok")
        return answer

    def _asked(self, prompt: Redacted, schema: Schema | None) -> Reply:
        if schema is not None and isinstance(self._completer, Constrained):
            return self._completer.complete_as(prompt, self._max_output, schema)
        return self._completer.complete(prompt, self._max_output)

    def _settle_failed(self, held: Reservation, cost: Cost) -> None:
        if cost == "prompt":
            self._budget.settle(held, None)
        elif cost == "none":
            self._budget.release(held)
        else:
            self._budget.forfeit(held)

    def _unfit(self, reply: Reply) -> str:
        """Why a reply is no answer; "" where it is one."""
        if reply.refused:
            return "an answer was refused"
        if reply.truncated:
            return "the answer was cut off"
        if not reply.text.strip():
            return "the answer was empty"
        return "the answer was longer than was asked for" if len(reply.text) > self._max_output * LONGEST_TOKEN else ""

    def _lost(self, key: CompletionKey, prompt: Redacted, why: str) -> Missing:
        self._save(key, prompt, None, why)
        return Missing(why)

    def _save(self, key: CompletionKey, prompt: Redacted, reply: Redacted | None, status: str) -> None:
        self._ledger.save(key, prompt, reply, status)


def host_of(url: str) -> str:
    """Host and port of an address, without what may stand beside them: a password in it is shown to nobody."""
    parts = urlsplit(url)
    name = parts.hostname or url.partition("://")[2].rpartition("@")[2].partition("/")[0]
    return f"{name}:{parts.port}" if parts.port else name
