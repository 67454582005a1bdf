"""A budget that cannot be overrun: tokens, calls, money and minutes are reserved before each call and settled after.

A reservation is an upper bound (every token is at least one byte of UTF-8, and the output is capped by the request), so
that the sum of what was settled and what is still in the air never passes the limit. Usage that is absent, zero or
impossible is replaced by an estimate, and the night says that its figure is not exact.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from skillopt_core.protocols import Exhausted
from skillopt_sleep.clock import Clock
from skillopt_sleep.domain.ledgers import SpendLedger
from skillopt_sleep.errors import ConfigError

MESSAGE_OVERHEAD = 64
"""Tokens that a provider adds around one message (roles, separators): more than any documented today."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a night may take; None is no limit."""

    tokens: int | None = None
    calls: int | None = None
    usd: float | None = None
    seconds: float | None = None

    def within(self, month: Limits, spent: Limits) -> Limits:
        """These limits, and no more than a month's limits leave after what was `spent` in it."""
        return Limits(
            _whole(_least(self.tokens, month.tokens, spent.tokens)),
            _whole(_least(self.calls, month.calls, spent.calls)),
            _least(self.usd, month.usd, spent.usd),
            _least(self.seconds, month.seconds, spent.seconds),
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens of input and of output."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Reservation:
    row: int
    tokens: int
    usd: float
    prompt: int
    output: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a provider says that a call took; None where it says nothing."""

    input: int | None
    output: int | None


def most_tokens(prompt: str) -> int:
    """An upper bound of the tokens of a prompt: its UTF-8 bytes, and the wrapping of one message."""
    return len(prompt.encode("utf-8", "surrogatepass")) + MESSAGE_OVERHEAD


def month_began_ms(now_ms: int, zone: str) -> int:
    """When the calendar month of a zone began, ms UTC."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(ZoneInfo(zone))
    return int(now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)


class Budget:
    """One night's budget. Thread-safe; what was spent before a restart is read from the ledger."""

    def __init__(
        self,
        limits: Limits,
        ledger: SpendLedger,
        clock: Clock,
        prices: Mapping[str, Price] | None = None,
        *,
        began_ms: int | None = None,
    ) -> None:
        self.limits = limits
        self._ledger = ledger
        self._clock = clock
        self._prices = prices or {}
        self._began_ms = clock.now_ms() if began_ms is None else began_ms
        self._lock = threading.Lock()
        self._tokens, self._calls, self._usd, self._exact = ledger.spent()

    @property
    def seconds(self) -> float:
        return (self._clock.now_ms() - self._began_ms) / 1000

    def affords(self, tokens: int, calls: int = 1) -> bool:
        """Whether a piece of work of this size could begin now. Spends nothing."""
        with self._lock:
            return self._shortage(tokens, calls, 0.0) is None

    def reserve(self, role: str, model: str, prompt: int, output: int) -> Reservation:
        """Set aside the most that one call can take. Raises `Exhausted` where that would pass a limit."""
        usd = self._price(model, prompt, output)
        with self._lock:
            if shortage := self._shortage(prompt + output, 1, usd):
                raise Exhausted(shortage)
            row = self._ledger.reserve(role, prompt + output, usd)
            self._tokens += prompt + output
            self._calls += 1
            self._usd += usd
        return Reservation(row, prompt + output, usd, prompt, output)

    def settle(self, reservation: Reservation, model: str, usage: Usage | None, reply: str = "") -> None:
        """Replace a reservation by what the call took, as reported where that is possible, else as estimated."""
        (prompt, output), exact = _plausible(reservation, usage, reply)
        self._settle(reservation, prompt + output, self._price(model, prompt, output), exact=exact)

    def release(self, reservation: Reservation) -> None:
        """Give a reservation back: nobody worked for it."""
        self._settle(reservation, 0, 0.0, exact=True)

    def forfeit(self, reservation: Reservation) -> None:
        """Leave a reservation spent: it may have been worked for in full, and nobody says how much."""
        self._settle(reservation, reservation.tokens, reservation.usd, exact=False)

    def as_json(self) -> dict[str, object]:
        """The `budget` object of cli.md."""
        with self._lock:
            return {
                "tokens": {"limit": self.limits.tokens, "spent": self._tokens, "exact": self._exact},
                "calls": {"limit": self.limits.calls, "spent": self._calls},
                "usd": {"limit": self.limits.usd, "spent": round(self._usd, 6) if self._prices else None},
                "seconds": {"limit": self.limits.seconds, "spent": round(self.seconds, 3)},
            }

    def _settle(self, reservation: Reservation, tokens: int, usd: float, *, exact: bool) -> None:
        with self._lock:
            self._tokens += tokens - reservation.tokens
            self._usd += usd - reservation.usd
            self._exact = self._exact and exact
            self._ledger.settle(reservation.row, tokens, usd, exact=exact)

    def _shortage(self, tokens: int, calls: int, usd: float) -> str | None:
        limits = self.limits
        if limits.tokens is not None and self._tokens + tokens > limits.tokens:
            return f"{self._tokens} of {limits.tokens} tokens are spent or reserved, the next call may take {tokens}"
        if limits.calls is not None and self._calls + calls > limits.calls:
            return f"all {limits.calls} calls are made"
        if limits.usd is not None and self._usd + usd > limits.usd:
            return f"{self._usd:.4f} of {limits.usd:.4f} USD are spent or reserved, the next call may take {usd:.4f}"
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return f"the {limits.seconds / 60:g} minutes are over"
        return None

    def _price(self, model: str, prompt: int, output: int) -> float:
        price = self._prices.get(model)
        if price is None:
            if self.limits.usd is not None:
                raise ConfigError(
                    f"a limit in USD is set but no price of {model!r} is known",
                    where="budget.usd",
                    remedy="Add it under [models.prices] or limit tokens instead",
                )
            return 0.0
        return (prompt * price.input + output * price.output) / 1_000_000


def _plausible(reservation: Reservation, usage: Usage | None, reply: str) -> tuple[tuple[int, int], bool]:
    """Reported usage where it can be true; else an estimate that errs upwards, flagged as not exact.

    A token of ordinary text holds two to five bytes and never more than a few dozen; a report below a thirty-second of
    the bytes seen, or above the bound that was reserved, cannot be true.
    """
    prompt, exact = _side(usage.input if usage else None, reservation.prompt, reservation.prompt - MESSAGE_OVERHEAD)
    answered = len(reply.encode("utf-8", "surrogatepass"))
    output, also = _side(usage.output if usage else None, reservation.output, answered)
    return (prompt, output), exact and also


def _side(reported: int | None, reserved: int, size: int) -> tuple[int, bool]:
    """One side of a report: as reported where that can be true; all that was reserved where it is above that."""
    if reported is not None and reported > reserved:
        return reserved, False
    if reported is not None and max(size, 0) / 32 <= reported and (reported > 0 or size <= 0):
        return reported, True
    return min(reserved, max(size, 0) + MESSAGE_OVERHEAD), False


def _least(tonight: float | None, month: float | None, spent: float | None) -> float | None:
    left = None if month is None else max(month - (spent or 0), 0)
    return min((limit for limit in (tonight, left) if limit is not None), default=None)


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)
