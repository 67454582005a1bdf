"""Whoever uses too much, too long, or stays behind is ended, with all that it started."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.sandbox.shut import SLOW, Shut, sleepers, wait_until

pytestmark = [pytest.mark.sandbox]

MARK = f"31536043.{os.getpid()}"
"""Seconds that a process of ours would sleep: by them it is found."""
STAYS = f"""
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", "{MARK}"])
    os._exit(0)
os.wait()
"""
MIB = 1 << 20
SMALL = {"memory": 192 * MIB, "deadline_s": 40.0, "grace_s": 0.2, "scratch": 64 * MIB}


def test_the_exit_status_is_the_commands(shut: Shut) -> None:
    ran = shut("sh", "-c", "echo out; echo err >&2; exit 7")
    assert (ran.status, ran.ended, ran.out, ran.err, ran.cut) == (7, "", "out\n", "err\n", [0, 0])


@pytest.mark.parametrize(
    ("argv", "status"), [(["sh", "-c", "kill -SEGV $$"], 139), (["no-such-program"], 127), (["/etc/passwd"], 126)]
)
def test_a_signal_and_a_program_that_does_not_start_read_as_in_a_shell(
    shut: Shut, argv: list[str], status: int
) -> None:
    assert shut(*argv).status == status


def test_the_deadline_holds_and_term_comes_first(shut: Shut) -> None:
    ran = shut("sh", "-c", "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done", limits={"deadline_s": 1.0})
    assert (ran.ended, ran.status, ran.out) == ("deadline", 137, "bye\n")
    assert ran.seconds < 20


def test_one_that_ignores_term_in_a_session_of_its_own_is_dead_after_the_deadline(shut: Shut) -> None:
    code = STAYS + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.pause()\nsignal.pause()"
    ran = shut.python_code(code, limits={"deadline_s": 1.0, "grace_s": 0.3})
    assert ran.ended == "deadline"
    assert sleepers(MARK) == []


def test_what_a_command_leaves_behind_is_dead_when_it_ends(shut: Shut) -> None:
    ran = shut.python_code(STAYS + "print('done', flush=True)", limits={"grace_s": 0.3})
    assert (ran.status, ran.ended, ran.out) == (0, "", "done\n")
    assert sleepers(MARK) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_when_we_are_killed_nothing_stays_alive(shut: Shut, how: signal.Signals) -> None:
    with shut.start("sh", "-c", f"trap '' TERM; setsid sleep {MARK} & sleep {MARK}") as driver:
        wait_until(lambda: len(sleepers(MARK)) == 2, "the command")
        driver.send_signal(how)
        driver.communicate()
    wait_until(lambda: not sleepers(MARK), "its end")
    assert [*shut.outside.iterdir(), *shut.folder.iterdir()] == []


def test_when_those_who_hold_the_walls_are_killed_nothing_stays_alive(shut: Shut) -> None:
    with shut.start("sh", "-c", f"setsid sleep {MARK} & sleep {MARK}") as driver:
        wait_until(lambda: len(sleepers(MARK)) == 2, "the command")
        (holder,) = Path(f"/proc/{driver.pid}/task/{driver.pid}/children").read_text(encoding="ascii").split()
        os.kill(int(holder), signal.SIGKILL)
        wait_until(lambda: not sleepers(MARK), "its end")
        out, err = driver.communicate(timeout=SLOW)
    assert json.loads(out)["ended"] == "lost", err


def of_root(shut: Shut) -> bool:
    return shut.folder.stat().st_uid == 0


def test_a_fork_bomb_ends(shut: Shut) -> None:
    """A bomb of 512, so that it does no harm where nobody ends it."""
    bomb = "import os, time\nfor _ in range(9): os.fork()\ntime.sleep(30)"
    ran = shut.python_code(bomb, limits={"processes": 60, "deadline_s": 20.0, "grace_s": 0.2})
    refused_by_kernel = "BlockingIOError" in ran.err
    assert ran.ended == "processes" if of_root(shut) else refused_by_kernel, "the kernel sets no limit to root; we do"


@pytest.mark.parametrize(
    "hog",
    [
        "import os, time\nfor _ in range(8): os.fork() or (bytearray(64 << 20), time.sleep(30))\ntime.sleep(30)",
        "import mmap, time\nx = mmap.mmap(-1, 1 << 30)\nfor at in range(0, 1 << 30, 4096): x[at] = 1\ntime.sleep(30)",
    ],
    ids=["many", "shared"],
)
def test_a_memory_hog_ends(shut: Shut, hog: str) -> None:
    ran = shut.python_code(hog, limits=SMALL)
    assert ran.ended == "memory"
    assert ran.seconds < 20


def test_one_process_is_refused_more_memory_than_all_may_have(shut: Shut) -> None:
    ran = shut.python_code("x = bytearray(1 << 30)", limits=SMALL)
    assert (ran.status, ran.ended) == (1, "")
    assert "MemoryError" in ran.err


def test_files_in_memory_are_memory_and_are_bounded(shut: Shut) -> None:
    full = shut("sh", "-c", "head -c 80M /dev/zero > /dev/shm/a; echo $?; head -c 80M /dev/zero > /tmp/a", limits=SMALL)
    assert "No space left" in full.err
    both = shut("sh", "-c", "head -c 60M /dev/zero > /dev/shm/a; head -c 60M /dev/zero > /tmp/a; sleep 30",
                limits=SMALL | {"memory": 100 * MIB})  # fmt: skip
    assert both.ended == "memory"


def test_a_file_grows_no_further_than_allowed(shut: Shut) -> None:
    ran = shut("sh", "-c", "head -c 9M /dev/zero > big", limits={"file": MIB})
    assert ran.status != 0
    assert (shut.folder / "big").stat().st_size == MIB


def test_a_busy_process_is_stopped_by_its_seconds(shut: Shut) -> None:
    ran = shut.python_code("while True: pass", limits={"cpu_s": 1, "deadline_s": 40.0})
    assert (ran.status, ran.ended) == (128 + signal.SIGXCPU, "")


def test_long_output_is_cut_in_the_middle_with_a_mark(shut: Shut) -> None:
    ran = shut(
        "sh", "-c", "echo first; head -c 300000 /dev/zero | tr '\\0' x; echo; echo last", limits={"output": 1000}
    )
    assert ran.out.startswith("first\nxxx")
    assert ran.out.endswith("xxx\nlast\n")
    assert ran.cut == [300012 - 1000, 0]
    assert f"\n[... {ran.cut[0]} bytes left out ...]\n" in ran.out
    assert len(ran.out) < 1100
    assert (ran.status, ran.ended) == (0, "")


def test_endless_output_ends(shut: Shut) -> None:
    began = time.monotonic()
    ran = shut("yes", limits={"flood": 8 * MIB, "output": 1000, "deadline_s": 50.0, "grace_s": 0.2})
    assert ran.ended == "output"
    assert len(ran.out) < 1100
    assert time.monotonic() - began < 40
