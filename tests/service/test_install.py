"""What is written for systemd, cron and launchd, checked with the real commands where they are."""

from __future__ import annotations

import os
import plistlib
import shlex
import stat
import subprocess
import sys
from datetime import time
from pathlib import Path

import pytest

from skillopt_sleep.errors import SleepError
from skillopt_sleep.service.install.base import Plan, kept_environment, this_command
from skillopt_sleep.service.install.cron import MARK, Cron
from skillopt_sleep.service.install.launchd import Launchd
from skillopt_sleep.service.install.systemd import Systemd

PLAN = Plan(
    ("/opt/with space/skillopt-sleep", "run", "100%", "$HOME"), time(3, 5), {"PATH": "/usr/bin:/bin"}, "/tmp/l o g"
)


def fake(folder: Path, name: str, script: str) -> str:
    """A stand-in for a command of the system, as a real program on disk."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.systemd
def test_systemd_itself_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    plan = Plan((sys.executable, "-m", "x", "50%"), time(3, 0), {"PATH": "/usr/bin:/bin"})
    systemd = Systemd(tmp_path)
    systemd.service.write_text(systemd.render_service(plan))
    systemd.timer.write_text(systemd.render_timer(plan))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(systemd.service), str(systemd.timer)],
        capture_output=True, text=True, check=False, env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""


def test_the_outcomes_that_need_a_person_are_no_failures_to_systemd(tmp_path: Path) -> None:
    assert "SuccessExitStatus=3 4 5\n" in Systemd(tmp_path).render_service(PLAN)


def test_install_and_remove_call_the_user_manager_and_a_second_install_changes_nothing(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    systemd = Systemd(tmp_path / "units", fake(tmp_path, "systemctl", f'echo "$@" >>{shlex.quote(str(log))}'))
    assert systemd.install(PLAN).changed
    assert not systemd.install(PLAN).changed
    assert systemd.show().at == "03:05"
    assert systemd.remove().changed
    assert not systemd.show().installed
    assert not systemd.remove().changed
    assert "--user enable --now skillopt-sleep.timer" in log.read_text()
    assert not list((tmp_path / "units").iterdir())


def test_a_machine_without_a_user_manager_is_told_what_to_do_instead(tmp_path: Path) -> None:
    systemd = Systemd(tmp_path, fake(tmp_path, "systemctl", "echo Failed to connect to bus >&2; exit 1"))
    with pytest.raises(SleepError, match=r"Failed to connect to bus.*--cron"):
        systemd.install(PLAN)


THEIRS = b"# mine\nMAILTO=me\n*/5 * * * * echo caf\xe9 \xff\n\n0 1 * * * no-final-newline"


def table(tmp_path: Path, content: bytes | None) -> tuple[Cron, Path]:
    """A crontab command that keeps its table in a file."""
    kept = tmp_path / "table"
    if content is not None:
        kept.write_bytes(content)
    where = shlex.quote(str(kept))
    none = 'echo "no crontab for me" >&2; exit 1'
    script = f'if [ "$1" = -l ]; then [ -f {where} ] && exec cat {where}; {none}; fi; exec cat >{where}'
    return Cron(fake(tmp_path, "crontab", script)), kept


@pytest.mark.parametrize("before", [None, b"", THEIRS, THEIRS + b"\n"])
def test_the_rest_of_a_crontab_stays_byte_for_byte(tmp_path: Path, before: bytes | None) -> None:
    cron, kept = table(tmp_path, before)
    assert cron.install(PLAN).changed
    assert kept.read_bytes().startswith(before or b"")
    assert kept.read_bytes().count(MARK.encode()) == 1
    assert not cron.install(PLAN).changed
    assert cron.show().at == "03:05"
    assert cron.remove().changed
    assert kept.read_bytes().rstrip(b"\n") == (before or b"").rstrip(b"\n")


def test_a_crontab_that_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    log = tmp_path / "written"
    cron = Cron(fake(tmp_path, "crontab", f'[ "$1" = -l ] && {{ echo denied >&2; exit 1; }}; touch {log}'))
    with pytest.raises(SleepError, match="denied"):
        cron.install(PLAN)
    assert not log.exists()


def test_the_line_of_cron_starts_under_an_empty_environment(tmp_path: Path) -> None:
    seen = tmp_path / "seen 100%"
    program = fake(tmp_path, "with space", f'echo "$SKILLOPT_TRIGGER $1" >{shlex.quote(str(seen))}')
    line = Cron().render(Plan((program, "100% $HOME"), time(4, 0), {"SKILLOPT_TRIGGER": "scheduled"}))
    command = line.split(" ", 5)[5].replace("\\%", "%")  # what cron hands to sh
    subprocess.run(["/bin/sh", "-c", command], env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}, check=True)
    assert seen.read_text() == "scheduled 100% $HOME\n"


REAL = """
from datetime import time
from skillopt_sleep.service.install.base import Plan
from skillopt_sleep.service.install.cron import Cron
import subprocess
subprocess.run(["crontab", "-"], input=b"0 1 * * * mine\\n", check=True)
cron = Cron()
assert cron.install(Plan(("/bin/true", "50%"), time(3, 0))).changed
assert b"mine" in subprocess.run(["crontab", "-l"], capture_output=True, check=True).stdout
assert not cron.install(Plan(("/bin/true", "50%"), time(3, 0))).changed
assert cron.remove().changed
assert subprocess.run(["crontab", "-l"], capture_output=True, check=True).stdout == b"0 1 * * * mine\\n"
"""


@pytest.mark.cron
@pytest.mark.root
def test_the_real_crontab_takes_the_line_and_gives_it_back(tmp_path: Path) -> None:
    # In a mount namespace of its own, so that nobody's crontab is touched.
    script = 'mount -t tmpfs none /var/spool/cron && mkdir -m 1730 /var/spool/cron/crontabs && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-c", REAL],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_line_break_in_a_path_never_reaches_a_crontab() -> None:
    with pytest.raises(SleepError, match="line break"):
        Cron().render(Plan(("/opt/a\n* * * * * evil",), time(3, 0)))


def test_control_characters_never_reach_a_unit(tmp_path: Path) -> None:
    with pytest.raises(SleepError, match="control characters"):
        Systemd(tmp_path).render(Plan(("/opt/a\nExecStartPre=evil",), time(3, 0)))


def test_the_property_list_of_launchd_says_command_and_hour(tmp_path: Path) -> None:
    content = plistlib.loads(Launchd(tmp_path).render(PLAN).encode())
    assert content["ProgramArguments"] == list(PLAN.command)
    assert content["StartCalendarInterval"] == {"Hour": 3, "Minute": 5}


def test_no_key_goes_into_a_schedule() -> None:
    kept = kept_environment({"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GITHUB_TOKEN": "k"})
    assert set(kept) == {"PATH", "SKILLOPT_TRIGGER"}


def test_the_scheduled_command_is_absolute() -> None:
    assert Path(this_command("run")[0]).is_absolute()
