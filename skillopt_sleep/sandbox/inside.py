"""The first process of a sandbox: it starts the command, counts what is used, and leaves nothing alive.

Run by its path, by a Python without packages, as process 1 of its namespace: `inside.py CONTROL ORDER`, two file
descriptors. ORDER is a JSON object (see `run.order_of`). Over CONTROL, a stream socket, goes out first one byte with a
handle of this process (a pidfd) and, where a port was asked for, the socket that listens there; last, one JSON object:
`{"status", "ended"}`. What comes in over it, its end too, means: end now. When process 1 is gone, the kernel has ended
all the others.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any, NoReturn

TICK_S = 0.05
NO_DUMP, NO_SUCH, CANNOT = 4, 127, 126
"""An option of prctl(2); the exit statuses of a shell for a program that is not there or cannot be started."""
ROOMS = ("/tmp", "/dev/shm")  # noqa: S108 - rooms of the sandbox's own


def main(control: socket.socket, order: dict[str, Any]) -> None:
    if os.getpid() != 1:
        sys.exit("not process 1 of a namespace of its own: what is to be ended at the end would be everybody's")
    hand_out(control, order["port"])
    worsen_odds()
    child = start(order)
    ended, status = attend(control, child, order)
    end_all(order["grace_s"])
    control.sendall(json.dumps({"status": status, "ended": ended}).encode())


def hand_out(control: socket.socket, port: int) -> None:
    """The listening socket belongs to the namespace that it was made in, whoever accepts from it."""
    handles = [os.pidfd_open(os.getpid())]
    if port:
        handles.append(socket.create_server(("127.0.0.1", port)).detach())
    socket.send_fds(control, [b"+"], handles)
    for handle in handles:
        os.close(handle)


def worsen_odds() -> None:
    """Where the whole machine runs out of memory, it is to be ours that goes; and no command may trace process 1."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as odds:  # noqa: PTH123
        odds.write("1000")
    ctypes.CDLL(None).prctl(NO_DUMP, 0, 0, 0, 0)


def start(order: dict[str, Any]) -> int:
    child = os.fork()
    if not child:
        become(order)
    return child


def become(order: dict[str, Any]) -> NoReturn:
    """The command, in place of this process."""
    argv, environ = order["argv"], order["environ"]
    try:
        os.setsid()
        for name, most in order["limits"].items():
            limit(getattr(resource, name), most)
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        os.makedirs(environ["HOME"], mode=0o700, exist_ok=True)  # noqa: PTH103
        os.chdir(order["folder"])
        os.execvpe(argv[0], argv, environ)  # noqa: S606 - a list of words, no shell
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(NO_SUCH if isinstance(error, FileNotFoundError) else CANNOT)


def limit(which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    later = most + 1 if which == resource.RLIMIT_CPU and (hard == resource.RLIM_INFINITY or most < hard) else most
    resource.setrlimit(which, (most, later))


def attend(control: socket.socket, child: int, order: dict[str, Any]) -> tuple[str, int]:
    """Wait for the command, or for a reason to end it: why, "" for none, and the exit status so far."""
    until = time.monotonic() + order["deadline_s"]
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    waiting.register(os.pidfd_open(child), select.POLLIN)
    while True:
        asked = any(handle == control.fileno() for handle, _ in waiting.poll(TICK_S * 1000))
        status = reap(child)
        if status is not None:
            return "", status
        if asked:
            return "asked", 128 + signal.SIGKILL
        if time.monotonic() > until:
            return "deadline", 128 + signal.SIGKILL
        if passed := beyond(order["processes"], order["memory"]):
            return passed, 128 + signal.SIGKILL


def reap(child: int) -> int | None:
    """Let go of every process that has ended; the status of the command where it is among them."""
    found = None
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                code = os.waitstatus_to_exitcode(ended[1])
                found = code if code >= 0 else 128 - code
    except ChildProcessError:
        pass
    return found


def beyond(most_tasks: int, most_bytes: int) -> str:
    others = [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]  # noqa: PTH208
    if len(others) > most_tasks:
        return "processes"
    tasks = private = shared = 0
    for name in others:
        seen = status_of(name)
        tasks += seen.get("Threads", 0)
        private += seen.get("RssAnon", 0)
        shared = max(shared, seen.get("RssShmem", 0))
    if tasks > most_tasks:
        return "processes"
    return "memory" if (private + shared) * 1024 + sum(map(held, ROOMS)) > most_bytes else ""


def status_of(process: str) -> dict[str, int]:
    """Threads, and kilobytes of private and shared memory; nothing of one that has ended. Shared memory is taken once,
    as much as any one process has of it: it mostly is the same."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
            pairs = (line.split()[:2] for line in lines if line.startswith(("Threads:", "RssAnon:", "RssShmem:")))
            return {name[:-1]: int(number) for name, number in pairs}
    except OSError:
        return {}


def held(room: str) -> int:
    """Bytes of memory that the files of a room take."""
    seen = os.statvfs(room)
    return (seen.f_blocks - seen.f_bfree) * seen.f_frsize


def end_all(grace_s: float) -> None:
    """TERM to whatever is left, in sessions of its own too; what is there after that, the kernel ends with us."""
    try:
        os.kill(-1, signal.SIGTERM)
        os.kill(-1, signal.SIGCONT)
    except ProcessLookupError:
        return
    until = time.monotonic() + grace_s
    while time.monotonic() < until:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.01)
        except ChildProcessError:
            return


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[2]), "rb") as given:
        what = json.load(given)
    os.set_inheritable(int(sys.argv[1]), False)
    with socket.socket(fileno=int(sys.argv[1])) as wire:
        main(wire, what)
