"""What attempts cost: set aside before they begin, settled afterwards by the agent's own figures."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from skillopt_core.protocols import Exhausted
from skillopt_sleep.agents.native.reading import Seen
from skillopt_sleep.budget import Budget, Reservation

FIRST: Final = (36_000, 4_000)
"""Tokens of input (cached ones too) and of output that an attempt may take, as long as none has been seen."""
MARGIN: Final = 1.25
"""Beyond the dearest attempt so far."""
ROLE: Final = "target"


@dataclass(frozen=True, slots=True)
class Overshot:
    """Runs that took more than could be set aside for them: how many, and how many tokens too much in all."""

    runs: int = 0
    tokens: int = 0


@dataclass
class Pay:
    """Pays for one attempt, `held` for it; None where nothing is paid for."""

    purse: Purse
    held: Reservation | None = None
    told: bool = False

    def passed(self, taken: int) -> bool:
        """Whether a run that has taken so many tokens is to be ended: more than is set aside, and no more is left.

        As long as the budget has another attempt's worth, that is set aside as well and the run goes on.
        """
        while self.held is not None and taken > self.held.tokens:
            more = self.purse.extended(self.held)
            if more is None:
                return True
            self.held = more
        return False

    def __call__(self, seen: Seen | None, cut: bool) -> None:
        """Told what the agent's transcript says, and whether we cut the attempt off."""
        self.told = True
        if self.held is not None:
            self.purse.settle(self.held, seen, cut=cut)


@dataclass
class Purse:
    """Pays for attempts out of a budget, or out of nothing where there is none. Thread-safe.

    `overshot`: what runs took beyond what was set aside for them.
    """

    budget: Budget | None = None
    model: str = ""
    overshot: Overshot = field(default_factory=Overshot, init=False)
    _dearest: tuple[int, int] = field(default=(0, 0), init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def price(self) -> int:
        """Tokens that are set aside for the next attempt."""
        return sum(self._price())

    def affords(self, attempts: int) -> bool:
        """Whether so many attempts could be set aside now."""
        return self.budget is None or self.budget.affords(attempts * self.price, attempts)

    @contextmanager
    def open(self, attempts: int) -> Iterator[Sequence[Pay]]:
        """A way to pay for each of so many attempts. Raises `Exhausted`, and then nothing is spent.

        What nobody was told of when this closes may have been worked for, and stays spent as it was set aside.
        """
        if self.budget is None:
            yield [Pay(self) for _ in range(attempts)]
            return
        paid = [Pay(self, held) for held in self._held(self.budget, attempts)]
        try:
            yield paid
        finally:
            for one in paid:
                if not one.told and one.held is not None:
                    self.budget.forfeit(one.held)

    def extended(self, held: Reservation) -> Reservation | None:
        """The same with another attempt's worth set aside, None where the budget has no more."""
        if self.budget is None:
            return held
        try:
            return self.budget.extend(held, *self._price())
        except Exhausted:
            return None

    def settle(self, held: Reservation, seen: Seen | None, *, cut: bool) -> None:
        """By the agent's own figures, also where they are more than was set aside.

        Without any: nothing where it ended by itself and has no answer, all that was set aside where it may have.
        """
        budget = self.budget
        if budget is None:
            return
        if seen is not None and (seen.input or seen.output):
            self._learn(held, seen)
            budget.charge(held, seen.input, seen.output)
        elif cut or (seen is not None and seen.answer):
            budget.forfeit(held)
        else:
            budget.release(held)

    def _learn(self, held: Reservation, seen: Seen) -> None:
        over = seen.input + seen.output - held.tokens
        with self._lock:
            self._dearest = max(self._dearest[0], seen.input), max(self._dearest[1], seen.output)
            if over > 0:
                self.overshot = Overshot(self.overshot.runs + 1, self.overshot.tokens + over)

    def _held(self, budget: Budget, attempts: int) -> list[Reservation]:
        held: list[Reservation] = []
        try:
            held.extend(budget.reserve_run(ROLE, self.model, *self._price()) for _ in range(attempts))
        except Exhausted:
            for one in held:
                budget.release(one)
            raise
        return held

    def _price(self) -> tuple[int, int]:
        with self._lock:
            if not any(self._dearest):
                return FIRST
            return int(self._dearest[0] * MARGIN), int(self._dearest[1] * MARGIN)
