"""What attempts cost: set aside before they begin, settled afterwards by the agent's own figures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from skillopt_core.protocols import Exhausted
from skillopt_sleep.agents.native.reading import Seen
from skillopt_sleep.budget import Budget, Reservation

FIRST: Final = (36_000, 4_000)
"""Tokens of input (cached ones too) and of output that an attempt may take, as long as none has been seen."""
MARGIN: Final = 1.25
"""Beyond the dearest attempt so far."""
ROLE: Final = "target"

Pay = Callable[[Seen | None, bool], None]
"""Told what the agent's transcript says, and whether we cut the attempt off."""


class Purse:
    """Pays for attempts out of a budget, or out of nothing where there is none. Thread-safe."""

    def __init__(self, budget: Budget | None = None, model: str = "") -> None:
        self._budget = budget
        self._model = model
        self._dearest = (0, 0)
        self._lock = threading.Lock()

    @property
    def price(self) -> int:
        """Tokens that are set aside for the next attempt."""
        return sum(self._price())

    def affords(self, attempts: int) -> bool:
        """Whether so many attempts could be set aside now."""
        return self._budget is None or self._budget.affords(attempts * self.price, attempts)

    @contextmanager
    def open(self, attempts: int) -> Iterator[Sequence[Pay]]:
        """A way to pay for each of so many attempts. Raises `Exhausted`, and then nothing is spent.

        What nobody was told of when this closes may have been worked for, and stays spent as it was set aside.
        """
        if self._budget is None:
            yield [lambda seen, cut: None] * attempts
            return
        budget = self._budget
        held = self._held(budget, attempts)
        open_still = set(range(attempts))

        def payer(number: int) -> Pay:
            def pay(seen: Seen | None, cut: bool) -> None:
                open_still.discard(number)
                self._settle(budget, held[number], seen, cut=cut)

            return pay

        try:
            yield [payer(number) for number in range(attempts)]
        finally:
            for number in open_still:
                budget.forfeit(held[number])

    def _held(self, budget: Budget, attempts: int) -> list[Reservation]:
        held: list[Reservation] = []
        try:
            held.extend(budget.reserve_run(ROLE, self._model, *self._price()) for _ in range(attempts))
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

    def _settle(self, budget: Budget, held: Reservation, seen: Seen | None, *, cut: bool) -> None:
        """By the agent's own figures, also where they are more than was set aside.

        Without any: nothing where it ended by itself and has no answer, all that was set aside where it may have.
        """
        if seen is not None and (seen.input or seen.output):
            with self._lock:
                self._dearest = max(self._dearest[0], seen.input), max(self._dearest[1], seen.output)
            budget.charge(held, seen.input, seen.output)
        elif cut or (seen is not None and seen.answer):
            budget.forfeit(held)
        else:
            budget.release(held)
