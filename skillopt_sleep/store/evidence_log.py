"""The evidence log: what was decided on which figures, each entry chained to the one before it.

An entry names digests, never bodies, so that forgetting does not break the chain. `facts.py` says what is digested.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.training import evidence_log

BEGINNING: Final = b"\0" * 32
"""What the first entry names as its predecessor."""
_LAST: Final = select(evidence_log.c.digest).order_by(evidence_log.c.id.desc()).limit(1)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry. `digest` (SHA-256) covers all the rest, `previous` among it.

    `speaks_of` is the id of what it speaks of and the digest of that fact as it then was; of `forgotten` the session
    and the digests of the bodies.
    """

    sequence: int
    previous: bytes
    digest: bytes
    kind: str
    speaks_of: tuple[str, ...]
    at_ms: int


def log_evidence(store: Store, kind: str, speaks_of: Sequence[str]) -> bytes:
    """Append an entry in a transaction of its own, or in the open one. Returns its digest."""
    with store.write() as connection:
        return append(connection, kind, speaks_of, store.clock.now_ms())


def append(connection: Connection, kind: str, speaks_of: Sequence[str], now: int) -> bytes:
    """As `log_evidence`, in the open transaction."""
    previous = connection.execute(_LAST).scalar() or BEGINNING
    digest = chained(previous, kind, speaks_of, now)
    row = {"previous": previous, "digest": digest, "kind": kind, "at_ms": now, "speaks_of": json.dumps(list(speaks_of))}
    connection.execute(evidence_log.insert(), row)
    return digest


def chained(previous: bytes, kind: str, speaks_of: Sequence[str], at_ms: int) -> bytes:
    """The digest of an entry."""
    return hashlib.sha256(previous + json.dumps([kind, list(speaks_of), at_ms]).encode()).digest()


def entries(store: Store) -> list[LogEntry]:
    """The whole log, in order."""
    rows = store.rows(select(evidence_log).order_by(evidence_log.c.id))
    return [LogEntry(r.id, r.previous, r.digest, r.kind, tuple(json.loads(r.speaks_of)), r.at_ms) for r in rows]


def first_broken(listed: Sequence[LogEntry]) -> int | None:
    """The sequence number of the first entry that is not what its chain says; None where all hold."""
    previous = BEGINNING
    for entry in listed:
        if entry.previous != previous or entry.digest != chained(previous, entry.kind, entry.speaks_of, entry.at_ms):
            return entry.sequence
        previous = entry.digest
    return None


def latest(listed: Sequence[LogEntry]) -> dict[tuple[str, str], str]:
    """The newest digest that the log has of each fact, by kind and id."""
    return {(e.kind, e.speaks_of[0]): e.speaks_of[1] for e in listed if e.kind != "forgotten" and len(e.speaks_of) > 1}
