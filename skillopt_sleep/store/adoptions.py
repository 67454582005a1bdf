"""Adoptions: what was written to disk, with the bytes before and after, so that it can be undone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.sqlite import insert

from skillopt_sleep.domain.proposals import Adoption, ProposalState, Written
from skillopt_sleep.errors import StoreError
from skillopt_sleep.store import bodies, facts, files
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.proposals import place_of, set_state, target_of
from skillopt_sleep.store.schema.adoption import adoption, adoption_target, root


class Adoptions:
    """The store's `AdoptionLedger`. What a method wrote is on disk when it returns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Held by whoever changes targets; others wait. A kernel lock: a killed holder lets go of it."""
        with FileLock(files.beside(self._store.path, ".adopting"), mode=0o600):
            yield

    def roots(self) -> Sequence[str]:
        """The recorded folders, absolute."""
        wanted = select(root.c.path).where(root.c.removed_ms.is_(None)).order_by(root.c.path)
        return tuple(row.path for row in self._store.rows(wanted))

    def intend(self, one: Adoption) -> None:
        """Keep the adoption with all its bytes. An id that is known already is replaced."""
        with self._store.write() as connection:
            row: dict[str, Any] = {"id": one.id, "proposal_id": one.proposal, "by_whom": one.by, "state": one.state}
            row |= {"edits": json.dumps(one.edits), "at_ms": one.at_ms}
            connection.execute(insert(adoption).values(row).on_conflict_do_update(index_elements=["id"], set_=row))
            self._keep_targets(connection, one)
            facts.note(connection, "adoption", one.id, one.at_ms)

    def settle(self, one: Adoption) -> None:
        """Keep the final state of a known adoption and of its targets, and with it that of its proposal.

        The proposal is adopted where the adoption is written, rejected where a written one was rolled back, and left
        alone where an intent never came to be written. Raises KeyError for an unknown adoption.
        """
        now = self._store.clock.now_ms()
        with self._store.write() as connection:
            held = adoption.c.id == one.id
            row = connection.execute(select(adoption.c.written_ms).where(held)).one_or_none()
            if row is None:
                raise KeyError(one.id)
            values: dict[str, Any] = {"state": one.state}
            if one.state == "written":
                values["written_ms"] = now if row.written_ms is None else row.written_ms
                set_state(self._store, one.proposal, ProposalState.ADOPTED)
            elif one.state == "rolled_back":
                values["rolled_back_ms"] = now
                if row.written_ms is not None:
                    set_state(self._store, one.proposal, ProposalState.REJECTED, "rolled back")
            connection.execute(update(adoption).where(held).values(**values))
            self._keep_targets(connection, one)
            facts.note(connection, "adoption", one.id, now)

    def unsettled(self) -> Sequence[Adoption]:
        """Adoptions in state `intent`, oldest first."""
        return self._read(adoption.c.state == "intent")

    def find(self, adoption_id: str) -> Adoption | None:
        found = self._read(adoption.c.id == adoption_id)
        return found[0] if found else None

    def all(self) -> Sequence[Adoption]:
        """Every adoption, oldest first."""
        return self._read(adoption.c.id.is_not(None))

    def _keep_targets(self, connection: Connection, one: Adoption) -> None:
        connection.execute(delete(adoption_target).where(adoption_target.c.adoption_id == one.id))
        kept = bodies.Kept(connection)
        rows = [self._target(kept, one.id, n, written) for n, written in enumerate(one.targets)]
        if rows:
            connection.execute(adoption_target.insert(), rows)

    def _target(self, kept: bodies.Kept, name: str, n: int, written: Written) -> dict[str, Any]:
        row = {"adoption_id": name, "n": n} | place_of(written.target)
        row |= {"before": kept.image(written.before), "after": kept.image(written.after), "mode": written.mode}
        row |= {"newline": _newline(written.before), "state": written.state, "why": written.why}
        return row | {"made": json.dumps(written.made)}

    def _read(self, which: Any) -> tuple[Adoption, ...]:
        with self._store.read() as connection:
            rows = connection.execute(
                select(adoption).where(which).order_by(adoption.c.at_ms, adoption.c.id)
            ).fetchall()
            return tuple(_adoption(connection, row) for row in rows)


def _adoption(connection: Connection, row: Any) -> Adoption:
    wanted = select(adoption_target).where(adoption_target.c.adoption_id == row.id).order_by(adoption_target.c.n)
    targets = connection.execute(wanted).fetchall()
    images = bodies.find(connection, [d for target in targets for d in (target.before, target.after)])
    return Adoption(
        id=row.id,
        proposal=row.proposal_id,
        by=row.by_whom,
        edits=tuple(json.loads(row.edits)),
        targets=tuple(_written(target, images) for target in targets),
        state=row.state,
        at_ms=row.at_ms,
    )


def _written(row: Any, images: Mapping[bytes, bytes]) -> Written:
    return Written(
        target=target_of(row),
        state=row.state,
        before=_image(row.before, images),
        after=_image(row.after, images),
        mode=row.mode,
        why=row.why,
        made=tuple(json.loads(row.made)),
    )


def _image(digest: bytes | None, images: Mapping[bytes, bytes]) -> bytes | None:
    if digest is None:
        return None
    content = images[digest]
    if bodies.digest_of(content) != digest:
        raise StoreError("the bytes of an adoption are not what was kept", remedy="Run `skillopt-sleep verify`")
    return content


def _newline(content: bytes | None) -> str:
    """How the file ends its lines: `crlf`, `lf`, "" where it has none."""
    if not content or b"\n" not in content:
        return ""
    return "crlf" if b"\r\n" in content else "lf"


def record_roots(store: Store, folders: Mapping[str, str], project: str = "") -> None:
    """Record folders, each with its agent, as places that may be written to; a removed one comes back."""
    now = store.clock.now_ms()
    with store.write() as connection:
        for path, agent in folders.items():
            new = insert(root).values(path=path, agent=agent, project=project, recorded_ms=now)
            back = new.on_conflict_do_update(index_elements=["path"], set_={"removed_ms": None, "agent": agent})
            connection.execute(back)


def recorded_projects(store: Store) -> tuple[str, ...]:
    """The projects that a person recorded folders of, by `init` or by naming them."""
    wanted = select(root.c.project).where(root.c.removed_ms.is_(None), root.c.project != "").distinct()
    return tuple(row.project for row in store.rows(wanted.order_by(root.c.project)))


def remove_root(store: Store, path: str) -> None:
    """Nothing is written below this folder any more."""
    now = store.clock.now_ms()
    store.run(update(root).where(root.c.path == path, root.c.removed_ms.is_(None)).values(removed_ms=now))
