"""The public interface to the letter: every command, option, exit code and JSON key that scripts may rely on."""

from __future__ import annotations

import json
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep import errors
from skillopt_sleep.cli import overview
from skillopt_sleep.cli.commands import register
from skillopt_sleep.cli.common import app
from tests.cli.child import Child, least
from tests.cli.conftest import Command

SHARED = "--json --config --home --quiet --verbose --help"
OPTIONS = {
    "init": "",
    "run": "--budget-tokens --budget-usd --budget-calls --budget-minutes --backend --target-backend "
    "--optimizer-backend --judge-backend --target-model --optimizer-model --judge-model --target-base-url --target-key "
    "--target-effort --optimizer-base-url --optimizer-key --optimizer-effort --judge-base-url --judge-key "
    "--judge-effort --gate --rollouts-k "
    "--preferences --edit-budget --recall-k --dream-factor --auto-adopt --auto-rollback --project --all-projects "
    "--from --as-of --dry-run --resume --demo",
    "harvest": "--from --agent --since --max-sessions",
    "sessions": "--origin",
    "tasks": "--export --import --mark-reviewed",
    "review": "",
    "adopt": "--edit --target --unproven",
    "reject": "--why",
    "rollback": "",
    "status": "",
    "history": "",
    "show": "",
    "train": "--tasks --skill --audit --recipe --set --epochs --batch-size --learning-rate "
    "--lr-scheduler --rollouts-k --gate --seed --out --backend --target-backend --optimizer-backend --target-model "
    "--optimizer-model --target-base-url --target-key --target-effort --optimizer-base-url --optimizer-key "
    "--optimizer-effort --judge-backend --judge-model "
    "--judge-base-url --judge-key --judge-effort --budget-tokens --budget-usd --budget-calls --budget-minutes",
    "eval": "--tasks --skill --against --target-model --recipe --set --repeats --seed --backend --target-backend "
    "--target-base-url --target-key --target-effort --judge-backend --judge-model --judge-base-url --judge-key "
    "--judge-effort --budget-tokens --budget-usd --budget-calls --budget-minutes",
    "daemon": "",
    "schedule install": "--systemd --cron --launchd --at --print",
    "schedule remove": "--systemd --cron --launchd",
    "schedule show": "--systemd --cron --launchd",
    "doctor": "--as-scheduled --fix",
    "model pull": "--source",
    "export": "--proposal --force",
    "verify": "",
    "forget": "--match",
    "prune": "--older-than",
    "backup": "",
    "gate aa": "--clear --why",
    "gate power": "--tasks --repeats",
    "gate simulate": "--seeds --tasks-per-night --nights --repeats",
    "config show": "",
}
REPEATED = ("run --preferences", "run --from", "harvest --from", "harvest --agent", "adopt --edit", "adopt --target",
            "train --set", "eval --set", "eval --target-model")  # fmt: skip
EXIT_CODES = {
    errors.SleepError: 1,
    errors.StoreError: 1,
    errors.NotFound: 1,
    errors.AdoptionError: 1,
    errors.ModelError: 1,
    errors.UsageError: 2,
    errors.ConfigError: 2,
    errors.NeedsPerson: 3,
    errors.NightLocked: 4,
    errors.BudgetTooSmall: 5,
    errors.Interrupted: 130,
    errors.Terminated: 143,
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_command_has_the_options_of_the_interface_and_no_others(name: str, command: Command) -> None:
    found = command(*name.split(), "--help")
    assert found.code == 0
    told = set(re.findall(r"^\s+(?:-\w, )?(--[\w-]+)", found.out, re.MULTILINE))
    assert told == {*OPTIONS[name].split(), *SHARED.split()}


def test_there_are_no_other_commands() -> None:
    assert {name.split()[0] for name in OPTIONS} == set(overview.COMMANDS)
    for name in overview.COMMANDS:
        register(name)
    groups = [(group.name, group.typer_instance) for group in app.registered_groups]
    named = {info.name or info.callback.__name__ for info in app.registered_commands if info.callback}
    for group, commands in groups:
        assert commands is not None
        named |= {f"{group} {i.name or i.callback.__name__}" for i in commands.registered_commands if i.callback}
    assert named == set(OPTIONS)


@pytest.mark.parametrize("option", REPEATED)
def test_options_that_may_be_given_twice_can(option: str, command: Command) -> None:
    name, flag = option.split()
    arguments = ["p-1"] if name == "adopt" else []
    value = "1" if flag == "--edit" else "codex"
    found = command(name, *arguments, flag, value, flag, value)
    assert "given" not in found.err
    assert "unexpected" not in found.err


@pytest.mark.parametrize("error", EXIT_CODES)
def test_each_error_has_the_exit_code_of_the_interface(error: type[errors.SleepError]) -> None:
    assert error.exit_code == EXIT_CODES[error]


def test_no_error_has_a_code_that_the_interface_does_not_know() -> None:
    kinds = [errors.SleepError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        assert kind.exit_code in {1, 2, 3, 4, 5, 130, 143}
        assert re.fullmatch(r"[a-z_]+", kind.code)


def keys(document: dict[str, Any]) -> set[str]:
    assert document["format"] == 1
    return set(document) - {"format"}


def test_what_is_looked_at_has_its_keys(morning: Command) -> None:
    assert keys(morning("status", "--json").document) == {
        "last_night", "next_night", "lock", "pending", "budget_month", "skips", "health",
    }  # fmt: skip
    assert set(morning("status", "--json").document["pending"]) == {"sessions", "proposals", "trials"}
    for line in morning("history", "--json").lines:
        assert keys(line) == {"night", "date", "trigger", "state", "verdicts", "spent", "error"}
    for line in morning("doctor", "--json").lines:
        assert keys(line) == {"check", "state", "finding", "remedy"}
        assert line["state"] in {"ok", "warn", "fail", "unknown"}
    for line in morning("config", "show", "--json").document["values"]:
        assert set(line) == {"key", "value", "origin"}


def test_every_id_that_is_listed_can_be_shown(morning: Command) -> None:
    session = morning("sessions", "--json").lines[0]["id"]
    night = morning("history", "--json").lines[0]["night"]
    task = morning("tasks", "--json").lines[0]["id"]
    run = morning("show", night, "--json").document["report"]
    proposal, trial = run["skills"][0]["proposal"], run["trials"][0]["id"]
    rule = run["skills"][0]["edits"][0]["rule"]
    adoption = morning("adopt", proposal, "--json").document["adoption"]
    ids = {"session": session, "night": night, "task": task, "proposal": proposal, "trial": trial, "rule": rule,
           "adoption": adoption}  # fmt: skip
    for kind, name in ids.items():
        found = morning("show", name, "--json").document
        assert (found["kind"], found["id"]) == (kind, name)
    listed = next(line for line in morning("sessions", "--json").lines if line["id"] == session)
    shown = morning("show", session, "--json").document
    assert keys(shown) - {"kind"} >= keys(listed)


def test_a_decision_is_told_with_its_keys(morning: Command) -> None:
    lines = morning("review", "--json").lines
    assert keys(lines[0]) >= {"proposal", "skill", "state", "verdict", "headline", "diff", "edits", "evidence", "needs"}
    supported = next(line for line in lines if line["verdict"] == "supported")
    rejected = morning("reject", lines[1]["proposal"], "--why", "we do it on purpose", "--json").document
    assert keys(rejected) >= {"proposal", "edits"}
    adopted = morning("adopt", supported["proposal"], "--json").document
    for target in adopted["targets"]:
        assert set(target) >= {"agent", "path", "state", "before", "after", "why"}
        assert target["state"] in {"written", "refused"}
    back = morning("rollback", adopted["adoption"], "--json").document
    assert keys(back) == keys(adopted)


def test_a_refused_adoption_is_one_document_with_its_targets_and_the_error(morning: Command, slept_once: Path) -> None:
    supported = next(line for line in morning("review", "--json").lines if line["verdict"] == "supported")
    mine = slept_once / "shop/.codex/skills/shop-lessons/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("my own\n")
    found = morning("adopt", supported["proposal"], "--json")
    assert found.code == 1
    assert keys(found.document) >= {"adoption", "proposal", "edits", "targets", "error"}
    assert any(target["state"] == "refused" and target["why"] for target in found.document["targets"])


def test_tasks_go_out_and_come_in_as_lines(morning: Command, tmp_path: Path) -> None:
    before = morning("tasks", "--json").lines
    out = tmp_path / "tasks.jsonl"
    assert morning("tasks", "--export", str(out), "--json").document["exported"] == len(before)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    exported = [json.loads(line) for line in out.read_text().splitlines()]
    assert [{key: line[key] for key in one} for line, one in zip(exported, before, strict=True)] == before
    assert morning("tasks", "--export", str(out)).code == 1, "nothing is overwritten"
    assert morning("tasks", "--import", str(out), "--json").document["known"] == len(before)
    mine = tmp_path / "mine.jsonl"
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    line = {"prompt": f"Add a page, the token is {token}", "checks": [{"kind": "command", "argument": "npm test"}]}
    mine.write_text(json.dumps(line) + "\n\n" + json.dumps({"prompt": "Mend it", "split": "audit"}) + "\n")
    assert morning("tasks", "--import", str(mine), "--json").document["imported"] == 2
    assert morning("tasks", "--import", str(mine), "--json").document["imported"] == 0
    added = [task for task in morning("tasks", "--json").lines if task["origin"] == "imported"]
    assert {task["split"] for task in added if task["prompt"] == "Mend it"} == {"audit"}
    assert token not in json.dumps(added)
    assert morning("tasks").code == 0


@pytest.mark.parametrize(
    "text", ["{", '{"prompt": 1}', '{"prompt": "x", "split": "test"}', '{"prompt":"x","id":"../x"}']
)
def test_of_a_file_of_tasks_with_a_mistake_nothing_is_taken(text: str, morning: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"prompt": "fine"}\n' + text + "\n")
    found = morning("tasks", "--import", str(path))
    assert found.code == 2
    assert found.err.startswith(f"error: {path}:2: ")
    assert all(task["origin"] == "real" for task in morning("tasks", "--json").lines)


def test_sources_beyond_a_cap_are_pending_until_they_are_read(command: Command) -> None:
    first = command("harvest", "--max-sessions", "10", "--json").document
    assert (first["sessions"]["new"], first["pending"]) == (10, 42)
    assert command("status", "--json").document["pending"]["sessions"] == 42
    assert "42 sessions to be read" in command("status").out
    command("harvest", "--max-sessions", "40", "-q")
    assert command("status", "--json").document["pending"]["sessions"] == 2
    command("harvest", "-q")
    assert command("status", "--json").document["pending"]["sessions"] == 0


@pytest.fixture
def crontab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A `crontab` of our own, which keeps its table in a file."""
    programs, table = tmp_path / "bin", tmp_path / "table"
    programs.mkdir()
    script = programs / "crontab"
    script.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" != -l ]; then exec cat >{table}; fi\n'
        f"if [ -s {table} ]; then exec cat {table}; fi\n"
        "echo no crontab for sam >&2; exit 1\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return table


def test_the_next_night_is_that_of_the_schedule(command: Command, crontab: Path) -> None:
    assert command("status", "--json").document["next_night"] is None
    installed = command("schedule", "install", "--cron", "--at", "04:30", "--json").document
    assert keys(installed) == {"kind", "installed", "at", "next", "command", "text", "changed"}
    assert installed["changed"]
    assert crontab.read_text().startswith("30 4 * * * ")
    planned = command("status", "--json").document["next_night"]
    assert planned == installed["next"] == command("schedule", "show", "--json").document["next"]
    command("harvest", "-q")
    assert command("status", "--json").document["next_night"] == planned
    removed = command("schedule", "remove", "--json").document
    assert (removed["installed"], removed["changed"]) == (False, True)
    assert command("status", "--json").document["next_night"] is None


def test_the_next_night_is_that_of_the_daemon_while_it_runs(slept_once: Path, tmp_path: Path) -> None:
    shutil.copytree(slept_once / "state", tmp_path / "state")
    config = tmp_path / "sleep.toml"
    config.write_text('[schedule]\nat = "05:45"\nzone = "UTC"\ncatch_up_hours = 0\n')
    environ = {**least(tmp_path, slept_once / "home"), "SKILLOPT_CONFIG": str(config), "PATH": "/usr/bin:/bin"}
    child = Child(slept_once / "shop", environ)
    command = [*child.prefix, "daemon"]
    with subprocess.Popen(command, env=environ, cwd=child.folder, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        started = json.loads(daemon.stdout.readline())
        assert keys(started) >= {"at", "action"}
        assert started["action"] == "started"
        assert started["next"][11:16] == "05:45"
        assert child("status", "--json").document["next_night"] == started["next"]
        second = child("daemon")
        assert (second.code, "another daemon is running" in second.line) == (4, True)
        daemon.send_signal(signal.SIGTERM)
        assert [json.loads(line)["action"] for line in daemon.stdout] == ["stopped"]
        assert daemon.wait(60) == 143
    assert child("status", "--json").document["next_night"] is None


def test_a_run_takes_the_projects_that_init_recorded_unless_all_are_asked_for(
    command: Command, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = surroundings / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert command("init", "-q", "--config", str(surroundings / "sleep.toml")).code == 0
    config = ("--config", str(surroundings / "sleep.toml"))
    assert command("run", "--json", *config).document["tasks"]["mined"] == 0
    assert command("run", "--json", "--all-projects", *config).document["tasks"]["mined"] > 0
    assert command("run", "--json", "--project", str(surroundings / "shop"), *config).document["tasks"]["mined"] > 0


def test_a_repository_that_holds_the_home_is_no_project_and_the_folder_in_it_is(
    command: Command, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (surroundings / ".git").mkdir()
    config = ("--config", str(surroundings / "sleep.toml"), "--json")
    assert command("init", *config).document["project"] == str(surroundings / "shop")
    (surroundings / "shop/.git").mkdir()
    (surroundings / "shop/src").mkdir()
    monkeypatch.chdir(surroundings / "shop/src")
    assert command("init", *config).document["project"] == str(surroundings / "shop")
    monkeypatch.chdir(surroundings / "home")
    assert command("init", *config).document["project"] is None
