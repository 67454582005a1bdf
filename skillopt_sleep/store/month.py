"""What all runs of a home have taken in a calendar month, read inside the transaction in which one more call is paid.

Every process over one home writes into one store and SQLite has one writer, so that what is read here still holds when
the reservation beside it is on the disk. A call whose process was killed stays at what was set aside for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, bindparam, func, or_, select

from skillopt_sleep.domain.ledgers import Limits, Month
from skillopt_sleep.store.schema.nights import night
from skillopt_sleep.store.schema.training import spend

# Rows are numbered as they are written: from the month's first one on, and no index has to be kept for the sum.
_FIRST: Final = select(func.min(spend.c.id)).where(spend.c.at_ms >= bindparam("since"))
_LAST: Final = select(func.coalesce(func.max(spend.c.id), 0))
_TAKEN: Final = select(
    func.count(),
    func.coalesce(func.sum(spend.c.reserved_tokens), 0),
    func.coalesce(func.sum(spend.c.reserved_usd), 0.0),
).where(spend.c.id >= bindparam("first"), spend.c.at_ms >= bindparam("since"))

_NIGHTS: Final = select(
    func.sum(func.coalesce(night.c.ended_ms, night.c.heartbeat_ms) - func.max(night.c.begun_ms, bindparam("since")))
).where(
    func.coalesce(night.c.ended_ms, night.c.heartbeat_ms) > bindparam("since"), night.c.id != bindparam("own")
)  # fmt: skip

_ENDED = func.coalesce(spend.c.settled_ms, spend.c.at_ms)
_CALLS: Final = (
    select(
        spend.c.at_ms.label("began"),
        _ENDED.label("ended"),
        func.max(_ENDED)
        .over(partition_by=spend.c.night, order_by=(spend.c.at_ms, spend.c.id), rows=(None, -1))
        .label("before"),
    )
    .where(
        spend.c.at_ms >= bindparam("since"),
        spend.c.night.not_in(select(night.c.id)),
        or_(spend.c.night != bindparam("own"), spend.c.at_ms < bindparam("begun")),
    )
    .subquery()
)
_TRAININGS: Final = select(
    func.sum(func.max(_CALLS.c.ended - func.max(_CALLS.c.began, func.coalesce(_CALLS.c.before, 0)), 0))
)
"""Of each run the time in which any of its calls was in the air."""


@dataclass
class MonthBook:
    """The month as one run sees it; `begun_ms` is when this process took the run up."""

    month: Month
    own: str
    begun_ms: int
    since_ms: int = field(default=-1, init=False)
    _from: int = field(default=0, init=False)

    def shortage(
        self, connection: Connection, tokens: int, usd: float, seconds: float, now_ms: int, calls: int = 1
    ) -> str | None:
        """Why so many calls cannot be paid out of the month, None where they can. `seconds` are those of this run."""
        limits = self.month.limits
        taken = self.taken(connection, now_ms)
        made, counts, dollars = taken.calls or 0, taken.tokens or 0, taken.usd or 0.0
        if limits.tokens is not None and counts + tokens > limits.tokens:
            said = f"{counts} of the month's {limits.tokens} tokens are spent or reserved"
            return f"{said}, the next call may take {tokens}"
        if limits.calls is not None and made + calls > limits.calls:
            return f"all {limits.calls} calls of the month are made"
        if limits.usd is not None and dollars + usd > limits.usd:
            spent = f"{dollars:.4f} of the month's {limits.usd:.4f} USD"
            return f"{spent} are spent or reserved, the next call may take {usd:.4f}"
        if limits.seconds is not None and (taken.seconds or 0.0) + seconds >= limits.seconds:
            return f"the month's {limits.seconds / 60:g} minutes are over"
        return None

    def taken(self, connection: Connection, now_ms: int) -> Limits:
        """What counts for the month: of all runs, but of the seconds those of the others alone."""
        since = month_began_ms(now_ms, self.month.zone)
        if since != self.since_ms:
            first = connection.execute(_FIRST, {"since": since}).scalar()
            self.since_ms, self._from = since, connection.execute(_LAST).scalar_one() + 1 if first is None else first
        calls, tokens, usd = connection.execute(_TAKEN, {"since": since, "first": self._from}).one()
        return Limits(int(tokens), int(calls), float(usd), self._seconds(connection, since))

    def _seconds(self, connection: Connection, since: int) -> float:
        """Nights from their beginning to their end or last sign of life; of other runs the time of their calls."""
        if self.month.limits.seconds is None:
            return 0.0
        found = {"since": since, "own": self.own, "begun": self.begun_ms}
        return sum(connection.execute(wanted, found).scalar() or 0 for wanted in (_NIGHTS, _TRAININGS)) / 1000


def month_began_ms(now_ms: int, zone: str) -> int:
    """When the calendar month of a zone began, ms UTC."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(ZoneInfo(zone))
    return int(now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)
