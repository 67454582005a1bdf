"""A command judges a folder and leaves it as it was; what says nothing of the folder is no status."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillopt_core.types import Missing
from skillopt_sleep.sandbox import Ended, Ran, Sandbox
from skillopt_sleep.sandbox.folders import LARGEST, TooLarge, copy, remove
from skillopt_sleep.sandbox.status import exit_status
from skillopt_sleep.sandbox.walls import WAYS, Walls

ENVIRON = {"PATH": "/usr/bin:/bin", "SECRET_KEY": "k"}


@pytest.fixture(params=WAYS, ids=lambda walls: walls.name)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return Sandbox(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "src").mkdir(parents=True)
    (made / "src/app.txt").write_text("ready\n")
    return made


def status(sandbox: Sandbox, folder: Path, *argv: str, seconds: float = 20) -> int | Missing:
    return exit_status(sandbox.run, argv, folder, environ=ENVIRON, seconds=seconds)


@pytest.mark.sandbox
def test_the_status_is_the_commands_own(sandbox: Sandbox, folder: Path) -> None:
    assert status(sandbox, folder, "grep", "-q", "ready", "src/app.txt") == 0
    assert status(sandbox, folder, "grep", "-q", "other", "src/app.txt") == 1
    assert status(sandbox, folder, "sh", "-c", "kill -SEGV $$") == 139


@pytest.mark.sandbox
def test_what_a_command_leaves_is_gone_for_the_next_one(sandbox: Sandbox, folder: Path) -> None:
    (folder / "locked").mkdir()
    (folder / "locked").chmod(0o500)
    spoil = "rm -rf src; mkdir -m 0 odd; ln -s /etc there; echo no > left; chmod 700 locked"
    assert status(sandbox, folder, "sh", "-c", spoil) == 0
    assert status(sandbox, folder, "sh", "-c", "test ! -e left && test -e src/app.txt") == 0
    assert sorted(path.name for path in folder.iterdir()) == ["locked", "src"]
    assert [path.name for path in folder.parent.iterdir()] == ["work"]
    assert (folder / "locked").stat().st_mode & 0o777 == 0o500


@pytest.mark.sandbox
def test_it_has_no_network_no_key_and_nothing_of_the_persons(sandbox: Sandbox, folder: Path) -> None:
    (folder.parent / "private").write_text("mine")
    assert status(sandbox, folder, "sh", "-c", 'test -z "$SECRET_KEY" && test ! -e ../private') == 0
    assert status(sandbox, folder, "sh", "-c", "test $(wc -l < /proc/net/dev) = 3") == 0


@pytest.mark.sandbox
def test_what_could_not_be_run_is_missing_and_says_why(sandbox: Sandbox, folder: Path) -> None:
    gone = status(sandbox, folder, "no-such-program")
    assert gone == Missing("the command no-such-program: a program is not there or cannot be run (status 127)")
    assert isinstance(status(sandbox, folder, "/etc/passwd"), Missing)
    assert isinstance(status(sandbox, folder, "sh", "-c", "no-such-program -q"), Missing)
    late = status(sandbox, folder, "sleep", "60", seconds=0.5)
    assert late == Missing("the command sleep: it was not done within 0.5 s")


@pytest.mark.sandbox
def test_a_program_that_should_have_been_left_in_the_folder_fails(sandbox: Sandbox, folder: Path) -> None:
    assert status(sandbox, folder, "./build.sh") == 127
    (folder / "build.sh").write_text("#!/bin/sh\nexit 7\n")
    assert status(sandbox, folder, "./build.sh") == 126
    (folder / "build.sh").chmod(0o755)
    assert status(sandbox, folder, "./build.sh") == 7


@pytest.mark.sandbox
def test_nothing_is_alive_afterwards(sandbox: Sandbox, folder: Path) -> None:
    mark = f"3{os.getpid()}"
    assert status(sandbox, folder, "sh", "-c", f"setsid sleep {mark} & trap '' TERM; exit 0") == 0
    alive = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _read(path)]
    assert not alive


def test_no_sandbox_is_no_status(folder: Path) -> None:
    missing = Sandbox(Walls("missing", lambda room, argv: ["no-such-walls", *argv]))
    said = status(missing, folder, "true")
    assert isinstance(said, Missing)
    assert said.reason.startswith("the command true: no sandbox works here (No such file")
    assert (folder / "src/app.txt").read_text() == "ready\n"


def test_a_folder_that_is_too_large_is_not_judged(folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(LARGEST + 1)
    said = exit_status(_never, ["true"], folder, environ={})
    why = "the folder holds more than 200,000 files or 2,048 MiB"
    assert said == Missing(f"the command true: the folder cannot be copied ({why})")
    with pytest.raises(TooLarge):
        copy(folder, folder.parent / "copy")


def test_what_lies_too_deep_is_not_judged_and_removed_all_the_same(folder: Path) -> None:
    below = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=below)
        inner = os.open("d", os.O_RDONLY, dir_fd=below)
        os.close(below)
        below = inner
    os.close(below)
    said = exit_status(_never, ["true"], folder, environ={})
    assert isinstance(said, Missing)
    assert "more than 200 folders deep" in said.reason
    assert (folder / "src/app.txt").exists()
    (folder / "out").symlink_to("/etc")
    (folder / "src").chmod(0o500)
    remove(folder)
    assert not folder.exists()
    assert Path("/etc/passwd").exists()


def test_a_copy_holds_links_as_links_and_no_pipes(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "out").symlink_to("/etc")
    (folder / "gone").symlink_to("nowhere")
    (folder / "src/app.txt").chmod(0o755)
    to = folder.parent / "copy"
    copy(folder, to)
    assert sorted(path.name for path in to.iterdir()) == ["gone", "out", "src"]
    assert (to / "out").is_symlink()
    assert (to / "src/app.txt").stat().st_mode & 0o777 == 0o755
    remove(to)
    assert not to.exists()
    assert Path("/etc/passwd").exists()


def test_a_limit_that_was_passed_is_no_status(folder: Path) -> None:
    passed: tuple[tuple[Ended, int], ...] = (("memory", 137), ("", 152), ("lost", 0))
    for ended, code in passed:
        ran = Ran(code, ended, b"", b"", (0, 0), 1.0)
        assert isinstance(exit_status(lambda _, ran=ran: ran, ["true"], folder, environ={}), Missing)


def _never(_: object) -> Ran:
    raise AssertionError("it was run")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
