"""A sandbox is one that was seen to shut a command in; where there is none, nothing is run."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skillopt_sleep.errors import SandboxUnavailable
from skillopt_sleep.sandbox import Command, Sandbox, find, look
from skillopt_sleep.sandbox.walls import WAYS, Walls, bubblewrap

OPEN = Walls("open", lambda room, argv: list(argv))
NO_NETWORK_WALL = Walls(
    "leaky", lambda room, argv: [word for word in bubblewrap(room, argv) if word != "--unshare-net"]
)
MISSING = Walls("missing", lambda room, argv: ["no-such-program", *argv])


@pytest.mark.sandbox
def test_the_first_way_that_works_is_taken() -> None:
    assert [(tried.walls.name, tried.why) for tried in look()] == [("bubblewrap", "")]
    assert find([MISSING, *WAYS[1:]]).name == "namespaces"


@pytest.mark.sandbox
def test_walls_that_leave_the_network_open_are_no_sandbox() -> None:
    (tried,) = look([NO_NETWORK_WALL])
    assert tried.why == "a command has more than a loopback of its own there"


def test_what_is_no_namespace_of_processes_runs_nothing_and_ends_nobody() -> None:
    (tried,) = look([OPEN])
    assert "not process 1" in tried.why


def test_without_a_sandbox_nothing_is_run(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable) as refused:
        find([MISSING, OPEN])
    assert "missing: No such file or directory; open: not process 1" in str(refused.value)
    with pytest.raises(SandboxUnavailable, match=r"^missing: No such file"):
        Sandbox(MISSING).run(Command(argv=("touch", str(tmp_path / "ran")), folder=tmp_path))
    assert not (tmp_path / "ran").exists()


@pytest.mark.sandbox
@pytest.mark.parametrize("walls", WAYS, ids=lambda walls: walls.name)
def test_many_at_once_do_not_mix_and_leave_no_handle(walls: Walls, tmp_path: Path) -> None:
    def run(n: int) -> tuple[int, bytes]:
        said = Sandbox(walls).run(Command(argv=("sh", "-c", f"echo {n}; exit {n}"), folder=tmp_path))
        return said.status, said.out

    before = set(Path("/proc/self/fd").iterdir())
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(16))) == [(n, f"{n}\n".encode()) for n in range(16)]
    assert set(Path("/proc/self/fd").iterdir()) <= before


def test_a_command_without_hosts_brings_no_asyncio() -> None:
    seen = "import sys; import skillopt_sleep.sandbox; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
