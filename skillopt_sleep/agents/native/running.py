"""A command run plainly: with the rights of the person, a deadline, capped output, and nothing left alive.

This is no sandbox: what runs here may read and send what the person could. It is what there is where no sandbox is.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final
from uuid import uuid4

from skillopt_sleep.agents.native.command import Command, Ended

MARK: Final = "SKILLOPT_SLEEP_ATTEMPT"
"""A variable that every process of an attempt inherits: agents give their commands groups and sessions of their own."""
GRACE_S: Final = 2.0
"""From TERM to KILL."""
PATIENCE_S: Final = 10.0
"""Until the kernel has ended what was sent KILL."""
EVERY_S: Final = 0.05
_PROCESSES: Final = Path("/proc")


def run_plainly(command: Command) -> Ended:
    """Run it to its end or its deadline; then end its group and, on Linux, all that carries its mark.

    What it says goes to files that are gone by themselves: a process that it leaves behind would keep a pipe open.
    """
    mark, began = uuid4().hex, time.monotonic()
    with tempfile.TemporaryFile(dir=command.temporary) as out, tempfile.TemporaryFile(dir=command.temporary) as err:
        running = subprocess.Popen(
            command.argv,
            cwd=command.folder,
            env={**command.environ, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            late = not _ended_by_itself(running, command, (out, err), began)
        finally:
            _end_all(running, mark)
        said = [_kept(stream, command.output) for stream in (out, err)]
    seconds = time.monotonic() - began
    cut = any(more for _, more in said)
    return Ended(running.returncode, said[0][0], said[1][0], seconds, late=late, cut=cut)


def _ended_by_itself(
    running: subprocess.Popen[bytes], command: Command, streams: Iterable[IO[bytes]], began: float
) -> bool:
    """True where it ended; False where its deadline is over. One that floods us is ended like one that is late."""
    flood = [(stream, command.output * 4) for stream in streams]
    while time.monotonic() - began < command.seconds and not command.stop():
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(EVERY_S)
            return True
        if any(os.fstat(stream.fileno()).st_size > most for stream, most in flood):
            return True
    return False


def _kept(stream: IO[bytes], most: int) -> tuple[bytes, bool]:
    """The end of what was said, where the verdict stands, and whether there was more."""
    size = os.fstat(stream.fileno()).st_size
    stream.seek(max(size - most, 0))
    return stream.read(most), size > most


def _end_all(running: subprocess.Popen[bytes], mark: str) -> None:
    """TERM, a little time, KILL until nobody is there: a child may fork while it is being ended."""
    _send(running.pid, mark, signal.SIGTERM)
    _wait(running, mark, GRACE_S)
    until = time.monotonic() + PATIENCE_S
    while _alive(running, mark) and time.monotonic() < until:
        _send(running.pid, mark, signal.SIGKILL)
        _wait(running, mark, EVERY_S)
    running.wait()


def _wait(running: subprocess.Popen[bytes], mark: str, seconds: float) -> None:
    until = time.monotonic() + seconds
    while _alive(running, mark) and time.monotonic() < until:
        time.sleep(EVERY_S)


def _alive(running: subprocess.Popen[bytes], mark: str) -> bool:
    if running.poll() is None:
        return True
    if _PROCESSES.is_dir():
        return any(True for _ in _living(running.pid, mark))
    try:
        os.killpg(running.pid, 0)
    except OSError:
        return False
    return True


def _send(group: int, mark: str, number: signal.Signals) -> None:
    if not _PROCESSES.is_dir():
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    for pid in _living(group, mark):
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _living(group: int, mark: str) -> Iterator[int]:
    """Processes of the group, and those whose environment carries the mark, but for dead ones nobody has waited for."""
    wanted = f"{MARK}={mark}".encode()
    for folder in _PROCESSES.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            said = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            state, _, of_group = said.rpartition(")")[2].split()[:3]
            marked = int(of_group) == group or wanted in (folder / "environ").read_bytes().split(b"\0")
            if state not in {"Z", "X"} and marked:
                yield int(folder.name)
