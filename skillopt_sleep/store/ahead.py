"""What of a run's reservations may be committed without waiting for the disk: so much as stands there beforehand.

A killed process loses no commit, whether it waited for the disk or not; a power cut may lose those that did not. So a
run first writes down how much it will never have outstanding more than, and waits for the disk only when it would pass
that. What was lost is then at most what stands there, and whoever opens the store after the power cut counts all of it
as spent. A run that ends takes its line away. Where the machine does not say which boot it is, everything waits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from skillopt_sleep.lock import boot_id
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import setting
from skillopt_sleep.store.schema.training import spend

CALLS: Final = 16
"""Reservations that may be outstanding."""
_NAME: Final = "ahead:"


class Ahead:
    """How much of one run's reservations is committed and not known to be on the disk. One object a run."""

    def __init__(self, store: Store, run: str, boot: Callable[[], str] = boot_id) -> None:
        self._store = store
        self._run = run
        self._boot = boot()
        self._allowed = self._open = (0, 0, 0.0)
        self._synced = -1
        self._due = False

    def covers(self, tokens: int, usd: float) -> bool:
        """Whether one more reservation needs not wait for the disk. Asked by the store, as late as can be."""
        if self._synced != self._store.syncs:
            self._synced, self._open = self._store.syncs, (0, 0, 0.0)
        calls, so_many, dollars = self._open
        self._open = (calls + 1, so_many + tokens, dollars + usd)
        covered = bool(self._boot) and all(now <= most for now, most in zip(self._open, self._allowed, strict=True))
        self._due = self._due or not covered
        return covered

    def note(self, connection: Connection, role: str, tokens: int, usd: float) -> None:
        """Write down what is allowed, in the transaction of a reservation that waits for the disk."""
        if not self._due or not self._boot:
            return
        self._due = False
        wanted = (CALLS, max(CALLS * tokens, self._allowed[1]), max(CALLS * usd, self._allowed[2]))
        if wanted == self._allowed:
            return
        said = {"boot": self._boot, "run": self._run, "role": role, "calls": wanted[0], "tokens": wanted[1]}
        row = {"name": _NAME + self._run, "value": json.dumps(said | {"usd": wanted[2]})}
        upsert = insert(setting)
        connection.execute(
            upsert.on_conflict_do_update(index_elements=["name"], set_={"value": upsert.excluded.value}), row
        )
        if self._allowed == (0, 0, 0.0):
            self._store.at_close(lambda last: last.execute(delete(setting).where(setting.c.name == row["name"])))
        self._allowed = wanted


def count_lost(store: Store, boot: Callable[[], str] = boot_id) -> int:
    """Count what runs of an earlier boot may have lost as spent by them, to the full; how many calls these are."""
    wanted = select(setting.c.name, setting.c.value).where(setting.c.name.startswith(_NAME, autoescape=True))
    lost = [(row.name, json.loads(row.value)) for row in store.rows(wanted)]
    lost = [(name, said) for name, said in lost if said["boot"] != boot()]
    if not lost:
        return 0
    with store.write() as connection:
        for name, said in lost:
            if connection.execute(delete(setting).where(setting.c.name == name)).rowcount:
                connection.execute(spend.insert(), _rows(said, store.clock.now_ms()))
    return sum(said["calls"] for _, said in lost)


def _rows(said: dict[str, Any], now_ms: int) -> list[dict[str, Any]]:
    """As many open reservations as there may have been, which come to what was allowed."""
    calls, tokens = said["calls"], said["tokens"]
    row = {"night": said["run"], "role": said["role"], "reserved_usd": said["usd"] / calls, "at_ms": now_ms}
    return [row | {"reserved_tokens": tokens // calls + (n < tokens % calls)} for n in range(calls)]
