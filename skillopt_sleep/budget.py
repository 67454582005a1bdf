"""A budget that cannot be overrun: tokens, calls, money and minutes are set aside before each call and settled after.

Two figures are kept of each call. What it **took** is what was reported, where that can be true, else an estimate, and
the night says that its figure is not exact. What **counts** against a limit is never less than what the texts that went
by most likely come to (tokens.py): a report that says too little buys nothing. Before the call the most that it can
take counts, so that what was worked for and what is still in the air never pass a limit.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from skillopt_core.protocols import Exhausted
from skillopt_sleep.clock import Clock
from skillopt_sleep.domain.ledgers import Limits, Spend, SpendLedger
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.prices import FREE, Price
from skillopt_sleep.tokens import Size, size_of

if TYPE_CHECKING:
    from skillopt_sleep.config.model import Budget as Keys

T = TypeVar("T")
__all__ = ["Budget", "Limits", "Price", "Reservation", "Usage", "limits_of", "most_tokens"]

MESSAGE_OVERHEAD: Final = 64
"""Tokens that a provider adds around one message (roles, separators): more than any documented today."""
LONGEST_PREFACE: Final = 65_536
"""Tokens that a server can put before a prompt by itself; a report of more than that cannot be true."""
TELLING: Final = 256
"""Bytes from which a prompt shows how dense a tokenizer is."""
MARGIN: Final = 1.25
"""How much denser than any prompt so far the next one may be for a model's tokenizer."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was set aside for one call: tokens of `prompt` and `output`, and dollars. `size` is that of the prompt."""

    row: int
    model: str
    size: Size
    prompt: int
    output: int
    usd: float

    @property
    def tokens(self) -> int:
        return self.prompt + self.output


@dataclass(frozen=True, slots=True)
class Usage:
    """What a provider says that a call took; None where it says nothing."""

    input: int | None
    output: int | None


def limits_of(budget: Keys) -> tuple[Limits, Limits]:
    """The limits of one run, and those of a month, as they are configured."""
    return (
        Limits(budget.tokens, budget.calls, budget.usd, _seconds(budget.minutes)),
        Limits(budget.month_tokens, budget.month_calls, budget.month_usd, _seconds(budget.month_minutes)),
    )


def _seconds(minutes: float | None) -> float | None:
    return None if minutes is None else minutes * 60


def most_tokens(prompt: str) -> int:
    """An upper bound of the tokens of a prompt: its UTF-8 bytes, and the wrapping of one message."""
    return size_of(prompt).most + MESSAGE_OVERHEAD


@dataclass
class _Learnt:
    """What a model's reports have shown: its densest prompt in tokens a byte, what its server puts before a prompt.

    A short prompt says little of the density: what is put around it is too large a part of what is reported.
    """

    density: float | None = None
    preface: int = 0

    def bound(self, size: Size) -> int:
        """Tokens that no prompt of this size passes, for all that is known of the server."""
        return size.most + MESSAGE_OVERHEAD + self.preface

    def most(self, size: Size) -> int:
        """The most tokens that the next prompt can be: at its bytes until something is known.

        Then what is likely of such a text, or the densest prompt so far, whichever is more, and a margin. Both are
        needed: how texts differ shows in the one, how tokenizers differ in the other.
        """
        if self.density is None:
            return self.bound(size)
        dense = max(size.likely, self.density * size.most) + MESSAGE_OVERHEAD
        return min(math.ceil(dense * MARGIN) + self.preface, self.bound(size))

    def learn(self, size: Size, reported: int) -> None:
        self.preface = max(self.preface, reported - size.most - MESSAGE_OVERHEAD)
        if size.most >= TELLING:
            self.density = max(self.density or 0.0, min(reported / size.most, 1.0))


class Budget:
    """One run's budget. Thread-safe; what was spent before a restart is read from the ledger.

    The limits of the month are the ledger's: it alone sees what other processes set aside.

    `prices` are those of the models that may be asked, as they become known; a model that is not among them when it is
    asked is refused where dollars are limited.
    """

    def __init__(
        self,
        limits: Limits,
        ledger: SpendLedger,
        clock: Clock,
        prices: Mapping[str, Price] | None = None,
        *,
        began_ms: int | None = None,
    ) -> None:
        self._own = limits
        self._ledger = ledger
        self._clock = clock
        self._prices = {} if prices is None else prices
        self._began_ms = clock.now_ms() if began_ms is None else began_ms
        self._lock = threading.Lock()
        self._learnt: dict[str, _Learnt] = {}
        self._over = (0, 0)
        self._calls, self._spent = ledger.spent()
        self._in_dollars = self.limits.usd is not None

    @property
    def limits(self) -> Limits:
        """What this run may take as things stand: its own limits, and no more than the month leaves to it."""
        return self._ledger.leaves(self._own)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be told of what was spent: runs whose own figures are beyond what could be set aside for them."""
        with self._lock:
            runs, tokens = self._over
        many = "1 run" if runs == 1 else f"{runs} runs"
        return (f"{many} took {tokens:,} tokens more than could be set aside",) if runs else ()

    @property
    def counts(self) -> int:
        """Tokens that count against the limits by now."""
        with self._lock:
            return self._spent.counts

    @property
    def seconds(self) -> float:
        return (self._clock.now_ms() - self._began_ms) / 1000

    def affords(self, tokens: int, calls: int = 1) -> bool:
        """Whether a piece of work of this size could begin now. Spends nothing."""
        limits = self.limits
        with self._lock:
            return self._shortage(limits, tokens, calls, 0.0) is None

    def short_of(self, calls: int, work: Sequence[tuple[str, int, int]]) -> str:
        """What is too little for so many calls with this work (model, tokens of prompt and of output); "" if nothing.

        Spends nothing. Raises `ConfigError` where dollars are limited and a model has no price.
        """
        tokens = sum(prompt + output for _, prompt, output in work)
        usd = sum(self._price(model).of(prompt, output) for model, prompt, output in work)
        limits = self.limits
        with self._lock:
            spent, made = self._spent, self._calls
        wants = (
            (limits.tokens, spent.counts, tokens, "{:,.0f} tokens"),
            (limits.calls, made, calls, "{:,.0f} calls"),
            (limits.usd, spent.counts_usd, usd, "{:.4f} USD"),
        )
        for limit, gone, wanted, said in wants:
            if limit is not None and gone + wanted > limit:
                return f"{said.format(wanted)} at least, {said.format(max(limit - gone, 0))} are left"
        return ""

    def reserve(self, role: str, model: str, prompt: str, output: int) -> Reservation:
        """Set aside the most that one call can take: the prompt at the model's learnt ratio, and `output` tokens.

        Raises `Exhausted` where that would pass a limit, `ConfigError` where dollars are limited and it has no price.
        """
        size = size_of(prompt)
        with self._lock:
            tokens = self._learnt.get(model, _Learnt()).most(size)
        return self._set_aside(role, model, size, tokens, output)

    def reserve_run(self, role: str, model: str, prompt: int, output: int) -> Reservation:
        """Set tokens aside for a run of many calls, whose size nobody can bound beforehand. Raises as `reserve`."""
        return self._set_aside(role, model, Size(0, prompt, prompt), prompt, output)

    def extend(self, held: Reservation, prompt: int, output: int) -> Reservation:
        """Set more aside for a run that goes on, as a part of the same call. Raises as `reserve`: end it then."""
        usd = self._price(held.model).of(prompt, output)
        self._take(prompt + output, usd, 0, lambda: self._ledger.grow(held.row, prompt + output, usd, self.seconds))
        more = (held.prompt + prompt, held.output + output, held.usd + usd)
        return Reservation(held.row, held.model, Size(0, more[0], more[0]), *more)

    def charge(self, held: Reservation, prompt: int, output: int) -> None:
        """Replace it by what the run took by its own figures, also where that is more than was set aside."""
        usd = self._price(held.model).of(prompt, output)
        if (over := prompt + output - held.tokens) > 0:
            with self._lock:
                self._over = (self._over[0] + 1, self._over[1] + over)
        self._settle(held, Spend(prompt + output, usd, True, prompt + output, usd))

    def _set_aside(self, role: str, model: str, size: Size, tokens: int, output: int) -> Reservation:
        usd = self._price(model).of(tokens, output)
        row = self._take(
            tokens + output, usd, 1, lambda: self._ledger.reserve(role, tokens + output, usd, self.seconds)
        )
        return Reservation(row, model, size, tokens, output, usd)

    def _take(self, tokens: int, usd: float, calls: int, write: Callable[[], T]) -> T:
        """Count it here, then write it down; neither where either says that it is too much."""
        with self._lock:
            if shortage := self._shortage(self._own, tokens, calls, usd):
                raise Exhausted(shortage)
            self._calls += calls
            self._spent = self._spent.plus(Spend.whole(tokens, usd))
        try:  # outside of the lock: those of others are written along
            return write()
        except Exhausted:
            with self._lock:
                self._calls -= calls
                self._spent = self._spent.instead(tokens, usd, Spend())
            raise

    def settle(self, held: Reservation, usage: Usage | None, reply: str = "") -> int:
        """Replace a reservation by what the call took, as reported where that can be true, else as estimated.

        `reply` is all that the model wrote. Returns the tokens that count for the call.
        """
        prompt = self._prompt_side(held, usage.input if usage else None)
        output = _output_side(held, usage.output if usage else None, size_of(reply))
        price = self._price(held.model)
        spend = Spend(
            prompt.took + output.took,
            price.of(prompt.took, output.took),
            prompt.exact and output.exact,
            prompt.counts + output.counts,
            price.of(prompt.counts, output.counts),
        )
        self._settle(held, spend)
        return spend.counts

    def release(self, held: Reservation) -> None:
        """Give a reservation back: nobody worked for it."""
        self._settle(held, Spend())

    def forfeit(self, held: Reservation) -> None:
        """Leave a reservation spent: it may have been worked for in full, and nobody says how much."""
        self._settle(held, Spend.whole(held.tokens, held.usd))

    def as_json(self) -> dict[str, object]:
        """The `budget` object of cli.md."""
        limits = self.limits
        with self._lock:
            spent = self._spent
            return {
                "tokens": {"limit": limits.tokens, "spent": spent.tokens, "exact": spent.exact},
                "calls": {"limit": limits.calls, "spent": self._calls},
                "usd": {"limit": limits.usd, "spent": round(spent.usd, 6) if self._prices else None},
                "seconds": {"limit": limits.seconds, "spent": round(self.seconds, 3)},
            }

    def _settle(self, held: Reservation, spend: Spend) -> None:
        self._ledger.settle(held.row, spend)
        with self._lock:
            self._spent = self._spent.instead(held.tokens, held.usd, spend)

    def _prompt_side(self, held: Reservation, reported: int | None) -> _Side:
        """A report above the bound is no figure to show, but whoever sends it may well bill it: it counts."""
        size = held.size
        if reported is None or reported < max(size.least, 1) or reported > size.most + LONGEST_PREFACE:
            return _Side(held.prompt, held.prompt, exact=False)
        with self._lock:
            learnt = self._learnt.setdefault(held.model, _Learnt())
            bound = learnt.bound(size)
            learnt.learn(size, reported)
        if reported > bound:
            return _Side(held.prompt, reported, exact=False)
        return _Side(reported, max(reported, min(size.likely + MESSAGE_OVERHEAD, held.prompt)), exact=True)

    def _shortage(self, limits: Limits, tokens: int, calls: int, usd: float) -> str | None:
        spent = self._spent
        if limits.tokens is not None and spent.counts + tokens > limits.tokens:
            return f"{spent.counts} of {limits.tokens} tokens are spent or reserved, the next call may take {tokens}"
        if limits.calls is not None and self._calls + calls > limits.calls:
            return f"all {limits.calls} calls are made"
        if limits.usd is not None and spent.counts_usd + usd > limits.usd:
            counts = f"{spent.counts_usd:.4f} of {limits.usd:.4f} USD"
            return f"{counts} are spent or reserved, the next call may take {usd:.4f}"
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return f"the {limits.seconds / 60:g} minutes are over"
        return None

    def _price(self, model: str) -> Price:
        price = self._prices.get(model)
        if price is None and self._in_dollars:
            raise ConfigError(
                f"a limit in USD is set but no price of {model!r} is known",
                where="budget.usd",
                remedy="Add it under [models.prices] or limit tokens instead",
            )
        return price or FREE


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a call, in tokens: what it took, and what counts."""

    took: int
    counts: int
    exact: bool


def _output_side(held: Reservation, reported: int | None, wrote: Size) -> _Side:
    """The output is limited by the request, so that nothing above the reservation can be true."""
    if reported is not None and reported > held.output:
        return _Side(held.output, held.output, exact=False)
    if reported is None or reported < wrote.least or (reported == 0 and wrote.most > 0):
        bound = min(held.output, wrote.most + MESSAGE_OVERHEAD)
        return _Side(bound, held.output, exact=False)  # it may have thought unseen
    return _Side(reported, max(reported, min(wrote.likely, held.output)), exact=True)
