"""What a project's history shows for an alternative, and whether that is better than what it would replace.

Two questions are asked. Does the alternative work? Most of its outcomes nearest in time, before and after, decide. Is
it better? That takes more: were it no better than what it replaces, so few failures among all its outcomes would be
seen once in a hundred times or less (exact binomial). Without the second question every flaky command has a "remedy":
anything that works as often as it does. The action that is asked about is left out of all counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from skillopt_core.gate import binomial_tail
from skillopt_sleep.agents.recorded.history import Moment
from skillopt_sleep.agents.recorded.parts import Standing

NEAREST: Final = 4
"""Outcomes that are asked on each side of an action."""
CHANCE: Final = 0.01
"""The chance up to which the alternative's few failures are taken for no accident."""

Answer = Literal["better", "works", "fails", "unknown"]


@dataclass(frozen=True, slots=True)
class Seen:
    """The answer with the ids of the actions nearest in time that it rests on. `better` implies that it works."""

    answer: Answer
    actions: tuple[int, ...] = ()


UNSEEN: Final = Seen("unknown")


class Outcomes:
    """Outcomes of one kind of action, in order of time. Those that say nothing are not among them."""

    __slots__ = ("_failed", "_orders", "_rows")

    def __init__(self, rows: Iterable[tuple[Moment, Standing]] = ()) -> None:
        kept = [(moment, standing) for moment, standing in rows if standing is not Standing.NEITHER]
        self._rows = sorted(kept, key=lambda row: row[0].order)
        self._orders = [moment.order for moment, _ in self._rows]
        self._failed = sum(standing is Standing.WASTED for _, standing in kept)

    def near(self, moment: Moment) -> Seen:
        """Most of the eight nearest, the action itself left out: `works` or `fails`; a draw or none is `unknown`."""
        at, own = self._find(moment)
        around = self._rows[max(0, at - NEAREST) : at] + self._rows[at + own : at + own + NEAREST]
        worked = sum(standing is Standing.WORKED for _, standing in around)
        answer: Answer = "unknown"
        if 2 * worked != len(around):
            answer = "works" if 2 * worked > len(around) else "fails"
        return Seen(answer, tuple(seen.action.id for seen, _ in around))

    def against(self, moment: Moment, replaced: Outcomes) -> Seen:
        """As `near`, and `better` where these fail less than those of what they would replace."""
        seen = self.near(moment)
        is_better = seen.answer == "works" and _less(*self._counted(moment), *replaced._counted(moment))
        return replace(seen, answer="better") if is_better else seen

    def _find(self, moment: Moment) -> tuple[int, bool]:
        at = bisect_left(self._orders, moment.order)
        return at, at < len(self._rows) and self._rows[at][0] is moment

    def _counted(self, moment: Moment) -> tuple[int, int]:
        """Failures and outcomes without the action itself."""
        at, own = self._find(moment)
        failed = self._failed - (own and self._rows[at][1] is Standing.WASTED)
        return failed, len(self._rows) - own


@lru_cache(4096)
def _less(failed: int, of: int, failed_there: int, of_there: int) -> bool:
    """Whether so few failures would be an accident if each were as likely as there (half a failure in one added)."""
    there = (failed_there + 0.5) / (of_there + 1)
    return failed < there * of and binomial_tail(of - failed, of, 1 - there) <= CHANCE
