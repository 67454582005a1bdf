"""The night as it is written down: begun or taken up again, one step at a time, closed whatever happens."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from skillopt_core.protocols import Exhausted
from skillopt_sleep.domain.journal import Night as Row
from skillopt_sleep.domain.journal import NightState
from skillopt_sleep.domain.world import World
from skillopt_sleep.errors import ModelError, NightLocked, NotFound, SleepError, StoreError
from skillopt_sleep.lock import boot_id, hold
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.nights import begin_night, begin_step, end_night, end_step, fail_step, step_done, take_up
from skillopt_sleep.store.nights import unfinished as find_unfinished

log: Final = logging.getLogger(__name__)
T = TypeVar("T")


class Journal:
    """One night's rows. `step` is the only way in which work is done: what is done already is not done again."""

    def __init__(self, store: Store, row: Row) -> None:
        self.store = store
        self.row = row
        self.failures: list[tuple[str, Exception]] = []
        self.exhausted = ""
        self.ended = False

    @property
    def id(self) -> str:
        return self.row.id

    def step(self, name: str, key: str, kind: type[T], work: Callable[[], T]) -> T:
        """The result of a step: from the journal where it is done, else by doing it. `kind` is the result's type.

        An exception leaves the step failed, to be tried again by a resumed night, and goes on its way.
        """
        if (stored := step_done(self.store, self.row, key)) is not None:
            return msgspec.convert(stored, kind)
        begin_step(self.store, self.row, name, key)
        try:
            result = work()
        except Exception as error:
            fail_step(self.store, self.row, key, type(error).__name__)
            raise
        end_step(self.store, self.row, key, plain(result))
        return result

    def end(self, report: object, error: str) -> None:
        """Close the night: failed where a skill failed, else done. What comes after is no longer journaled."""
        state: NightState = "failed" if self.failures else "done"
        end_night(self.store, self.row, state, report=report, error=error)
        self.ended = True

    @contextmanager
    def survives(self, what: str) -> Iterator[None]:
        """One bad skill does not end the night: its error is logged and recorded, the first is raised at the end.

        The budget's end, a store that cannot be written, and a model that will refuse every later call do end it.
        """
        try:
            yield
        except Exhausted as out:
            self.exhausted = str(out)
        except (StoreError, ModelError):
            raise
        except Exception as error:
            log.error("A skill failed and the night goes on", exc_info=error, extra={"action": "survived", "of": what})
            self.failures.append((what, error))


def plain(value: object) -> Any:
    """A result as JSON values."""
    return msgspec.to_builtins(value, str_keys=True)


@contextmanager
def opened(world: World) -> Iterator[Journal]:
    """Hold the lock and a night: the one that was killed where there is one, else a new one. Closed on every way out.

    Raises `NightLocked`; `NotFound` where `--resume` finds nothing to resume; `Conflict` where this date's scheduled
    night ran already.
    """
    with hold(world.home.lock, world.clock):
        journal = Journal(world.store, _row(world))
        try:
            yield journal
        except BaseException as error:
            _close(journal, error)
            raise


def _row(world: World) -> Row:
    boot, pid, config = boot_id(), os.getpid(), world.config.digest()
    killed = find_unfinished(world.store, boot, _alive)
    if killed is not None:
        world.progress.say(f"going on with the night {killed.id}, which was interrupted")
        return take_up(world.store, killed.id, config, pid=pid, boot=boot)
    if world.resume:
        raise NotFound("no night was interrupted", remedy="Run `skillopt-sleep run` without --resume")
    now = datetime.fromtimestamp(world.clock.now_ms() / 1000, UTC).astimezone(ZoneInfo(world.zone))
    return begin_night(
        world.store, world.trigger, config, date=now.date().isoformat(), zone=world.zone, pid=pid, boot=boot
    )


def _close(journal: Journal, error: BaseException) -> None:
    """A signal, a disk or a provider interrupts a night, which can be resumed; any other error fails it for good."""
    passing = isinstance(error, (OSError, StoreError, ModelError)) or not isinstance(error, Exception)
    if journal.ended:
        return
    try:
        end_night(journal.store, journal.row, "interrupted" if passing else "failed", error=_said(error))
    except (StoreError, NightLocked):
        # The night is somebody else's by now, or the disk is full: its heartbeat will tell.
        log.warning("A night could not be closed", extra={"action": "close", "night": journal.id})


def _said(error: BaseException) -> str:
    """Of what was not foreseen the kind alone: its words may quote what was read."""
    if isinstance(error, SleepError):
        return str(error)[:500]
    return type(error).__name__ if isinstance(error, Exception) else ""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
