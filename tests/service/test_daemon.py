"""The daemon with real processes, a real scheduler and a real watcher; only the clock is ours."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
import threading
import time as wall
from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo

import pytest
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.service.daemon import QUIET_MS, Daemon, Timetable
from skillopt_sleep.service.watch import Watch

ZONE = ZoneInfo("Europe/Berlin")
AFTER_THREE = int(datetime(2026, 11, 20, 3, 2, tzinfo=ZONE).timestamp() * 1000)
DEADLINE = 20.0


def until(condition: Callable[[], object]) -> None:
    end = wall.monotonic() + DEADLINE
    while not condition():
        assert wall.monotonic() < end, "it did not happen"
        wall.sleep(0.02)


class World:
    """A daemon with a fake clock, whose nights write their date into a folder as a store would."""

    def __init__(self, folder: Path, night: str, *, at_ms: int = AFTER_THREE) -> None:
        self.said: list[Mapping[str, object]] = []
        self.dates = folder / "dates"
        self.dates.mkdir()
        self.clock = FixedClock(at_ms)
        self.root = folder / "transcripts"
        self.root.mkdir()
        self.stop = threading.Event()
        self.harvested = folder / "harvested"
        self.watch = Watch(lambda: [self.root], lambda text: self.said.append({"warning": text}))
        self.daemon = Daemon(
            Timetable(ZONE, time(3), timedelta(hours=12), lambda: frozenset(p.name for p in self.dates.iterdir())),
            self.clock,
            self.watch,
            self.said.append,
            run=["/bin/sh", "-c", night.format(dates=shlex.quote(str(self.dates)))],
            harvest=["/bin/sh", "-c", f"echo x >>{shlex.quote(str(self.harvested))}"],
            environment={},
            every=0.05,
        )

    def __enter__(self) -> Self:
        self.thread = threading.Thread(target=self.daemon.serve, args=(self.stop,))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive()

    def actions(self, action: str) -> list[Mapping[str, object]]:
        return [line for line in self.said if line.get("action") == action]


RECORDED = "touch {dates}/2026-11-20; echo $SKILLOPT_TRIGGER >{dates}/../trigger"


def test_a_night_that_is_due_runs_once_and_knows_why_it_runs(tmp_path: Path) -> None:
    with World(tmp_path, RECORDED) as world:
        until(lambda: world.actions("night_ended"))
        wall.sleep(0.4)
    assert len(world.actions("night")) == 1
    assert (tmp_path / "trigger").read_text() == "scheduled\n"


def test_a_machine_that_wakes_at_ten_runs_one_night_and_says_that_it_was_late(tmp_path: Path) -> None:
    with World(tmp_path, RECORDED, at_ms=AFTER_THREE + 7 * 3_600_000) as world:
        until(lambda: world.actions("night_ended"))
        wall.sleep(0.3)
    assert [line["trigger"] for line in world.actions("night")] == ["caught_up"]


def test_a_night_that_cannot_begin_is_not_tried_again_every_minute(tmp_path: Path) -> None:
    with World(tmp_path, "exit 2") as world:
        until(lambda: world.actions("night_ended"))
        wall.sleep(0.4)
    assert [line["code"] for line in world.actions("night_ended")] == [2]


def test_a_night_that_found_the_lock_held_is_tried_again(tmp_path: Path) -> None:
    with World(tmp_path, "exit 4") as world:
        until(lambda: len(world.actions("night_ended")) >= 2)


def test_a_transcript_is_harvested_once_it_was_quiet(tmp_path: Path) -> None:
    with World(tmp_path, "exit 2", at_ms=AFTER_THREE - 3_600_000) as world:
        until(lambda: world.actions("started"))
        (world.root / "a.jsonl").write_text("{}\n")
        until(lambda: world.daemon._changed_ms is not None)
        wall.sleep(0.3)
        assert not world.harvested.exists()
        world.clock.ms += QUIET_MS
        until(world.harvested.exists)


def test_stopping_ends_the_night_that_runs_and_leaves_no_process(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with World(tmp_path, f"echo $$ >{shlex.quote(str(pid_file))}; exec sleep 600") as world:
        until(lambda: pid_file.exists() and pid_file.read_text().strip())
    assert world.actions("night_ended")[0]["code"] == -signal.SIGTERM
    pid = int(pid_file.read_text())
    assert not Path(f"/proc/{pid}").exists() or "zombie" in Path(f"/proc/{pid}/status").read_text()


class Refusing(type(Observer())):  # type: ignore[misc]
    """A watcher on a machine whose inotify limit is reached."""

    def schedule(self, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")


def test_a_machine_that_watches_no_more_files_is_polled_with_one_warning(tmp_path: Path) -> None:
    warned: list[str] = []

    def refusing() -> BaseObserver:
        made: BaseObserver = Refusing()
        return made

    watch = Watch(lambda: [tmp_path], warned.append, observer=refusing)
    watch.start()
    try:
        assert watch.polling
        assert len(warned) == 1
    finally:
        watch.stop()


def test_a_root_that_appears_later_is_watched_too(tmp_path: Path) -> None:
    root = tmp_path / "later"
    watch = Watch(lambda: [root], lambda _: None)
    watch.start()
    try:
        root.mkdir()
        watch.look_again()
        (root / "x.jsonl").write_text("{}")
        assert watch.changed.wait(DEADLINE)
    finally:
        watch.stop()


SERVE = """
import sys, threading, json
from datetime import time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.service.daemon import Daemon, Timetable
from skillopt_sleep.service.watch import Watch
import signal
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
zone = ZoneInfo("UTC")
d = Daemon(Timetable(zone, time(0, 0), timedelta(days=1), frozenset), SystemClock(), Watch(lambda: [], print),
           lambda line: print(json.dumps(line), flush=True), ["/bin/sh", "-c", "exec sleep 600"], ["true"], {}, 0.05)
d.serve(threading.Event())
"""


def test_a_night_that_is_being_started_is_ended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real = subprocess.Popen

    class Slow(real):  # type: ignore[type-arg, valid-type, misc]
        """A machine that takes its time to start a process."""

        def __init__(self, *arguments: object, **options: object) -> None:
            begun.set()
            go_on.wait(DEADLINE)
            super().__init__(*arguments, **options)

    monkeypatch.setattr("skillopt_sleep.service.daemon.subprocess.Popen", Slow)
    with World(tmp_path, "exec sleep 600") as world:
        assert begun.wait(DEADLINE)
        world.stop.set()
        wall.sleep(1.5)
        go_on.set()
    assert world.actions("night_ended")[0]["code"] == -signal.SIGTERM


def test_sigterm_ends_the_daemon_and_its_night() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline() for _ in range(2)]
            assert '"night"' in lines[1], lines
            os.kill(process.pid, signal.SIGTERM)
            rest = process.communicate(timeout=DEADLINE)[0]
        finally:
            process.kill()
    assert process.returncode == 143
    assert '"stopped"' in rest
