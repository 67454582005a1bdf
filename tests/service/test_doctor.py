"""`doctor`: each precondition with a finding and a remedy, against real files and small programs of our own on PATH."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Callable
from datetime import time
from pathlib import Path

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import ConfigError, SleepError, StoreError
from skillopt_sleep.lock import hold
from skillopt_sleep.paths import Home
from skillopt_sleep.sandbox import look
from skillopt_sleep.sandbox.walls import Walls
from skillopt_sleep.service import doctor
from skillopt_sleep.service.doctor import AgentFiles, OddFile
from skillopt_sleep.service.install.base import Installed, Plan
from skillopt_sleep.service.install.cron import Cron
from skillopt_sleep.service.install.systemd import Systemd
from tests.cli.child import Child, least

DAY = 86_400_000


@pytest.fixture
def home(tmp_path: Path) -> Home:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return Home(folder)


Program = Callable[[str, str], Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Makes a small program: its name, and what the shell does. Returns the folder for PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(name: str, script: str) -> Path:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
        return folder

    return make


def test_the_names_are_ours_unless_another_distribution_has_them_too() -> None:
    assert doctor.names({"skillopt_sleep": ["skillopt-sleep"]}).state == "ok"
    assert doctor.names({"skillopt_sleep": ["skillopt-sleep", "skillopt-sleep"]}).state == "ok"
    found = doctor.names({"skillopt_sleep": ["skillopt", "skillopt-sleep"]})
    assert (found.state, found.finding) == ("fail", "skillopt also installs a package skillopt_sleep")
    assert "environment of its own" in found.remedy


def test_this_installation_owns_its_names() -> None:
    assert doctor.names().state == "ok"


def test_a_home_that_others_may_read_is_mended_on_request(home: Home) -> None:
    home.store.write_bytes(b"x")
    home.logs.mkdir()
    for path in (home.root, home.logs, home.store):
        path.chmod(0o755 if path.is_dir() else 0o644)
    found = doctor.home_folder(home)
    assert (found.state, found.remedy) == ("warn", "Run `skillopt-sleep doctor --fix`")
    fixed = list(doctor.mend(home))
    assert {one.finding.split(" is now")[0] for one in fixed} == {str(home.root), str(home.store), str(home.logs)}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (home.root, home.logs)} == {0o700}
    assert stat.S_IMODE(home.store.stat().st_mode) == 0o600
    assert doctor.home_folder(home).state == "ok"
    assert list(doctor.mend(home)) == []


def test_where_nothing_is_yet_nothing_is_wrong_and_nothing_is_made(tmp_path: Path) -> None:
    nowhere = Home(tmp_path / "nowhere")
    for found in (doctor.home_folder(nowhere), doctor.disk(nowhere), doctor.store(nowhere, list), doctor.lock(nowhere)):
        assert found.state in {"ok", "warn"}
    assert list(doctor.mend(nowhere)) == []
    assert not nowhere.root.exists()


def test_a_file_in_the_place_of_the_home_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch(0o600)
    assert doctor.home_folder(Home(tmp_path / "file")).state == "fail"


def test_too_little_room_is_a_warning(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE", 1 << 60)
    found = doctor.disk(home)
    assert (found.state, found.remedy) == ("warn", "Make room, or use --home")


def test_a_damaged_store_fails_with_the_stores_own_words(home: Home) -> None:
    home.store.write_bytes(b"x")

    def damaged() -> list[str]:
        raise StoreError("the store is damaged", remedy="Restore a copy")

    found = doctor.store(home, damaged)
    assert (found.state, found.finding, found.remedy) == ("fail", "the store is damaged", "Restore a copy")
    assert doctor.store(home, lambda: ["it lies on nfs"]).state == "warn"
    assert doctor.store(home, list).state == "ok"


def test_a_mistake_in_sleep_toml_fails_with_its_line() -> None:
    def wrong() -> list[str]:
        raise ConfigError("unknown, did you mean gate.alpha?", where="sleep.toml:12 gate.alfa")

    found = doctor.configuration(wrong)
    assert (found.state, found.finding) == ("fail", "sleep.toml:12 gate.alfa: unknown, did you mean gate.alpha?")
    assert doctor.configuration(lambda: ["sleep.toml:3 targets.agents: ignored"]).state == "warn"
    assert doctor.configuration(list).state == "ok"


def test_a_night_that_runs_is_said_to_run(home: Home) -> None:
    assert doctor.lock(home).finding == "no night is running"
    with hold(home.lock, FixedClock(DAY)):
        assert f"process {os.getpid()}" in doctor.lock(home).finding


def files(**more: object) -> AgentFiles:
    known: dict[str, object] = {"agent": "codex", "looked": (Path("/home/kim/.codex"),), "files": 3, "oldest_ms": DAY}
    return AgentFiles(**{**known, "newest_version": "0.98.0", "understood": 1.0, **more})  # type: ignore[arg-type]


def test_an_agent_is_told_by_place_version_share_and_age() -> None:
    (found,) = doctor.agent(files(kept="the agent deletes them after 30 days"))
    assert found.check == "agent codex"
    assert found.state == "ok"
    for part in ("3 files", "0.98.0", "100.0% of the records", "1970-01-02", "after 30 days"):
        assert part in found.finding
    (absent,) = doctor.agent(files(files=0))
    assert (absent.state, absent.finding) == ("ok", "no transcripts (looked in /home/kim/.codex)")
    assert "how long the agent keeps them is not known" in next(doctor.agent(files())).finding
    assert "not read: harvest.agents leaves it out" in next(doctor.agent(files(wanted=False))).finding


@pytest.mark.parametrize(("share", "state"), [(None, "ok"), (0.95, "ok"), (0.949, "warn"), (0.0, "warn")])
def test_a_format_that_is_understood_less_than_before_is_a_warning(share: float | None, state: str) -> None:
    (found,) = doctor.agent(files(understood=share))
    assert found.state == state
    assert bool(found.remedy) is (state == "warn")


def test_files_that_give_nothing_or_too_little_are_named_with_their_version() -> None:
    odd = (OddFile("/t/1", None), OddFile("/t/2", 0.06, "2.1.400"), OddFile("/t/3", 0.5))
    whole, mute, strange, shut = doctor.agent(files(odd=odd, trouble=(("/t/4", "permission denied"),)))
    assert whole.state == "ok"
    assert {found.state for found in (mute, strange, shut)} == {"warn"}
    assert mute.finding == "1 file gave nothing although not empty, the first /t/1"
    assert strange.finding == "2 files with records of unknown kinds (up to 50%), the first /t/2 (version 2.1.400)"
    assert shut.finding == "1 place could not be looked at, the first /t/4: permission denied"


def test_keys_are_told_by_name_alone() -> None:
    secret = "sk-" + "x" * 30
    found = doctor.models({"OPENAI_API_KEY": secret, "ANTHROPIC_API_KEY": ""}, "recorded", False)
    assert found.finding == "backend recorded: nothing leaves this machine; OPENAI_API_KEY set"
    assert secret not in json.dumps(found.as_json())
    assert "the provider you named" in doctor.models({}, "openai", True).finding


@pytest.mark.parametrize("folder", ["plain", "with a space", "100% $HOME"])
def test_a_schedule_whose_program_is_gone_fails(
    folder: str, tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program("crontab", "echo no crontab for kim >&2; exit 1")) + ":/bin:/usr/bin")
    units = tmp_path / "units"
    assert doctor.schedule([Systemd(units), Cron()]).finding == "no night is scheduled"
    command = tmp_path / folder / "skillopt-sleep"
    plan = Plan((str(command), "run", "-q"), time(3, 10), {"SKILLOPT_HOME": "/h o"})
    units.mkdir()
    systemd = Systemd(units)
    systemd.service.write_text(systemd.render_service(plan))
    systemd.timer.write_text(systemd.render_timer(plan))
    found = doctor.schedule([systemd, Cron()])
    assert (found.state, found.finding) == ("fail", f"systemd starts {command}, which is not there")
    program("crontab", f"echo {shlex.quote(Cron().render(plan))}")
    found = doctor.schedule([Cron()])
    assert (found.state, found.finding) == ("fail", f"cron starts {command}, which is not there")
    command.parent.mkdir()
    command.touch()
    assert doctor.schedule([systemd]).finding == "systemd, every night at 03:10"
    assert doctor.schedule([Cron()]).finding == "cron, every night at 03:10"


def test_a_scheduler_that_cannot_be_asked_is_passed_over(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program("crontab", "echo You are not allowed to use this program >&2; exit 1")))
    with pytest.raises(SleepError, match="not allowed"):
        Cron().show()
    assert doctor.schedule([Cron()]).state == "ok"


TIMER = Installed("systemd", True, "03:00", None, "", "")


@pytest.mark.parametrize(("said", "state"), [("Linger=yes\n", "ok"), ("Linger=no\n", "warn"), (None, "unknown")])
def test_a_timer_stops_at_logout_unless_the_user_lingers(said: str | None, state: str) -> None:
    found = doctor.linger(TIMER, lambda: said)
    assert found is not None
    assert found.state == state
    assert ("enable-linger" in found.remedy) is (state == "warn")
    assert doctor.linger(Installed("systemd", False, None, None, "", ""), lambda: said) is None


@pytest.mark.parametrize(
    ("script", "state"),
    [("echo Linger=yes", "ok"), ("echo Linger=no", "warn"), ("exit 1", "unknown"), (None, "unknown")],
)
def test_loginctl_is_asked_where_a_timer_is_installed(
    script: str | None, state: str, program: Program, tmp_path: Path
) -> None:
    path = program("systemctl", "exit 0")
    if script is not None:
        program("loginctl", f'[ "$1" = show-user ] || exit 2\n{script}')
    program("crontab", "echo no crontab >&2; exit 1")
    child = Child(tmp_path, {**least(tmp_path, tmp_path), "PATH": str(path)})
    assert child("schedule", "install", "--systemd", "-q").code == 0
    lines = {line["check"]: line for line in map(json.loads, child("doctor", "--json").out.splitlines())}
    assert lines["linger"]["state"] == state
    assert lines["schedule"]["state"] == "ok"


@pytest.mark.sandbox
def test_the_sandbox_that_works_is_named(tmp_path: Path) -> None:
    child = Child(tmp_path, least(tmp_path, tmp_path))
    (line,) = (
        line for line in map(json.loads, child("doctor", "--json").out.splitlines()) if line["check"] == "sandbox"
    )
    assert (line["state"], line["finding"]) == ("ok", "commands are shut in by bubblewrap, without a network")


def test_without_a_sandbox_it_is_said_why_and_what_is_open() -> None:
    gone = Walls("bubblewrap", lambda room, argv: ["no-such-program", *argv])
    found = doctor.sandbox(look([gone]))
    assert found.state == "warn"
    assert "command checks and tool loops are refused" in found.finding
    assert "(bubblewrap: No such file or directory)" in found.finding
    assert "Install bubblewrap" in found.remedy


def test_the_command_starts_with_what_a_scheduler_gives_it(home: Home, tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "SKILLOPT_HOME": str(home.root), "ANTHROPIC_API_KEY": "secret"}
    found = doctor.as_scheduled(environ)
    assert found.state == "ok", found.finding
    assert "starts with a scheduler's environment" in found.finding


def test_a_command_that_fails_there_says_why(home: Home, tmp_path: Path) -> None:
    home.store.write_bytes(b"no store")
    found = doctor.as_scheduled({"HOME": str(tmp_path), "SKILLOPT_HOME": str(home.root)})
    assert found.state == "fail"
    assert "exit 1" in found.finding
    assert "the file is not a store" in found.finding


def test_a_command_that_hangs_there_is_given_up(home: Home) -> None:
    found = doctor.as_scheduled({"SKILLOPT_HOME": str(home.root)}, seconds=0.001)
    assert found.state == "fail"
    assert "timed out" in found.finding


def test_the_whole_doctor_mends_and_tries_as_scheduled(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o755)
    child = Child(tmp_path, least(tmp_path, tmp_path))
    lines = [json.loads(line) for line in child("doctor", "--fix", "--as-scheduled", "--json").out.splitlines()]
    checks = {line["check"]: line["state"] for line in lines}
    assert (checks["fixed"], checks["home"], checks["as scheduled"]) == ("ok", "ok", "ok")
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("states", "worst"),
    [(["ok", "warn", "fail"], "fail"), (["ok", "warn"], "warn"), (["ok", "unknown"], "ok"), ([], "ok")],
)
def test_the_worst_finding_speaks_for_all(states: list[str], worst: str) -> None:
    findings = [doctor.Finding("x", state, "") for state in states]  # type: ignore[arg-type]
    assert doctor.worst(findings) == worst
