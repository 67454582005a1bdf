"""Where agents run: in namespaces of their own, with loopback as their only network.

Nothing in there can reach an address outside this machine, and when the box is closed the kernel ends every process
in it, whatever became of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).resolve().parent
UNSHARE = ("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
"""One owner of all, who is root in there: raises no privilege, and needs none."""
SOCKETS = Path("/tmp/codex-daemon-0")
"""Where Codex keeps the sockets of its daemon, whatever TMPDIR says. What lies there in a box is the box's own."""
BEGIN = """
ip link set lo up && mount --bind "$1" /etc/resolv.conf &&
mkdir -p -m 700 "$2" && mount -t tmpfs -o mode=700 none "$2" && shift 2 && exec "$@"
"""
RESOLVER = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"
"""Nobody answers there, and that is known at once: without it each name that an agent looks up takes five seconds."""
SLOW = 20.0
"""Seconds until the model must be there; it takes a fifth of one."""


def wait_for(what: str, seen: Callable[[], bool], seconds: float, every: float = 0.05) -> None:
    """Wait until something is seen. AssertionError after so many seconds."""
    until = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < until, f"not seen in {seconds:.0f} s: {what}"
        time.sleep(every)


@dataclass(frozen=True)
class Ran:
    argv: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float


class Box:
    """Namespaces with a scripted model in them, at `http://127.0.0.1:8901`. `folder` holds its script and its log."""

    def __init__(self, folder: Path, script: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        self.log = folder / "requests.jsonl"
        tasks = folder / "script.json"
        tasks.write_text(json.dumps(script), encoding="utf-8")
        names = folder / "resolv.conf"
        names.write_text(RESOLVER, encoding="utf-8")
        model = [sys.executable, "-I", str(HERE / "model_server.py"), str(tasks), str(self.log)]
        begin = ["sh", "-c", BEGIN, "sh", str(names), str(SOCKETS)]
        self._inside = subprocess.Popen([*UNSHARE, *begin, *model], stdin=subprocess.PIPE)

    def __enter__(self) -> Self:
        try:
            wait_for("the model", lambda: self.log.exists() or self._inside.poll() is not None, SLOW)
            assert self._inside.poll() is None, "the model ended at once"
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends all that runs inside. The kernel does the same when we are killed: then this pipe is closed too."""
        assert self._inside.stdin is not None
        self._inside.stdin.close()
        try:
            self._inside.wait(SLOW)
        finally:
            self._inside.kill()
            self._inside.wait()

    def argv(self, command: Sequence[str], cwd: Path) -> list[str]:
        """A command as it is started from outside to run inside, in a folder: entering forgets where one was."""
        spaces = f"/proc/{self._inside.pid}/ns"
        into = [f"--user={spaces}/user", f"--net={spaces}/net", f"--mount={spaces}/mnt"]
        there = ["env", f"--chdir={cwd}", "--", *command]
        return ["nsenter", *into, f"--pid={spaces}/pid_for_children", "--preserve-credentials", "--", *there]

    def run(self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], seconds: float) -> Ran:
        """Run a command to its end. TimeoutExpired after so many seconds.

        What it says goes to files: a process that it leaves behind would keep a pipe open.
        """
        began = time.monotonic()
        with (
            tempfile.TemporaryFile("w+", errors="replace") as out,
            tempfile.TemporaryFile("w+", errors="replace") as err,
        ):
            with subprocess.Popen(
                self.argv(argv, cwd), env=dict(environ), stdin=subprocess.DEVNULL, stdout=out, stderr=err
            ) as running:
                try:
                    code = running.wait(seconds)
                finally:
                    running.kill()
            out.seek(0)
            err.seek(0)
            return Ran(tuple(argv), code, out.read(), err.read(), time.monotonic() - began)

    def requests(self) -> list[dict[str, Any]]:
        """What was asked of the model so far, in order."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
