"""What a project's history shows for an alternative: the outcomes nearest in time, before and after."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from skillopt_sleep.agents.recorded.history import Moment
from skillopt_sleep.agents.recorded.parts import Standing

NEAREST: Final = 4
"""Outcomes that are asked on each side of an action."""

Answer = Literal["works", "fails", "unknown"]


@dataclass(frozen=True, slots=True)
class Seen:
    """The answer with the ids of the actions that it rests on."""

    answer: Answer
    actions: tuple[int, ...] = ()


UNSEEN: Final = Seen("unknown")


class Outcomes:
    """Outcomes of one kind of alternative, in order of time. Those that say nothing are not among them."""

    __slots__ = ("_orders", "_rows")

    def __init__(self, rows: Iterable[tuple[Moment, Standing]]) -> None:
        kept = [(moment, standing) for moment, standing in rows if standing is not Standing.NEITHER]
        self._rows = sorted(kept, key=lambda row: row[0].order)
        self._orders = [moment.order for moment, _ in self._rows]

    def near(self, moment: Moment) -> Seen:
        """Most of the eight nearest, the action itself left out: `works` or `fails`; a draw or none is `unknown`."""
        at = bisect_left(self._orders, moment.order)
        before = self._rows[max(0, at - NEAREST) : at]
        own = at < len(self._rows) and self._rows[at][0] is moment
        around = before + self._rows[at + own : at + own + NEAREST]
        worked = sum(standing is Standing.WORKED for _, standing in around)
        answer: Answer = "unknown"
        if 2 * worked != len(around):
            answer = "works" if 2 * worked > len(around) else "fails"
        return Seen(answer, tuple(seen.action.id for seen, _ in around))
