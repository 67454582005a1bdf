"""The service: APScheduler looks each minute whether a night is due, watchdog whether there is something to read.

A night runs in a process of its own (the very command that cron would start), so that its memory is given back, a crash
of it is one line here, and SIGTERM reaches it as it would reach a person's own run.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from skillopt_sleep.clock import Clock, iso
from skillopt_sleep.service.due import Due, due, next_at
from skillopt_sleep.service.watch import Watch

LOCKED = 4
QUIET_MS = 60_000
"""A transcript that is still being written is left alone until it was quiet for this long."""
GRACE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Timetable:
    """When nights are due. `ran` gives the ISO dates that have a scheduled night already."""

    zone: ZoneInfo
    at: time
    catch_up: timedelta
    ran: Callable[[], frozenset[str]]


@dataclass
class Daemon:
    """One service. `say` gets one JSON line an event; `run` and `harvest` are absolute command lines."""

    timetable: Timetable
    clock: Clock
    watch: Watch
    say: Callable[[Mapping[str, object]], None]
    run: Sequence[str]
    harvest: Sequence[str]
    environment: Mapping[str, str]
    every: float = 60.0
    _failed: set[str] = field(default_factory=set)
    _changed_ms: int | None = None
    _child: subprocess.Popen[bytes] | None = None
    _stopping: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _starting: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, stop: threading.Event) -> None:
        """Run until `stop` is set (or an exception such as SIGTERM's ends the wait); leaves no process behind."""
        scheduler = BackgroundScheduler(executors={"default": ThreadPoolExecutor(1)}, timezone=self.timetable.zone)
        # Ticks that fell into the machine's sleep or a long night are one tick; what is due is decided from the clock.
        # A tick that finds a night still running is no event; APScheduler would say so once a minute.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        first = datetime.now(self.timetable.zone)
        scheduler.add_job(
            self.tick, "interval", seconds=self.every, coalesce=True, misfire_grace_time=None, next_run_time=first
        )
        self.watch.start()
        self._tell("started", next=iso(self._next()), polling=self.watch.polling)
        try:  # from here on a signal may come at any moment, also before the scheduler is up
            scheduler.start()
            while not stop.wait(1.0):
                pass
        finally:
            self._end_child()
            if scheduler.running:
                scheduler.shutdown(wait=True)
            self.watch.stop()
            self._tell("stopped")

    def tick(self) -> None:
        """One look: start the night that is due, else read what was written and has been quiet for a minute."""
        with self._lock:
            if self._stopping:
                return
            found = due(
                self.clock.now_ms(), self.timetable.zone, self.timetable.at, self._done(), self.timetable.catch_up
            )
            if found is not None:
                self._night(found)
            elif self._has_news():
                self._tell("harvested", code=self._spawn(self.harvest, self.environment))
            self.watch.look_again()

    def _night(self, found: Due) -> None:
        self._tell("night", date=found.date.isoformat(), trigger=found.trigger)
        code = self._spawn(self.run, {**self.environment, "SKILLOPT_TRIGGER": found.trigger})
        if code != LOCKED and found.date.isoformat() not in self.timetable.ran():
            # It never began, and would not in a minute either: say so once, not every minute.
            self._failed.add(found.date.isoformat())
        self._tell("night_ended", date=found.date.isoformat(), code=code, next=iso(self._next()))

    def _has_news(self) -> bool:
        if self.watch.changed.is_set():
            self.watch.changed.clear()
            self._changed_ms = self.clock.now_ms()
        if self._changed_ms is None or self.clock.now_ms() - self._changed_ms < QUIET_MS:
            return False
        self._changed_ms = None
        return True

    def _done(self) -> frozenset[str]:
        return self.timetable.ran() | self._failed

    def _next(self) -> int:
        return next_at(self.clock.now_ms(), self.timetable.zone, self.timetable.at, self._done())

    def _spawn(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run a command to its end and return its code; nothing is started once the daemon is stopping."""
        try:
            with self._starting:
                if self._stopping:
                    return -signal.SIGTERM
                child = self._child = subprocess.Popen(
                    list(command), env={**os.environ, **environment}, stdin=subprocess.DEVNULL, start_new_session=True
                )
        except OSError as error:
            self._tell("failed", why=f"{command[0]}: {error.strerror}")
            return 1
        try:
            return child.wait()
        finally:
            self._child = None

    def _end_child(self) -> None:
        """End what runs. A child that is being started just now is seen too: nobody would end it otherwise."""
        with self._starting:
            self._stopping = True
            child = self._child
        if child is None:
            return
        child.terminate()
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()

    def _tell(self, action: str, **fields: object) -> None:
        self.say({"at": iso(self.clock.now_ms()), "action": action, **fields})
