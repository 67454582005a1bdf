"""Calls to one provider, side by side: so many at a time, no faster than its rates, fewer for a while after a 429."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import Final, TypeVar

MINUTE_S: Final = 60.0
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Rates:
    """What a provider lets through in a minute; None is no limit. Calls are spread evenly over it."""

    requests: float | None = None
    tokens: float | None = None


@dataclass(slots=True)
class Slot:
    """One call's place among those in the air: in which `burst` it went out, and the `tokens` set aside for it."""

    burst: int
    tokens: int = 0


class Pool:
    """At most `workers` calls to one provider at a time. Thread-safe; roles that ask the same provider share one.

    The number of calls in the air is halved with each 429. It grows by one with each answer up to half of where the
    trouble began, and from there by one a round. `now` and `sleep` are seconds of a clock that only goes forward.
    """

    def __init__(
        self,
        workers: int,
        rates: Rates | None = None,
        *,
        now: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self.workers = workers
        self.rates = rates or Rates()
        self._now = now
        self._sleep = sleep
        self._free = Condition()
        self._in_air = 0
        self._window = self._doubt = float(workers)
        self._burst = 0
        self._stopping = False
        self._next_request = self._next_tokens = self._paused_until = 0.0

    @property
    def window(self) -> int:
        """Calls that may be in the air now."""
        return max(int(self._window), 1)

    @property
    def stopping(self) -> bool:
        """Whether `run` was told to end, by a signal: long work is given up, what waits is not begun."""
        return self._stopping

    def run(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """`work` of each item, in their order. After the first exception none is begun; it is raised when all ended."""
        if len(items) <= 1:
            return [work(item) for item in items]
        with ThreadPoolExecutor(min(self.workers, len(items))) as threads:
            pending: list[Future[R]] = []
            try:
                for item in items:
                    pending.append(threads.submit(work, item))  # noqa: PERF401 - a signal may come as early as here
                wait(pending, return_when=FIRST_EXCEPTION)
            except BaseException:
                self._stopping = True
                raise
            finally:
                for future in pending:
                    future.cancel()
        failed = next((f.exception() for f in pending if not f.cancelled() and f.exception() is not None), None)
        if failed is not None:
            raise failed
        return [future.result() for future in pending]

    @contextmanager
    def slot(self) -> Iterator[Slot]:
        """A place among the calls in the air, waited for."""
        with self._free:
            self._free.wait_for(lambda: self._in_air < self.window)
            self._in_air += 1
            slot = Slot(self._burst)
        try:
            yield slot
        finally:
            with self._free:
                self._in_air -= 1
                self._free.notify_all()

    def pace(self, slot: Slot, tokens: int, *, waited: bool = False) -> None:
        """Wait until the rates let a call of so many tokens through, and any pause is over that it has not `waited`.

        The moment is taken under the lock, and slept for outside of it.
        """
        with self._free:
            now = self._now()
            start = now if waited else max(now, self._paused_until)
            if self.rates.requests:
                start = max(start, self._next_request)
                self._next_request = start + MINUTE_S / self.rates.requests
            if self.rates.tokens:
                start = max(start, self._next_tokens)
                self._next_tokens = start + tokens * MINUTE_S / self.rates.tokens
            slot.tokens = tokens
        if start > now:
            self._sleep(start - now)

    def answered(self, slot: Slot, tokens: int) -> None:
        """An answer came; what it did not take of its tokens is free for others."""
        with self._free:
            self._give_back(slot.tokens - tokens)
            more = 1.0 if self._window < self._doubt else 1 / self._window
            self._window = min(self._window + more, float(self.workers))
            self._free.notify_all()

    def refused(self, slot: Slot, pause: float) -> None:
        """The provider had too much (429): nobody calls it for `pause` seconds, and then fewer at a time."""
        with self._free:
            self._give_back(slot.tokens)
            self._paused_until = max(self._paused_until, self._now() + pause)
            if slot.burst == self._burst:  # the first of the calls that went out together
                self._burst += 1
                self._doubt = max(self._window / 2, 1.0)
            self._window = max(self._window / 2, 1.0)

    def _give_back(self, tokens: int) -> None:
        if self.rates.tokens:
            self._next_tokens -= tokens * MINUTE_S / self.rates.tokens
