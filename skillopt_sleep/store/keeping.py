"""Keeping the store well: a consistent copy, a check of all that can be checked, removal of what nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Select, delete, exists, func, select, union_all

from skillopt_sleep.errors import StoreError
from skillopt_sleep.store import bodies, evidence_log, facts, files
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema import metadata
from skillopt_sleep.store.schema.harvest import body, event, stretch

PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was verified. `finding` is empty where nothing was found."""

    name: str
    finding: str = ""

    @property
    def sound(self) -> bool:
        return not self.finding


def backup(store: Store, path: Path) -> dict[str, Any]:
    """A consistent copy of the store at `path`, whole and durable when this returns. Raises `StoreError`."""
    from skillopt_sleep.store.migrate import copy_store

    if path.exists():
        raise StoreError("there is a file of that name already", where=str(path), remedy="Name another one")
    files.make_folder(path.parent)
    try:
        with store.read():
            copy_store(store.driver, path)
    except OSError as error:
        raise files.cannot(path, error, "the copy cannot be written") from error
    return {"path": str(path), "bytes": path.stat().st_size}


def verify(store: Store) -> list[Check]:
    """Read all of the store: its pages and indexes, what refers to what, every body's digest, the evidence chain, and
    whether the figures and decisions that the chain speaks of are still what they were."""
    return [
        Check("pages and indexes", _integrity(store)),
        Check("references", _references(store)),
        Check("bodies", _bodies(store)),
        Check("evidence log", _chain(store)),
        Check("figures and decisions", _facts(store)),
    ]


def _integrity(store: Store) -> str:
    with store.read():
        said = [row[0] for row in store.driver.execute("PRAGMA integrity_check(5)")]
    return "" if said == ["ok"] else "; ".join(said)


def _references(store: Store) -> str:
    with store.read():
        broken = store.driver.execute("PRAGMA foreign_key_check").fetchall()
    return "" if not broken else f"{len(broken)} rows refer to what is not there, the first in {broken[0][0]}"


def _bodies(store: Store) -> str:
    wrong = [digest for digest, content in contents(store) if bodies.digest_of(content) != digest]
    return "" if not wrong else f"{len(wrong)} bodies are not what their digest says, the first {wrong[0].hex()}"


def _chain(store: Store) -> str:
    broken = evidence_log.first_broken(evidence_log.entries(store))
    return "" if broken is None else f"entry {broken} is not what its chain says"


def _facts(store: Store) -> str:
    said = evidence_log.latest(evidence_log.entries(store))
    with store.read() as connection:
        wrong = facts.differing(connection, said)
    return "" if not wrong else f"{len(wrong)} are not what the evidence log says, the first {wrong[0]}"


def contents(store: Store) -> Iterator[tuple[bytes, bytes]]:
    """Digest and content of every body that was not forgotten, a page at a time."""
    last = 0
    wanted = select(body.c.id, body.c.digest, body.c.codec, body.c.bytes).where(body.c.tombstone_ms.is_(None))
    while rows := store.rows(wanted.where(body.c.id > last).order_by(body.c.id).limit(PAGE)):
        for row in rows:
            last = row.id
            yield row.digest, bodies.content_of(row.codec, row.bytes)


def prune(store: Store) -> dict[str, Any]:
    """Remove what nothing refers to: stretches that later readings replaced, and bodies of no row. Sessions stay.

    Tombstones stay too: they keep what was forgotten from coming back. The file is made smaller by what was freed.
    """
    before = store.path.stat().st_size
    with store.write() as connection:
        read_again = delete(stretch).where(~exists().where(event.c.stretch_id == stretch.c.id))
        stretches = connection.execute(read_again).rowcount
        unused = delete(body).where(body.c.tombstone_ms.is_(None), body.c.digest.not_in(_referred()))
        gone = connection.execute(unused).rowcount
    with store.read():
        store.driver.execute("VACUUM")
        store.driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    after = store.path.stat().st_size
    return {"stretches": stretches, "bodies": gone, "bytes_before": before, "bytes_after": after}


def body_columns() -> list[Column[Any]]:
    """Every column that refers to a body."""
    return [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if any(key.column is body.c.digest for key in column.foreign_keys)
    ]


def _referred() -> Select[Any]:
    every = union_all(*(select(column.label("digest")).where(column.is_not(None)) for column in body_columns()))
    return select(every.subquery().c.digest)


def counts(store: Store) -> dict[str, int]:
    """Rows of each table."""
    with store.read() as connection:
        return {
            table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for table in metadata.sorted_tables
        }
