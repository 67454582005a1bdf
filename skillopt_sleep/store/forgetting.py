"""Forgetting a session or a text: its bodies become tombstones, and what was derived from it is retired.

The rows stay, so that no later harvest brings it back and the chain of evidence holds (it names digests, not bodies).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Column, Connection, func, select, update

from skillopt_sleep.errors import NotFound, UsageError
from skillopt_sleep.redact import RULES_VERSION
from skillopt_sleep.store import bodies
from skillopt_sleep.store.asked import ASKED, forget_asked
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.keeping import body_columns, contents
from skillopt_sleep.store.schema.adoption import adoption_target, proposal, proposal_edit
from skillopt_sleep.store.schema.harvest import (
    SEQUENCE_BITS,
    SEQUENCE_MASK,
    body,
    event,
    session,
    session_source,
    source,
    stretch,
)
from skillopt_sleep.store.schema.mining import check, derived, friction, pattern, signature, task
from skillopt_sleep.store.schema.training import attempt, edit, edit_source, rule

SHORTEST: Final = 4
"""Characters of a text to forget: a shorter one would take half the store with it."""

_TITLES: Final = (session.c.title, pattern.c.title, pattern.c.signature, rule.c.title, rule.c.predicate)
_TITLES_TOO: Final = (proposal_edit.c.title, proposal_edit.c.predicate, proposal_edit.c.why, edit.c.why, attempt.c.why)


@dataclass(slots=True)
class Forgotten:
    """What was forgotten. `kept` counts bodies that an adoption needs for its rollback."""

    sessions: int = 0
    events: int = 0
    bodies: int = 0
    kept: int = 0
    patterns: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    proposals: list[str] = field(default_factory=list)


def forget_session(store: Store, name: str) -> Forgotten:
    """Forget one session, by our id or its agent's. Raises `NotFound`."""
    done = Forgotten(sessions=1)
    with wiping(store) as connection:
        found = connection.execute(
            select(session.c.id, session.c.name).where((session.c.name == name) | (session.c.native_id == name))
        ).first()
        if found is None:
            raise NotFound("there is no such session", where=name, remedy="See `skillopt-sleep sessions`")
        number, own = found
        held = connection.execute(select(stretch.c.body).where(stretch.c.session_id == number)).scalars().all()
        connection.execute(update(stretch).where(stretch.c.session_id == number).values(body=None))
        mine = event.c.id.between(number << SEQUENCE_BITS, (number << SEQUENCE_BITS) | SEQUENCE_MASK)
        done.events = connection.execute(update(event).where(mine).values(forgotten=1)).rowcount
        gone = {"forgotten_ms": store.clock.now_ms(), "title": "", "branch": ""}
        connection.execute(update(session).where(session.c.id == number).values(**gone))
        _forget_readers(connection, number)
        bury(connection, store, _unshared(connection, held), done)
        _retire(connection, store, number, own, done)
        quoted = edit_source.c.session == own
        bury(connection, store, connection.execute(select(edit_source.c.quote).where(quoted)).scalars(), done)
        _mark_proposals(connection, select(edit_source.c.edit_id).where(quoted), done)
        _forget_signatures(connection, number)
    return done


def forget_text(store: Store, text: str) -> Forgotten:
    """Forget every body and title that holds a text, exactly as it is written here. Raises `UsageError`."""
    if len(text.strip()) < SHORTEST:
        raise UsageError("the text to forget is too short", remedy=f"Give at least {SHORTEST} characters")
    done, needle = Forgotten(), text.encode()
    hits = [digest for digest, content in contents(store) if needle in content]
    with wiping(store) as connection:
        rest = [digest for digest in hits if not _rewrite(connection, store, digest, needle, done)]
        bury(connection, store, rest, done)
        for column in (*_TITLES, *_TITLES_TOO):
            there = func.instr(column, text) > 0
            connection.execute(update(column.table).where(there).values({column.name: bodies.FORGOTTEN}))
        there = func.instr(signature.c.text, text) > 0
        connection.execute(update(signature).where(there).values(text=bodies.FORGOTTEN + signature.c.id))
        _retire_where(connection, store, pattern, pattern.c.body.in_(hits), done.patterns)
        _retire_where(connection, store, task, task.c.prompt.in_(hits), done.tasks)
        _mark_proposals(connection, _edits_with(hits), done)
    return done


@contextmanager
def wiping(store: Store) -> Iterator[Connection]:
    """A transaction whose freed bytes are overwritten, and whose journal is emptied after it."""
    store.driver.execute("PRAGMA secure_delete = ON")
    with store.write() as connection:
        yield connection
    store.driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _unshared(connection: Connection, digests: Iterable[bytes | None]) -> list[bytes]:
    """Bodies that no other row speaks of."""
    wanted = {digest for digest in digests if digest is not None}
    for column in body_columns():
        for some in _in_pages(sorted(wanted)):
            wanted -= set(connection.execute(select(column).where(column.in_(some))).scalars())
    return sorted(wanted)


def _in_pages(listed: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (listed[start : start + bodies.BATCH] for start in range(0, len(listed), bodies.BATCH))


def bury(connection: Connection, store: Store, digests: Iterable[bytes | None], done: Forgotten) -> None:
    """Turn bodies into tombstones, except what a rollback would need."""
    wanted = sorted({digest for digest in digests if digest is not None})
    for some in _in_pages(wanted):
        images = (adoption_target.c.before, adoption_target.c.after)
        needed = {d for c in images for d in connection.execute(select(c).where(c.in_(some))).scalars()}
        tomb = {"bytes": b"", "codec": "raw", "tombstone_ms": store.clock.now_ms()}
        fresh = body.c.digest.in_([digest for digest in some if digest not in needed]) & body.c.tombstone_ms.is_(None)
        done.bodies += connection.execute(update(body).where(fresh).values(**tomb)).rowcount
        done.kept += len(needed)


def _rewrite(connection: Connection, store: Store, digest: bytes, needle: bytes, done: Forgotten) -> bool:
    """In a stretch's body forget the words of the events that say it, and keep the others. False for other bodies."""
    rows = connection.execute(select(stretch.c.id).where(stretch.c.body == digest)).scalars().all()
    if not rows:
        return False
    row = connection.execute(select(body.c.codec, body.c.bytes).where(body.c.digest == digest)).one()
    words = bodies.stretch_words(row.codec, row.bytes) or []
    hit = [place for place, said in enumerate(words) if _holds(said, needle)]
    if not hit:  # the bytes stand across two texts: nobody has said them
        return True
    kept = bodies.of_stretch([bodies.LOST if n in set(hit) else said for n, said in enumerate(words)], RULES_VERSION)
    bodies.keep(connection, [kept])
    connection.execute(update(stretch).where(stretch.c.id.in_(rows)).values(body=kept.digest))
    said_it = event.c.stretch_id.in_(rows) & event.c.place.in_(hit)
    done.events += connection.execute(update(event).where(said_it).values(forgotten=1)).rowcount
    bury(connection, store, [digest], done)
    return True


def _holds(said: bodies.Words, needle: bytes) -> bool:
    return any(needle in part.encode() for part in said if isinstance(part, str))


def _forget_readers(connection: Connection, number: int) -> None:
    """What the readers of its files remember; they begin anew if a file changes, and find the session forgotten."""
    files_ = select(session_source.c.source_id).where(session_source.c.session_id == number)
    connection.execute(update(source).where(source.c.id.in_(files_)).values(reader_state=b"", offset=0, before=""))


def _retire(connection: Connection, store: Store, number: int, name: str, done: Forgotten) -> None:
    """What was derived from a session: its patterns and tasks, and what a model was asked with words of it."""
    named: dict[str, list[str]] = {"pattern": [], "task": [], ASKED: []}
    wanted = select(derived.c.kind, derived.c.of).where(derived.c.session_id == number)
    for kind, of in connection.execute(wanted):
        named[kind].append(of)
    bury(connection, store, forget_asked(connection, named[ASKED], name), done)
    _retire_where(connection, store, pattern, pattern.c.id.in_(named["pattern"]), done.patterns)
    _retire_where(connection, store, task, task.c.id.in_(named["task"]), done.tasks)
    blank = {"title": bodies.FORGOTTEN, "signature": "", "sentence": "null"}
    connection.execute(update(pattern).where(pattern.c.id.in_(done.patterns)).values(**blank))
    for column, which in (
        (pattern.c.body, pattern.c.id.in_(done.patterns)),
        (task.c.prompt, task.c.id.in_(done.tasks)),
        (check.c.argument, check.c.task_id.in_(done.tasks)),
        (attempt.c.prompt, attempt.c.task.in_(done.tasks)),
        (attempt.c.trajectory, attempt.c.task.in_(done.tasks)),
    ):
        bury(connection, store, connection.execute(select(column).where(which)).scalars(), done)


def _retire_where(connection: Connection, store: Store, of: Any, which: Any, names: list[str]) -> None:
    found = connection.execute(select(of.c.id).where(which, of.c.retired_ms.is_(None))).scalars().all()
    names.extend(found)
    connection.execute(update(of).where(of.c.id.in_(found)).values(retired_ms=store.clock.now_ms()))


def _edits_with(hits: Sequence[bytes]) -> Any:
    quoting = select(edit_source.c.edit_id).where(edit_source.c.quote.in_(hits))
    saying: list[Column[Any]] = [edit.c.text, edit.c.anchor]
    return quoting.union(*(select(edit.c.id).where(column.in_(hits)) for column in saying))


def _mark_proposals(connection: Connection, edits: Any, done: Forgotten) -> None:
    named = select(proposal_edit.c.proposal_id).where(proposal_edit.c.edit_id.in_(edits))
    found = connection.execute(select(proposal.c.id).where(proposal.c.id.in_(named))).scalars().all()
    connection.execute(update(proposal).where(proposal.c.id.in_(found)).values(quotes_forgotten=1))
    done.proposals.extend(name for name in found if name not in done.proposals)


def _forget_signatures(connection: Connection, number: int) -> None:
    """Signatures that only this session's frictions bear."""
    mine = select(friction.c.signature_id).where(friction.c.session_id == number)
    others = select(friction.c.signature_id).where(friction.c.session_id != number)
    only = signature.c.id.in_(mine) & signature.c.id.not_in(others)
    connection.execute(update(signature).where(only).values(text=bodies.FORGOTTEN + signature.c.id))
