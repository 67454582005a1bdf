"""What was mined, kept over nights: episodes, frictions, patterns, tasks with their checks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import Connection, Table, bindparam, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from skillopt_sleep.clock import iso
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Friction, Pattern
from skillopt_sleep.domain.tasks import KeptTask, TaskCheck
from skillopt_sleep.redact import RULES_VERSION, Redacted
from skillopt_sleep.store import bodies
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.schema.harvest import event, session
from skillopt_sleep.store.schema.mining import (
    check,
    derived,
    episode,
    friction,
    pattern,
    pattern_member,
    signature,
    task,
)

RULE: Final = "rule"
"""The kind of a row of `derived` that says: the rule `of` was made from a pattern of this session."""
_SESSION_IDS = select(session.c.name, session.c.id).where(session.c.name.in_(bindparam("names", expanding=True)))


def pattern_id(key: str) -> str:
    """The id that people see of a pattern: stable, as it is made of its key alone."""
    return f"pt-{hashlib.blake2b(key.encode('utf-8', 'surrogatepass'), digest_size=5).hexdigest()}"


def save_episodes(store: Store, episodes: Sequence[Episode], miner: str) -> None:
    """Keep episodes; those that are known are brought up to date. `miner` is the version that cut them."""
    with store.write() as connection:
        ids = _session_ids(connection, {one.session for one in episodes})
        rows = [_episode(one, ids[one.session], miner) for one in episodes if one.session in ids]
        _upsert(connection, episode, rows, "id")


def _episode(one: Episode, session_id: int, miner: str) -> dict[str, Any]:
    row: dict[str, Any] = {"id": one.id, "session_id": session_id, "first_event": one.prompt_event, "miner": miner}
    row |= {"last_event": one.actions[-1].id if one.actions else one.prompt_event, "start_commit": one.start_commit}
    row |= {"outcome": _outcome(one), "person": one.person, "twin": one.twin, "began_ms": one.began_ms}
    return row | {"tokens": one.tokens}


def _outcome(one: Episode) -> str:
    """How it ended, as far as the transcript says."""
    if one.interrupted:
        return "interrupted"
    return "answered" if one.answer else "open"


def save_patterns(store: Store, patterns: Sequence[Pattern], *, night: str, normaliser: str) -> None:
    """Keep patterns with their frictions and members, as this night saw them. `normaliser` versions the signatures."""
    with store.write() as connection:
        for one in patterns:
            ids = _session_ids(connection, {*one.sessions, *(member.session for member in one.members)})
            frictions = _keep_frictions(connection, one.members, ids, normaliser)
            _keep_pattern(connection, one, night)
            _keep_members(connection, one, frictions, ids)


def _keep_pattern(connection: Connection, one: Pattern, night: str) -> None:
    quotes = json.dumps({"reasons": one.reasons, "quotes": [asdict(quote) for quote in one.quotes]})
    row: dict[str, Any] = {
        "id": pattern_id(one.key),
        "key": one.key,
        "project": one.project,
        "kind": one.kind,
        "friction": "" if one.friction is None else str(one.friction),
        "title": one.title,
        "signature": one.signature,
        "document": one.document,
        "person": one.person,
        "sentence": json.dumps(_sentence(one)),
        "body": bodies.Kept(connection).text(Redacted(quotes)),
        "stake_actions": one.stake.actions,
        "stake_output_share": one.stake.output_share,
        "stake_per_week": one.stake.per_week,
        "first_ms": one.first_ms,
        "last_ms": one.last_ms,
        "last_night": night,
    }
    new = insert(pattern).values(**row, first_night=night)
    # What one session's forgetting retired comes back where others show it.
    connection.execute(new.on_conflict_do_update(index_elements=["id"], set_=row | {"retired_ms": None}))


def _sentence(one: Pattern) -> dict[str, Any] | None:
    return None if one.sentence is None else {"form": type(one.sentence).__name__, **asdict(one.sentence)}


def _keep_frictions(
    connection: Connection, members: Sequence[Friction], ids: Mapping[str, int], normaliser: str
) -> dict[str, int]:
    """The row ids of frictions by their keys."""
    if not members:
        return {}
    named = {(str(one.kind), one.signature) for one in members}
    signatures = {key: _signature(connection, *key, normaliser) for key in named}
    episodes = _known(connection, episode, {one.episode for one in members})
    rows = []
    for one in members:
        if one.session in ids:
            row: dict[str, Any] = {"key": _friction_key(one), "kind": str(one.kind), "session_id": ids[one.session]}
            row |= {"signature_id": signatures[str(one.kind), one.signature], "at_ms": one.at_ms}
            row |= {"episode_id": one.episode if one.episode in episodes else None, "failing_event": one.failing}
            row |= {"resolving_event": one.resolving, "reason_event": one.quotes[0].event if one.quotes else None}
            row |= {"wasted": one.wasted, "tokens": one.tokens, "self_healing": int(one.self_healing)}
            rows.append(row)
    _drop_unknown_events(connection, rows)
    _upsert(connection, friction, rows, "key")
    wanted = select(friction.c.key, friction.c.id).where(friction.c.key.in_([row["key"] for row in rows]))
    return dict(connection.execute(wanted).all())


def _drop_unknown_events(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """An event that the store does not hold (an imported history) is not referred to."""
    columns = ("failing_event", "resolving_event", "reason_event")
    named = {row[column] for row in rows for column in columns if row[column] is not None}
    known = _known(connection, event, named)
    for row in rows:
        row.update({column: None for column in columns if row[column] not in known})


def _friction_key(one: Friction) -> str:
    parts = json.dumps([str(one.kind), one.signature, one.session, one.at_ms, one.failing])
    return hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()


def _signature(connection: Connection, kind: str, text: str, normaliser: str) -> int:
    row = {"kind": kind, "text": text, "normaliser": normaliser}
    connection.execute(insert(signature).values(row).on_conflict_do_nothing())
    same = (signature.c.kind == kind) & (signature.c.text == text) & (signature.c.normaliser == normaliser)
    return int(connection.execute(select(signature.c.id).where(same)).scalar_one())


def _keep_members(connection: Connection, one: Pattern, frictions: Mapping[str, int], ids: Mapping[str, int]) -> None:
    name = pattern_id(one.key)
    connection.execute(delete(pattern_member).where(pattern_member.c.pattern_id == name))
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for member in one.members:
        if (found := frictions.get(_friction_key(member))) is not None:
            rows[found, ""] = {"friction_id": found, "episode_id": None, "session_id": ids[member.session]}
    owners = _episode_owners(connection, one.episodes)
    for each in one.episodes:
        if each in owners:
            rows[None, each] = {"friction_id": None, "episode_id": each, "session_id": owners[each]}
    if rows:
        connection.execute(pattern_member.insert(), [{"pattern_id": name} | row for row in rows.values()])
    sources = [{"session_id": ids[each], "kind": "pattern", "of": name} for each in one.sessions if each in ids]
    if sources:
        connection.execute(insert(derived).on_conflict_do_nothing(), sources)


def note_made_from(store: Store, rule: str, sessions: Sequence[str]) -> None:
    """Write down which sessions a rule was made from: forgetting one of them retires it."""
    with store.write() as connection:
        ids = _session_ids(connection, set(sessions)).values()
        rows = [{"session_id": one, "kind": RULE, "of": rule} for one in ids]
        if rows:
            connection.execute(insert(derived).on_conflict_do_nothing(), rows)


def save_tasks(store: Store, tasks: Sequence[KeptTask]) -> None:
    """Keep tasks with their checks. What is fixed for good (split, salt, twin group, first night) is never changed."""
    with store.write() as connection:
        known = _Known.of(connection, tasks)
        new = insert(task)
        set_ = {name: new.excluded[name] for name in _CHANGING}
        rows = [_task_row(one, known) for one in tasks]
        prompts = [_text(one.prompt) for one in tasks]
        checks = [row for one in tasks for row in _check_rows(one, known)]
        bodies.keep(connection, [*prompts, *(_text(c.argument) for one in tasks for c in one.checks)])
        if rows:
            connection.execute(new.on_conflict_do_update(index_elements=["id"], set_=set_), rows)
            gone = delete(check).where(check.c.task_id == bindparam("of"))
            connection.execute(gone, [{"of": one.id} for one in tasks])
        if checks:
            connection.execute(check.insert(), checks)
        sources = [
            {"session_id": row["session_id"], "kind": "task", "of": row["id"]} for row in rows if row["session_id"]
        ]
        if sources:
            connection.execute(insert(derived).on_conflict_do_nothing(), sources)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the store holds of what some tasks speak of."""

    sessions: Mapping[str, int]
    patterns: set[str]
    episodes: set[str]
    events: set[int]

    @classmethod
    def of(cls, connection: Connection, tasks: Sequence[KeptTask]) -> _Known:
        return cls(
            _session_ids(connection, {one.session for one in tasks}),
            _known(connection, pattern, {pattern_id(one.pattern) for one in tasks if one.pattern}),
            _known(connection, episode, {one.episode for one in tasks}),
            _known(connection, event, {each.source_event for one in tasks for each in one.checks}),
        )


_CHANGING: Final = (
    "pattern_id",
    "episode_id",
    "session_id",
    "prompt",
    "commit",
    "files",
    "origin",
    "began_ms",
    "retired_ms",
)
"""Columns of a task that a later night may bring up to date; that a person has read it stays."""


def _task_row(one: KeptTask, known: _Known) -> dict[str, Any]:
    of_pattern = pattern_id(one.pattern) if one.pattern else ""
    return {
        "id": one.id,
        "pattern_id": of_pattern if of_pattern in known.patterns else None,
        "episode_id": one.episode if one.episode in known.episodes else None,
        "session_id": known.sessions.get(one.session),
        "prompt": _text(one.prompt).digest,
        "commit": one.commit,
        "files": json.dumps(dict(one.files)),
        "origin": one.origin,
        "began_ms": one.began_ms,
        "reviewed_by": one.reviewed_by,
        "reviewed_ms": one.reviewed_ms,
        "retired_ms": one.retired_ms,
        "twin": one.twin,
        "split": one.split,
        "salt": one.salt,
        "first_night": one.first_night,
    }


def _check_rows(one: KeptTask, known: _Known) -> Iterator[dict[str, Any]]:
    for n, each in enumerate(one.checks):
        row: dict[str, Any] = {"task_id": one.id, "n": n, "kind": each.kind, "derived_from": each.derived_from}
        row |= {"source_event": each.source_event if each.source_event in known.events else None}
        yield row | {"vetting": each.vetting, "argument": _text(each.argument).digest}


def _text(text: str) -> bodies.Body:
    return bodies.make(Redacted(text).encode("utf-8", "replace"), RULES_VERSION)


def tasks(
    store: Store, *, split: str | None = None, name: str | None = None, project: str | None = None
) -> list[KeptTask]:
    """Tasks that were not retired, in the order of their episodes. `project` is that of their pattern."""
    wanted = select(task, session.c.name.label("session"), pattern.c.key.label("pattern"))
    wanted = wanted.outerjoin_from(task, session, task.c.session_id == session.c.id)
    wanted = wanted.outerjoin(pattern, task.c.pattern_id == pattern.c.id).where(task.c.retired_ms.is_(None))
    if split is not None:
        wanted = wanted.where(task.c.split == split)
    if project is not None:
        wanted = wanted.where(pattern.c.project == project)
    if name is not None:
        wanted = wanted.where(task.c.id == name)
    with store.read() as connection:
        rows = connection.execute(wanted.order_by(task.c.began_ms, task.c.id)).fetchall()
        checks = _checks(connection)
        said = bodies.find(connection, [row.prompt for row in rows])
        return [_task(row, said, checks.get(row.id, ())) for row in rows]


def _task(row: Any, said: Mapping[bytes, bytes], checks: tuple[TaskCheck, ...]) -> KeptTask:
    return KeptTask(
        id=row.id,
        prompt=bodies.text_in(said, row.prompt),
        twin=row.twin,
        split=row.split,
        began_ms=row.began_ms,
        pattern=row.pattern or "",
        episode=row.episode_id or "",
        session=row.session or "",
        origin=row.origin,
        salt=row.salt,
        commit=row.commit,
        files=json.loads(row.files),
        checks=checks,
        first_night=row.first_night,
        reviewed_by=row.reviewed_by,
        reviewed_ms=row.reviewed_ms,
        retired_ms=row.retired_ms,
    )


def _checks(connection: Connection) -> dict[str, tuple[TaskCheck, ...]]:
    rows = connection.execute(select(check).order_by(check.c.task_id, check.c.n)).fetchall()
    said = bodies.find(connection, [row.argument for row in rows])
    found: dict[str, tuple[TaskCheck, ...]] = {}
    for row in rows:
        argument = bodies.text_in(said, row.argument)
        one = TaskCheck(row.kind, argument, row.derived_from, row.source_event, row.vetting)
        found[row.task_id] = (*found.get(row.task_id, ()), one)
    return found


def task_documents(store: Store, name: str | None = None) -> Iterator[dict[str, Any]]:
    """One document a task (cli.md, `tasks`)."""
    sessions = select(pattern_member.c.pattern_id, func.count(func.distinct(pattern_member.c.session_id)))
    count = dict(store.rows(sessions.group_by(pattern_member.c.pattern_id)))
    about = {row.key: row for row in store.rows(select(pattern))}
    for one in tasks(store, name=name):
        row = about.get(one.pattern)
        yield {
            "format": 1,
            "id": one.id,
            "pattern": None if row is None else _pattern_document(row, count.get(row.id, 0)),
            "prompt": one.prompt,
            "split": one.split,
            "origin": one.origin,
            "checks": [{"kind": c.kind, "argument": c.argument, "from": c.derived_from or None} for c in one.checks],
            "session": one.session or None,
            "at": iso(one.began_ms),
        }


def _pattern_document(row: Any, sessions: int) -> dict[str, Any]:
    document = {"id": row.id, "kind": row.kind, "title": row.title, "sessions": sessions}
    return document | {"last_seen": iso(row.last_ms)}


def mark_reviewed(store: Store, who: str, names: Sequence[str] = ()) -> int:
    """Tasks that a person has looked at: those named, or all. Returns how many."""
    wanted = update(task).where(task.c.retired_ms.is_(None), task.c.reviewed_ms.is_(None))
    if names:
        wanted = wanted.where(task.c.id.in_(names))
    return store.run(wanted.values(reviewed_by=who, reviewed_ms=store.clock.now_ms())).rowcount


def _session_ids(connection: Connection, names: set[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    listed = sorted(names)
    for start in range(0, len(listed), bodies.BATCH):
        some = connection.execute(_SESSION_IDS, {"names": listed[start : start + bodies.BATCH]})
        found |= dict(some.all())
    return found


def _known(connection: Connection, of: Table, ids: set[Any]) -> set[Any]:
    """Those of these ids that the table has."""
    listed = sorted(one for one in ids if one not in (None, ""))
    found: set[Any] = set()
    for start in range(0, len(listed), bodies.BATCH):
        wanted = select(of.c.id).where(of.c.id.in_(listed[start : start + bodies.BATCH]))
        found.update(connection.execute(wanted).scalars())
    return found


def _episode_owners(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(names), bodies.BATCH):
        listed = names[start : start + bodies.BATCH]
        wanted = select(episode.c.id, episode.c.session_id).where(episode.c.id.in_(listed))
        found |= dict(connection.execute(wanted).all())
    return found


def _upsert(connection: Connection, into: Table, rows: Sequence[dict[str, Any]], key: str) -> None:
    if rows:
        new = insert(into)
        set_ = {name: new.excluded[name] for name in rows[0] if name != key}
        connection.execute(new.on_conflict_do_update(index_elements=[key], set_=set_), list(rows))
