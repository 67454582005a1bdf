"""The command in surroundings that nobody chose: no HOME, another locale, streams that are closed, full or cut off."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import struct
import subprocess
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest

from skillopt_sleep.cli.demonstration import lay_out
from tests.cli.child import COMMAND, DEADLINE, Child, Said, least


@pytest.fixture
def child(tmp_path: Path) -> Child:
    """A machine with the sample's transcripts, before the first night."""
    user_home, project = lay_out(tmp_path)
    return Child(project, least(tmp_path, user_home))


@pytest.fixture
def after(slept_once: Path, tmp_path: Path) -> Child:
    """The morning after a night, on a copy of its state."""
    shutil.copytree(slept_once / "state", tmp_path / "state")
    return Child(slept_once / "shop", least(tmp_path, slept_once / "home"))


NOBODY = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
"""A user of whom the machine has no entry."""


@pytest.mark.root
@pytest.mark.parametrize("call", ["status", "run", "init", "doctor", "config show"])
def test_without_any_home_the_command_says_what_to_name(call: str, child: Child, unprivileged: list[str]) -> None:
    child.prefix = [*NOBODY, *unprivileged[-1:], *COMMAND[1:]]
    del child.environ["HOME"], child.environ["SKILLOPT_HOME"]
    found = child(*call.split())
    assert found.code == 2
    assert found.line == (
        "error: HOME: no HOME is set, and this user has none. Set HOME, or name --home, --config and --from"
    )


@pytest.mark.root
def test_loose_transcripts_are_read_by_somebody_without_a_home(
    child: Child, unprivileged: list[str], tmp_path: Path
) -> None:
    child.prefix = [*NOBODY, *unprivileged[-1:], *COMMAND[1:]]
    del child.environ["HOME"], child.environ["SKILLOPT_HOME"]
    place = tmp_path / "theirs"
    place.mkdir()
    os.chown(place, 54321, 54321)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    (place / "sleep.toml").touch()
    found = child(
        "harvest", "--json", "--home", f"{place}/h", "--config", f"{place}/sleep.toml", "--from", f"{tmp_path}/home"
    )
    assert found.code == 0, found.err
    assert found.document["sessions"]["new"] == 52


def test_without_a_home_in_the_environment_the_users_own_is_taken(after: Child) -> None:
    del after.environ["HOME"]
    assert after("status", "--json").code == 0


def test_a_terminal_that_knows_ascii_alone_gets_question_marks(after: Child) -> None:
    environ = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for call in ("review", "run"):
        found = after(call, environ=environ)
        assert found.code == 0, found.err
        assert "?" in found.out
        assert found.out.isascii()
    found = after("review", "--json", environ=environ)
    assert found.out.isascii()
    assert map_lines(found) == map_lines(after("review", "--json"))


def test_a_dumb_terminal_gets_no_escapes(after: Child) -> None:
    shown = on_a_terminal(after, "run", columns=80, terminal="dumb")
    assert "rules ready to adopt" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("call", ["history", "sessions --json", "--help"])
def test_whoever_reads_may_leave(call: str, after: Child) -> None:
    for script in (f'"$@" {call} | head -1', f'"$@" {call} 2>&1 | true'):
        found = after.shell(script)
        assert "Traceback" not in found.err
        assert "BrokenPipe" not in found.err


def test_a_night_whose_listener_left_is_a_whole_night(child: Child) -> None:
    assert child.shell('"$@" run 2>&1 | true').code == 0
    assert [night["state"] for night in map_lines(child("history", "--json"))] == ["done"]


def map_lines(said: Said) -> list[dict[str, object]]:
    return [json.loads(line) for line in said.out.splitlines()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("call", ["history", "status --json", "--help", "frob --json"])
def test_a_result_that_cannot_be_written_is_a_failure(call: str, after: Child) -> None:
    found = after.shell(f'"$@" {call} >/dev/full')
    assert found.code in {1, 2}
    assert len([line for line in found.err.splitlines() if line.startswith("error: ")]) == 1, found.err
    assert "Traceback" not in found.err
    assert after.shell(f'"$@" {call} >/dev/full 2>/dev/full').code == found.code


@pytest.mark.parametrize(("call", "closed"), [("run", ">&- 2>&-"), ("run", "<&- >&- 2>&-"), ("review", "<&-")])
def test_closed_streams_end_nothing_and_the_store_takes_none_of_their_numbers(
    call: str, closed: str, after: Child
) -> None:
    assert after.shell(f'"$@" {call} {closed}').code == 0
    found = after("doctor", "--json")
    assert {line["check"]: line["state"] for line in map_lines(found)}["store"] == "ok"


def on_a_terminal(child: Child, *arguments: str, columns: int, keys: bytes = b"", terminal: str = "xterm") -> str:
    """What the command shows on a terminal of so many columns and 24 rows."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*child.prefix, *arguments], env={**child.environ, "TERM": terminal}, cwd=child.folder,
        stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(follower)
        shown, end = b"", time.monotonic() + DEADLINE
        while time.monotonic() < end:
            if not select.select([leader], [], [], 0.2)[0]:
                if keys and b"adopt" in shown:
                    os.write(leader, keys)
                    keys = b""
                continue
            try:
                read = os.read(leader, 65536)
            except OSError:  # the other side is gone
                break
            shown += read
        assert process.wait(DEADLINE) == 0, shown
    os.close(leader)
    return shown.decode()


@pytest.mark.parametrize("call", ["history", "run"])
def test_a_terminal_of_twenty_columns_is_kept_to(call: str, after: Child) -> None:
    shown = on_a_terminal(after, call, columns=20)
    assert "Traceback" not in shown
    assert shown.count("\n") > 10


def test_the_review_is_left_with_a_key_at_any_width(after: Child) -> None:
    assert "Traceback" not in on_a_terminal(after, "review", columns=20, keys=b"q")
    assert after("status", "--json").document["pending"]["proposals"] == 2


@pytest.mark.parametrize("missing", ["crontab", "systemctl"])
def test_a_scheduler_that_is_not_there_is_named_with_what_to_use_instead(
    missing: str, after: Child, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    kind = {"crontab": "--cron", "systemctl": "--systemd"}[missing]
    environ = {"PATH": str(tmp_path / "empty"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    found = after("schedule", "install", kind, environ=environ)
    assert found.code == 1
    assert found.line.startswith(f"error: {missing} is not there. ")
    assert "`daemon`" in found.line
    assert after("status", environ=environ).code == 0
    assert after("doctor", "--json", environ=environ).code == 0
