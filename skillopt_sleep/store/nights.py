"""The journal: nights and their steps. Whoever lost a night to another may not write in it (`fence`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects.sqlite import insert

from skillopt_sleep.domain.journal import Night, NightState, Skip, Trigger
from skillopt_sleep.errors import NotFound, StoreError
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.failures import Conflict
from skillopt_sleep.store.schema.nights import night, skip, step

STALE_MS: Final = 15 * 60_000
"""A night of another boot or machine that gave no sign for so long has been killed."""

_COLUMNS: Final = (
    night.c.id,
    night.c.date,
    night.c.zone,
    night.c.trigger,
    night.c.state,
    night.c.fence,
    night.c.begun_ms,
    night.c.pid,
    night.c.boot,
    night.c.config,
    night.c.heartbeat_ms,
    night.c.ended_ms,
    night.c.resumed_from,
    night.c.error,
)


def begin_night(store: Store, trigger: Trigger, config: str, *, date: str, zone: str, pid: int, boot: str) -> Night:
    """A new night of a local date (`YYYY-MM-DD`), with state running and fence 1.

    Raises `Conflict` where a night that the schedule started exists for that date already.
    """
    now = store.clock.now_ms()
    with store.write() as connection:
        scheduled = select(night.c.id).where(night.c.date == date, night.c.trigger != "manual")
        if trigger != "manual" and (found := connection.execute(scheduled).scalar()):
            raise Conflict(
                f"the night of {date} ran already", where=found, remedy="Run one by hand if you want another"
            )
        name = _new_name(connection, date)
        row = {"id": name, "date": date, "zone": zone, "trigger": trigger, "state": "running", "pid": pid, "boot": boot}
        row |= {"config": config, "fence": 1, "begun_ms": now, "heartbeat_ms": now}
        connection.execute(night.insert(), row)
        return _find(connection, name)


def unfinished(store: Store, boot: str, alive: Callable[[int], bool]) -> Night | None:
    """The newest night that was killed: interrupted, or running in a process that is no more.

    `boot` is this boot's id, `alive` tells whether a process of this boot still runs. Call it holding the night lock.
    """
    with store.read() as connection:
        wanted = (
            select(*_COLUMNS).where(night.c.state.in_(("running", "interrupted"))).order_by(night.c.begun_ms.desc())
        )
        for row in connection.execute(wanted):
            found = _night(row)
            if found.state == "interrupted" or _killed(found, store.clock.now_ms(), boot, alive):
                return found
    return None


def _killed(found: Night, now: int, boot: str, alive: Callable[[int], bool]) -> bool:
    if found.boot == boot:
        return not alive(found.pid)
    return now - found.heartbeat_ms > STALE_MS


def take_up(store: Store, name: str, config: str, *, pid: int, boot: str) -> Night:
    """Go on with an unfinished night: its fence grows, so that nobody else goes on with it too."""
    with store.write() as connection:
        old = _find(connection, name)
        if old.state not in {"running", "interrupted"}:
            raise StoreError(f"the night is {old.state}", where=name, remedy="Only an unfinished night can be resumed")
        values = {"state": "running", "pid": pid, "boot": boot, "config": config, "fence": old.fence + 1}
        values |= {"heartbeat_ms": store.clock.now_ms(), "resumed_from": f"{old.pid}@{old.boot}", "ended_ms": None}
        connection.execute(update(night).where(night.c.id == name).values(**values))
        return _find(connection, name)


def heartbeat(store: Store, held: Night) -> None:
    """Say that the night goes on. Raises `Conflict` where somebody else has taken it up."""
    with store.write() as connection:
        _hold(connection, held, heartbeat_ms=store.clock.now_ms())


def end_night(store: Store, held: Night, state: NightState, *, report: Any = None, error: str = "") -> Night:
    """Close the night as done, failed or interrupted; `report` is any JSON value."""
    with store.write() as connection:
        _hold(
            connection,
            held,
            state=state,
            ended_ms=store.clock.now_ms(),
            report=json.dumps(report),
            error=error,
        )
        return _find(connection, held.id)


def find_night(store: Store, name: str) -> Night:
    """Raises `NotFound`."""
    with store.read() as connection:
        return _find(connection, name)


def nights(store: Store, most: int | None = None) -> list[Night]:
    """Nights, the newest first."""
    wanted = select(*_COLUMNS).order_by(night.c.begun_ms.desc(), night.c.id.desc()).limit(most)
    return [_night(row) for row in store.rows(wanted)]


def report_of(store: Store, name: str) -> Any:
    """The report that the night left, as JSON value; None where it left none."""
    rows = store.rows(select(night.c.report).where(night.c.id == name))
    return json.loads(rows[0].report) if rows else None


def step_done(store: Store, held: Night, key: str) -> Any:
    """The result of a finished step; None where it is still to be done."""
    wanted = select(step.c.result).where(step.c.night_id == held.id, step.c.key == key, step.c.state == "done")
    rows = store.rows(wanted)
    return json.loads(rows[0].result) if rows else None


def last_result(store: Store, key: str) -> Any:
    """What the newest finished step of this key came to, in whichever night; None where there is none."""
    wanted = select(step.c.result).where(step.c.key == key, step.c.state == "done").order_by(step.c.id.desc()).limit(1)
    rows = store.rows(wanted)
    return json.loads(rows[0].result) if rows else None


def begin_step(store: Store, held: Night, name: str, key: str) -> int:
    """Write down that a step begins. Returns which try it is, from 1. A step that is done stays done."""
    with store.write() as connection:
        _hold(connection, held, heartbeat_ms=store.clock.now_ms())
        new = insert(step).values(
            night_id=held.id, name=name, key=key, tries=1, state="running", begun_ms=store.clock.now_ms()
        )
        again = new.on_conflict_do_update(
            index_elements=["night_id", "key"],
            set_={"tries": step.c.tries + 1, "state": "running", "error": "", "begun_ms": new.excluded.begun_ms},
            where=step.c.state != "done",
        )
        connection.execute(again)
        tries = select(step.c.tries).where(step.c.night_id == held.id, step.c.key == key)
        return int(connection.execute(tries).scalar_one())


def end_step(store: Store, held: Night, key: str, result: Any) -> None:
    """The step is done; `result` is a JSON object that a resumed night gets instead of doing it again."""
    _close_step(store, held, key, state="done", result=json.dumps(result))


def fail_step(store: Store, held: Night, key: str, error: str) -> None:
    """The step failed; it is tried again when the night is resumed."""
    _close_step(store, held, key, state="failed", error=error)


def _close_step(store: Store, held: Night, key: str, **values: Any) -> None:
    with store.write() as connection:
        _hold(connection, held, heartbeat_ms=store.clock.now_ms())
        one = update(step).where(step.c.night_id == held.id, step.c.key == key)
        if connection.execute(one.values(ended_ms=store.clock.now_ms(), **values)).rowcount != 1:
            raise StoreError(f"no such step: {key}", where=held.id)


def steps(store: Store, name: str) -> list[dict[str, Any]]:
    """The steps of a night in the order in which they began: name, key, state, tries, error, begun_ms, ended_ms."""
    columns = (step.c.name, step.c.key, step.c.state, step.c.tries, step.c.error, step.c.begun_ms, step.c.ended_ms)
    wanted = select(*columns).where(step.c.night_id == name).order_by(step.c.id)
    with store.read() as connection:
        return [dict(row) for row in connection.execute(wanted).mappings()]


def note_skip(store: Store, date: str, why: str, *, zone: str = "", trigger: str = "scheduled") -> None:
    """Write down why a night does not run; the same reason for the same date once."""
    with store.write() as connection:
        same = select(skip.c.id).where(skip.c.date == date, skip.c.why == why, skip.c.trigger == trigger)
        if connection.execute(same).scalar() is None:
            row = {"date": date, "zone": zone, "trigger": trigger, "why": why, "at_ms": store.clock.now_ms()}
            connection.execute(skip.insert(), row)


def skips(store: Store, since_ms: int = 0) -> list[Skip]:
    """Nights that did not run since then, oldest first."""
    wanted = select(skip).where(skip.c.at_ms >= since_ms).order_by(skip.c.id)
    return [Skip(row.date, row.zone, row.trigger, row.why, row.at_ms) for row in store.rows(wanted)]


def _new_name(connection: Connection, date: str) -> str:
    """`n-20261129-1`: the date and how many nights it has had."""
    begun = connection.execute(select(func.count()).where(night.c.date == date)).scalar_one()
    return f"n-{date.replace('-', '')}-{begun + 1}"


def _hold(connection: Connection, held: Night, **values: Any) -> None:
    """Change the night's row if it is still ours. Raises `Conflict` where it is not."""
    mine = update(night).where(night.c.id == held.id, night.c.fence == held.fence, night.c.state == "running")
    if connection.execute(mine.values(**values)).rowcount != 1:
        raise Conflict("this night is no longer ours: another process has taken it up or ended it", where=held.id)


def _find(connection: Connection, name: str) -> Night:
    row = connection.execute(select(*_COLUMNS).where(night.c.id == name)).one_or_none()
    if row is None:
        raise NotFound("there is no such night", where=name, remedy="See `skillopt-sleep history`")
    return _night(row)


def _night(row: Sequence[Any]) -> Night:
    return Night(*row)
