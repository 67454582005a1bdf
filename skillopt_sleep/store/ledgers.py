"""Paid work, written down as soon as it was done: attempts, completions, spending (domain/ledgers.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.dialects.sqlite import Insert, insert

from skillopt_core.protocols import Exhausted
from skillopt_core.types import Score, Trajectory
from skillopt_sleep.domain.ledgers import AttemptKey, CompletionKey, Limits, Month, Spend
from skillopt_sleep.lock import boot_id
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import bodies, facts
from skillopt_sleep.store.ahead import Ahead, count_lost
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.month import MonthBook
from skillopt_sleep.store.schema.harvest import body, session
from skillopt_sleep.store.schema.training import attempt, completion, spend

Redact = Callable[[str], Redacted]

_FINISHED: Final = select(attempt).where(
    attempt.c.status == "done", attempt.c.key.in_(bindparam("keys", expanding=True))
)


def _finished_over_missing() -> Insert:
    """An attempt by its key: one that was missing is replaced, one that is there stays."""
    new = insert(attempt)
    finished = {c.name: new.excluded[c.name] for c in attempt.columns if c.name not in {"id", "key"}}
    return new.on_conflict_do_update(index_elements=["key"], set_=finished, where=attempt.c.status == "missing")


_AGAIN: Final = _finished_over_missing()


class Attempts:
    """The store's `AttemptLedger` for one night. What an agent said goes through `redact` before it is kept."""

    def __init__(self, store: Store, night: str, redact: Redact) -> None:
        self._store = store
        self._night = night
        self._redact = redact

    def known(self, keys: Sequence[AttemptKey]) -> Mapping[str, Trajectory]:
        """Finished attempts by the digest of their key. Failed ones are not among them: they may be tried again."""
        digests = [key.digest for key in keys]
        found: dict[str, Trajectory] = {}
        with self._store.read() as connection:
            for start in range(0, len(digests), bodies.BATCH):
                rows = connection.execute(_FINISHED, {"keys": digests[start : start + bodies.BATCH]}).fetchall()
                said = bodies.find(connection, [d for row in rows for d in (row.trajectory, row.prompt)])
                found |= {row.key: _trajectory(row, said) for row in rows}
        return found

    def save(self, rows: Sequence[tuple[AttemptKey, Trajectory | str]]) -> None:
        """Write attempts in one transaction; a string is why one is missing. A finished one never changes."""
        texts = bodies.Gathered()
        written = [self._row(texts, key, answer) for key, answer in rows]
        if not written:
            return

        def keep(connection: Connection) -> None:
            texts.keep(connection)
            connection.execute(_AGAIN, written)

        self._store.together(keep, lambda: True)

    def _row(self, texts: bodies.Gathered, key: AttemptKey, answer: Trajectory | str) -> dict[str, Any]:
        row: dict[str, Any] = dict.fromkeys(_OUTCOME)
        row |= {"failed": "[]", "objectives": "{}", "why": "", "loaded": None}
        row |= {"key": key.digest, "task": key.task, "skill": key.skill, "agent": key.agent, "draw": key.draw}
        row |= {"agent_version": key.version, "model": key.model, "settings": json.dumps(key.settings)}
        row |= {"comparison": key.comparison, "night": self._night, "at_ms": self._store.clock.now_ms()}
        if isinstance(answer, str):
            return row | {"status": "missing", "why": self._redact(answer)}
        score = answer.score
        return row | {
            "status": "done",
            "offered": answer.offered,
            "opened": answer.opened,
            "loaded": answer.loaded,
            "hard": score.hard,
            "soft": score.soft,
            "failed": json.dumps([self._redact(text) for text in score.failed]),
            "objectives": json.dumps(dict(score.objectives)),
            "trajectory": texts.text(self._redact(answer.transcript)),
            "prompt": texts.text(self._redact(answer.prompt)),
        }


_OUTCOME: Final = ("offered", "opened", "hard", "soft", "trajectory", "prompt")


def _trajectory(row: Any, said: Mapping[bytes, bytes]) -> Trajectory:
    score = Score(row.hard, row.soft, tuple(json.loads(row.failed)), json.loads(row.objectives))
    return Trajectory(
        task=row.task,
        draw=row.draw,
        skill=row.skill,
        score=score,
        transcript=bodies.text_in(said, row.trajectory),
        offered=_flag(row.offered),
        opened=_flag(row.opened),
        loaded=row.loaded,
        prompt=bodies.text_in(said, row.prompt),
    )


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def note_session(store: Store, key: AttemptKey, native_id: str) -> None:
    """Write down which session of its agent an attempt was: no harvest takes it for a person's.

    One that was harvested already, while the attempt ran, is ours from now on.
    """
    with store.write() as connection:
        connection.execute(update(attempt).where(attempt.c.key == key.digest).values(native_session=native_id))
        connection.execute(update(session).where(session.c.native_id == native_id).values(origin="own"))


def own_sessions(store: Store) -> frozenset[str]:
    """Native ids of the sessions that were our own attempts."""
    wanted = select(attempt.c.native_session).where(attempt.c.native_session != "")
    return frozenset(row.native_session for row in store.rows(wanted))


def _answered_over_lost() -> Insert:
    """A completion by its key: one without a reply is replaced, one that has one stays."""
    new = insert(completion)
    asked = {c.name: new.excluded[c.name] for c in completion.columns if c.name not in {"id", "key"}}
    return new.on_conflict_do_update(index_elements=["key"], set_=asked, where=completion.c.reply.is_(None))


_ASKED: Final = _answered_over_lost()
_THERE: Final = select(completion.c.id).where(completion.c.key == bindparam("of"))
_REPLY: Final = (
    select(completion.c.reply)
    .join(body, (completion.c.reply == body.c.digest) & body.c.tombstone_ms.is_(None))
    .where(completion.c.key == bindparam("of"))
)


class Completions:
    """The store's `CompletionLedger`."""

    def __init__(self, store: Store, redact: Redact) -> None:
        self._store = store
        self._redact = redact

    def reply(self, key: CompletionKey) -> str | None:
        """The stored reply, or None where there is none yet, or none any more."""
        with self._store.read() as connection:
            digest = connection.execute(_REPLY, {"of": key.digest}).scalar()
            return None if digest is None else bodies.text_in(bodies.find(connection, [digest]), digest)

    def save(self, key: CompletionKey, prompt: str, reply: str | None, status: str) -> None:
        """Write one completion; `reply` is None for a failed one, which may be tried again. A reply never changes."""
        asked, said = self._redact(prompt), None if reply is None else self._redact(reply)
        self._store.together(lambda connection: self._keep(connection, key, asked, said, status), lambda: True)

    def _keep(
        self, connection: Connection, key: CompletionKey, asked: Redacted, said: Redacted | None, status: str
    ) -> None:
        kept = bodies.Kept(connection)
        row: dict[str, Any] = {"key": key.digest, "role": key.role, "model": key.model, "prompt": key.prompt}
        row |= {"settings": key.settings, "draw": key.draw, "night": key.night, "status": status}
        row |= {"at_ms": self._store.clock.now_ms(), "asked": kept.text(asked)}
        row["reply"] = None if said is None else kept.text(said)
        new = connection.execute(_THERE, {"of": key.digest}).first() is None
        connection.execute(_ASKED, row)
        facts.note(connection, "completion", key.digest, row["at_ms"], new=new)


_SETTLED: Final = update(spend).where(spend.c.id == bindparam("of"))


_GROWN: Final = (
    update(spend)
    .where(spend.c.id == bindparam("of"))
    .values(
        reserved_tokens=spend.c.reserved_tokens + bindparam("tokens"),
        reserved_usd=spend.c.reserved_usd + bindparam("usd"),
    )
)


class Spending:
    """The store's `SpendLedger` for one run: reserved before the call, settled after it.

    `prices` is the version of the price table. A call that was killed stays at what was reserved for it. Of a settled
    one the reservation shrinks to what counts for it. The limits of a `month` hold over all processes of the home. No
    limit is passed in a power cut either (ahead.py); `boot` says which boot of the machine this is.
    """

    def __init__(
        self,
        store: Store,
        night: str,
        prices: str = "",
        month: Month | None = None,
        boot: Callable[[], str] = boot_id,
    ) -> None:
        self._store = store
        self._night = night
        self._prices = prices
        limited = month is not None and month.limits != Limits()
        self._month = MonthBook(month, night, store.clock.now_ms()) if month is not None and limited else None
        self._ahead = Ahead(store, night, boot)
        if not store.read_only:
            count_lost(store, boot)

    def reserve(self, role: str, tokens: int, usd: float, seconds: float = 0.0) -> int:
        now = self._store.clock.now_ms()
        row = {"night": self._night, "role": role, "reserved_tokens": tokens, "reserved_usd": usd}
        row |= {"prices": self._prices, "at_ms": now}

        def keep(connection: Connection) -> int | str:
            if self._month is not None and (short := self._month.shortage(connection, tokens, usd, seconds, now)):
                return short
            self._ahead.note(connection, role, tokens, usd)
            return int(connection.execute(spend.insert(), row).lastrowid)

        kept = self._store.together(keep, lambda: self._ahead.covers(tokens, usd))
        if isinstance(kept, str):
            raise Exhausted(kept)
        return kept

    def grow(self, row: int, tokens: int, usd: float, seconds: float = 0.0) -> None:
        now = self._store.clock.now_ms()

        def keep(connection: Connection) -> str | None:
            book = self._month
            if book and (short := book.shortage(connection, tokens, usd, seconds, now, calls=0)):
                return short
            connection.execute(_GROWN, {"of": row, "tokens": tokens, "usd": usd})
            return None

        if short := self._store.together(keep):
            raise Exhausted(short)

    def settle(self, row: int, spent: Spend) -> None:
        """Written with the next row that has to be on the disk: until then the call counts as it was reserved."""
        settled = {"settled_tokens": spent.tokens, "settled_usd": spent.usd, "exact": int(spent.exact)}
        settled |= {"reserved_tokens": spent.counts, "reserved_usd": spent.counts_usd}
        settled["settled_ms"] = self._store.clock.now_ms()
        self._store.later(lambda connection: connection.execute(_SETTLED, settled | {"of": row}))

    def spent(self) -> tuple[int, Spend]:
        """Calls of the night so far and what they came to. Open reservations count in full, and are not exact."""
        return total(self._store, self._night)

    def leaves(self, limits: Limits) -> Limits:
        """A run's limits, and no more than the month leaves beside what the other runs took."""
        if self._month is None:
            return limits
        self._store.flush()
        with self._store.read() as connection:
            taken = self._month.taken(connection, self._store.clock.now_ms())
        calls, ours = total(self._store, self._night, self._month.since_ms)
        others = Limits(
            (taken.tokens or 0) - ours.counts, (taken.calls or 0) - calls, (taken.usd or 0.0) - ours.counts_usd,
            taken.seconds,
        )  # fmt: skip
        return limits.within(self._month.month.limits, others)


def total(store: Store, night: str | None = None, since_ms: int = 0, role: str | None = None) -> tuple[int, Spend]:
    """As `Spending.spent`, of one night or of all of them since a time (ms UTC), of one role or of all."""
    took = func.coalesce(spend.c.settled_tokens, spend.c.reserved_tokens)
    took_usd = func.coalesce(spend.c.settled_usd, spend.c.reserved_usd)
    # Rows of an earlier version kept their whole reservation: it counts for more, which errs on the safe side.
    sums = [func.coalesce(func.sum(one), 0) for one in (took, took_usd, spend.c.reserved_tokens, spend.c.reserved_usd)]
    exact = func.min(func.coalesce(spend.c.exact, 0))
    wanted = select(func.count(), *sums, exact).where(spend.c.at_ms >= since_ms)
    if night is not None:
        wanted = wanted.where(spend.c.night == night)
    if role is not None:
        wanted = wanted.where(spend.c.role == role)
    store.flush()
    calls, tokens, usd, counts, counts_usd, all_exact = store.rows(wanted)[0]
    return int(calls), Spend(int(tokens), float(usd), all_exact != 0, int(counts), float(counts_usd))


def spent(store: Store, night: str | None = None, since_ms: int = 0) -> tuple[int, int, float, bool]:
    """Tokens, calls and money that were taken, and whether all of it is exact."""
    calls, took = total(store, night, since_ms)
    return took.tokens, calls, took.usd, took.exact
