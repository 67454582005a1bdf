"""The processes of one sandbox as they are held from outside, and the streams that come out of it."""

from __future__ import annotations

import json
import os
import select
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import IO, Self

from skillopt_sleep.errors import SandboxUnavailable
from skillopt_sleep.sandbox.command import Ended, Limits
from skillopt_sleep.sandbox.output import Kept
from skillopt_sleep.sandbox.room import INSIDE, Room, interpreter
from skillopt_sleep.sandbox.walls import Walls

START_S = 20.0
"""Until process 1 must have reported; it takes a tenth of a second."""
LEEWAY_S = 5.0
"""After a deadline and its grace, until process 1 is no longer trusted to keep them."""
CHUNK = 1 << 16
KILLED = 128 + signal.SIGKILL
BARE = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
"""For what builds the walls; the command gets its own environment with its order."""


class Inside:
    """A sandbox with its process 1, `listener` what listens on its port, if one was ordered.

    Process 1 is held by a handle that cannot come to mean another process; once it is gone, all are. Were we killed,
    its socket would close and it would end all, and so would the kernel, by the death of its parent.
    """

    def __init__(self, walls: Walls, room: Room, order: str) -> None:
        self._walls, self._room, self._order = walls, room, order
        self._first = -1
        self.listener: socket.socket | None = None
        self.out, self.err = Kept(0), Kept(0)

    def __enter__(self) -> Self:
        self._control, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = self._started(theirs)
        except BaseException:
            self._control.close()
            raise
        try:
            self._meet()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def attend(self, limits: Limits, stop: Callable[[], bool]) -> tuple[int, Ended]:
        """Read both streams until all is over: the exit status, and why it was ended. `stop` is asked once a second."""
        self.out, self.err = Kept(limits.output), Kept(limits.output)
        until = time.monotonic() + limits.deadline_s + limits.grace_s + LEEWAY_S
        word = bytearray()
        ended: Ended = ""
        with selectors.DefaultSelector() as streams:
            for stream, take in ((self._out, self.out.add), (self._err, self.err.add), (self._control, word.extend)):
                streams.register(stream, selectors.EVENT_READ, take)
            while streams.get_map():
                for key, _ in streams.select(1.0):
                    if some := os.read(key.fd, CHUNK):
                        key.data(some)
                    else:
                        streams.unregister(key.fileobj)
                if not ended and self.out.seen + self.err.seen > limits.flood:
                    ended = "output"
                    self._control.shutdown(socket.SHUT_WR)
                if time.monotonic() > until or stop():
                    ended = ended or "deadline"
                    self._kill()
        return _judged(word, ended)

    def _started(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        order = os.memfd_create("order")
        try:
            os.write(order, self._order.encode())
            os.lseek(order, 0, os.SEEK_SET)
            inside = [str(interpreter()), "-I", "-S", str(INSIDE), str(theirs.fileno()), str(order)]
            return subprocess.Popen(
                self._walls.around(self._room, inside), env=BARE, cwd="/", start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(), order),
            )  # fmt: skip
        except OSError as error:
            raise self._unavailable(error.strerror or str(error)) from error
        finally:
            os.close(order)

    def _meet(self) -> None:
        """Process 1 reports once it stands; whatever goes wrong before that, the command did not run."""
        self._control.settimeout(START_S)
        try:
            word, handles, _, _ = socket.recv_fds(self._control, 1, 2)
        except TimeoutError as error:
            raise self._unavailable(f"it did not stand after {START_S:.0f} s") from error
        if not word:
            raise self._unavailable(self._last_words())
        self._control.settimeout(None)
        self._first = handles[0]
        if handles[1:]:
            self.listener = socket.socket(fileno=handles[1])

    def _last_words(self) -> str:
        """What those said who were to build the walls, the last line of it."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEEWAY_S)
        self._kill()
        said = self._err.read(CHUNK).decode(errors="replace").strip().splitlines()
        return said[-1] if said else f"it ended with {self._process.wait()}"

    def _unavailable(self, why: str) -> SandboxUnavailable:
        return SandboxUnavailable(why, where=self._walls.name, remedy="`skillopt-sleep doctor` says what it takes")

    def _kill(self) -> None:
        if self._first >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
        self._process.kill()

    def _close(self) -> None:
        """The end, however it came: process 1 is killed if it is still there, and is waited for."""
        self._kill()
        if self._first >= 0:
            gone = select.poll()
            gone.register(self._first, select.POLLIN)
            gone.poll()
            os.close(self._first)
        self._process.wait()
        for stream in (self._out, self._err):
            stream.close()
        self._control.close()
        if self.listener:
            self.listener.close()

    @property
    def _out(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        return self._process.stdout

    @property
    def _err(self) -> IO[bytes]:
        assert self._process.stderr is not None  # noqa: S101 - it was asked for
        return self._process.stderr


def _judged(word: bytes | bytearray, ours: Ended) -> tuple[int, Ended]:
    """What process 1 said last, and why we ended it, if we did."""
    if not word:
        return KILLED, ours or "lost"
    told = json.loads(word)
    return int(told["status"]), ours or told["ended"]
