from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import NightLocked
from skillopt_sleep.lock import boot_id, hold, holder

CLOCK = FixedClock(1_767_621_600_000)  # 2026-01-05T14:00:00Z
HOLDS = """
import sys, time
from pathlib import Path
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.lock import hold
with hold(Path(sys.argv[1]), FixedClock(1_767_621_600_000)):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path):
    """Another process that holds the lock."""
    lock = tmp_path / "night.lock"
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(lock)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_night_is_told_who_holds_the_lock_since_when(tmp_path, other):
    with pytest.raises(NightLocked) as refused, hold(tmp_path / "night.lock", CLOCK):
        pass
    assert refused.value.exit_code == 4
    assert f"another night is running (process {other.pid}, since 2026-01-05T14:00:00.000Z)" in str(refused.value)


def test_a_killed_holder_frees_it(tmp_path, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    with hold(tmp_path / "night.lock", CLOCK) as me:
        assert me.pid == os.getpid()


def test_who_holds_it_can_be_asked(tmp_path, other):
    seen = holder(tmp_path / "night.lock")
    assert seen is not None
    assert (seen.pid, seen.boot, seen.since_ms) == (other.pid, boot_id(), CLOCK.ms)
    other.kill()
    other.wait()
    assert holder(tmp_path / "night.lock") is None


def test_nobody_holds_what_was_never_held(tmp_path):
    assert holder(tmp_path / "night.lock") is None
    assert list(tmp_path.iterdir()) == []


def test_it_is_free_again_after_an_error(tmp_path):
    lock = tmp_path / "home" / "night.lock"
    with pytest.raises(ZeroDivisionError), hold(lock, CLOCK):
        raise ZeroDivisionError
    assert holder(lock) is None
    with hold(lock, CLOCK):
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
        assert stat.S_IMODE(lock.with_suffix(".holder").stat().st_mode) == 0o600
        assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("note", [b"", b"[]", b"\xff", b'{"pid": "x", "boot": 1, "since_ms": 2}', b"{" * 5000])
def test_a_garbled_note_still_refuses(tmp_path, other, note):
    (tmp_path / "night.holder").write_bytes(note)
    with pytest.raises(NightLocked, match="another night is running"), hold(tmp_path / "night.lock", CLOCK):
        pass


def test_a_holder_of_another_boot_is_said_to_be_one(tmp_path, other):
    (tmp_path / "night.holder").write_text('{"pid": 7, "boot": "elsewhere", "since_ms": 0}')
    with pytest.raises(NightLocked, match="process 7 of another boot or machine"), hold(tmp_path / "night.lock", CLOCK):
        pass


def test_a_look_does_not_stop_a_night_that_begins(tmp_path):
    """`holder` takes the lock for a moment; a night that begins in that moment waits it out."""
    lock = tmp_path / "night.lock"
    look = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(look, fcntl.LOCK_EX)
    over = threading.Timer(0.1, os.close, [look])
    over.start()
    with hold(lock, CLOCK) as me:
        assert me.pid == os.getpid()
    over.join()
