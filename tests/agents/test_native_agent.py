"""The native agent without an agent: its rooms, logins and verdicts, and that nothing stays alive.

The programs here are small scripts that do what a real agent does only when it is ill; the well ones are met in
tests/agents_e2e/test_native.py.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep import sandbox
from skillopt_sleep.agents.native import (
    LINES,
    Command,
    Ended,
    NativeAgent,
    NativeSettings,
    Run,
    Theirs,
    beside_digest,
    folder_of,
    program_of,
    run_plainly,
    shut_in,
    version_of,
)
from skillopt_sleep.agents.native.files import Left, NotJudged
from skillopt_sleep.agents.native.rooms import clear_namesakes, install, name_of, rooms
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.errors import ConfigError, UsageError
from skillopt_sleep.sandbox.folders import remove

SKILL = Skill("---\nname: memo\ndescription: How memos are written.\n---\n\n# Memo\n", "memo")
TASK = Task("t", "--version")
"""A prompt that looks like an option."""
MARK = "31536047"
"""Seconds that a process of ours would sleep: by them it is found."""
THEIRS = Theirs(Path("/nowhere"), {"PATH": os.defpath})
ALL = sorted(LINES)


def passed(_: Task, answer: Answer) -> Score:
    return Score(1.0, 1.0)


def program(folder: Path, text: str) -> tuple[str, ...]:
    """A shell script as the agent's program."""
    path = folder / "agent"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return (str(path),)


def attempted(name: str, command: tuple[str, ...], seconds: float = 20.0, **parts: Any) -> Trajectory | Missing:
    settings = NativeSettings(command, seconds=seconds)
    agent = NativeAgent(LINES[name], settings, THEIRS, passed, lambda task, folder: None, run=run_plainly, **parts)
    (answer,) = agent.attempt([TASK], SKILL, [0])
    return answer


def sleeping() -> int:
    """How many of our processes there are on this machine."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_bytes()
            found += MARK.encode() in line and line.startswith(b"sleep")
    return found


HANGS = f"""
(trap '' TERM; setsid sh -c "trap '' TERM; while :; do sleep {MARK}; done" &)
trap '' TERM
while :; do sleep {MARK}; done
"""


def test_a_hung_agent_is_dead_afterwards_with_the_child_that_ignores_term(tmp_path: Path) -> None:
    began = time.monotonic()
    answer = attempted("claude", program(tmp_path, HANGS), seconds=1.0)
    assert answer == Missing("claude: it was not done within 1 s")
    assert sleeping() == 0
    assert time.monotonic() - began < 15


def test_what_an_agent_leaves_behind_is_dead_when_its_attempt_ends(tmp_path: Path) -> None:
    attempted("codex", program(tmp_path, f"setsid sleep {MARK} >/dev/null 2>&1 & exit 0"))
    assert sleeping() == 0


def shut(command: Command) -> Ended:
    return shut_in(sandbox.find())(command)


@pytest.mark.parametrize("run", [run_plainly, pytest.param(shut, marks=pytest.mark.sandbox)])
def test_attempts_end_when_we_are_told_to_end(run: Run, tmp_path: Path) -> None:
    def ended(command: Command) -> Ended:
        if not begun.is_set():
            begun.set()
            return run(command)
        raise KeyboardInterrupt

    begun = threading.Event()
    settings = NativeSettings(program(tmp_path, HANGS), seconds=60.0, parallel=2)
    agent = NativeAgent(LINES["claude"], settings, THEIRS, passed, lambda task, folder: None, run=ended)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        agent.attempt([TASK, TASK], SKILL, [0, 1])
    assert sleeping() == 0
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "text",
    [
        "echo 'Error: something went wrong'",
        "",
        'echo \'{"type": "other"}\'; echo done',
        "echo '{'; exit 3",
        "kill -9 $$",
    ],
    ids=["an error with exit 0", "nothing", "another envelope", "exit 3", "killed"],
)
def test_a_run_that_gave_no_answer_is_missing(name: str, text: str, tmp_path: Path) -> None:
    answer = attempted(name, program(tmp_path, text))
    assert isinstance(answer, Missing)
    assert "something" not in answer.reason, "told by status and envelope, never by words"


DONE = {
    "claude": {"type": "result", "subtype": "success", "is_error": False, "result": "yes", "duration_api_ms": 9},
    "codex": {"type": "turn.completed", "usage": {}},
    "copilot": {"type": "result", "exitCode": 0},
}


@pytest.mark.parametrize("name", ALL)
def test_an_envelope_that_says_success_without_a_transcript_is_missing(name: str, tmp_path: Path) -> None:
    answer = attempted(name, program(tmp_path, f"echo '{json.dumps(DONE[name])}'"))
    assert answer == Missing(f"{name}: it left no transcript")


def said(*objects: Mapping[str, object], status: int = 0) -> Ended:
    return Ended(status, "\n".join(map(json.dumps, objects)).encode(), b"", 1.0)


TROUBLES: list[tuple[str, Ended, str]] = [
    ("claude", said(DONE["claude"]), ""),
    ("claude", said({**DONE["claude"], "is_error": True, "api_error_status": 429}), "HTTP 429"),
    ("claude", said({**DONE["claude"], "is_error": True, "duration_api_ms": 0}, status=1), "is it signed in?"),
    ("claude", said({**DONE["claude"], "stop_reason": "max_tokens"}), "cut off"),
    ("claude", said({**DONE["claude"], "subtype": "error_max_turns"}), "an error"),
    ("claude", said(DONE["claude"], status=1), "status 1"),
    ("codex", said(DONE["codex"]), ""),
    ("codex", said({"type": "turn.failed"}, status=1), "its turn failed"),
    ("codex", said(DONE["codex"], status=101), "status 101"),
    ("copilot", said(DONE["copilot"]), ""),
    ("copilot", said({"type": "result", "exitCode": 1}), "code 1"),
    ("copilot", Ended(1, b"", b"", 1.0), "is it signed in?"),
]


@pytest.mark.parametrize(("name", "ended", "why"), TROUBLES)
def test_the_verdict_is_typed_by_status_and_envelope(name: str, ended: Ended, why: str) -> None:
    found = LINES[name].trouble(ended)
    assert why in found
    assert bool(why) == bool(found)


@pytest.mark.parametrize("name", ALL)
def test_a_prompt_is_never_an_option(name: str) -> None:
    argv = LINES[name].argv("--mcp-config=evil", "m", "id", contained=False)
    assert "--mcp-config=evil" not in argv or argv[-2:] == ["--", "--mcp-config=evil"]


def test_what_is_said_is_capped_at_its_end(tmp_path: Path) -> None:
    command = program(tmp_path, "yes a | head -c 300000; echo; echo the end")
    with rooms() as room:
        ended = run_plainly(Command(command, room.work, room.home, room.temporary, {"PATH": os.defpath}, 20.0, 100_000))
    assert (len(ended.out), ended.cut, ended.late) == (100_000, True, False)
    assert ended.out.endswith(b"the end\n")


def test_one_that_floods_is_ended(tmp_path: Path) -> None:
    with rooms() as room:
        ended = run_plainly(
            Command(program(tmp_path, "yes"), room.work, room.home, room.temporary, {"PATH": os.defpath}, 60.0, 1000)
        )
    assert ended.status != 0
    assert ended.seconds < 30


# -- what an attempt is given


class Shown(dict[str, Any]):
    """What a program of an attempt was started with; it never runs."""

    def __call__(self, command: Command) -> Ended:
        self["command"] = command
        self["files"] = {
            str(path.relative_to(command.home)): path.read_bytes() if path.is_file() else b""
            for path in sorted(command.home.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        self["modes"] = {name: stat.S_IMODE((command.home / name).stat().st_mode) for name in self["files"]}
        return Ended(1, b"", b"", 0.0)


def shown(name: str, theirs: Theirs, beside: Callable[[Skill], Path | None] = lambda _: None) -> Shown:
    seen = Shown()
    settings = NativeSettings(("agent",), beside=beside)
    NativeAgent(LINES[name], settings, theirs, passed, lambda task, folder: None, run=seen).attempt([TASK], SKILL, [0])
    return seen


@pytest.fixture
def person(tmp_path: Path) -> Theirs:
    """A person with a login for each agent, and much else that is nobody's business."""
    home = tmp_path / "person"
    for place in (".claude/skills/own", ".codex/skills/own", ".copilot/skills/own", ".agents/skills/own"):
        (home / place).mkdir(parents=True)
        (home / place / "SKILL.md").write_text("---\nname: own\ndescription: PRIVATE\n---\n")
    (home / ".claude/CLAUDE.md").write_text("PRIVATE")
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"PRIVATE": {}}}))
    (home / ".claude/settings.json").write_text(json.dumps({"hooks": {"PRIVATE": []}}))
    oauth = {"accessToken": "access", "refreshToken": "RENEWS", "expiresAt": 1}
    (home / ".claude/.credentials.json").write_text(json.dumps({"claudeAiOauth": oauth}))
    tokens = {"access_token": "access", "refresh_token": "RENEWS", "id_token": "id"}
    (home / ".codex/auth.json").write_text(json.dumps({"tokens": tokens}))
    (home / ".codex/AGENTS.md").write_text("PRIVATE")
    (home / ".codex/config.toml").write_text(
        'model = "m"\nmodel_provider = "p"\nnotify = ["PRIVATE"]\n[mcp_servers.PRIVATE]\ncommand = "x"\n'
        '[model_providers.p]\nname = "Ünï \\"p\\""\nbase_url = "https://models.example/v1"\nenv_key = "P_KEY"\n'
        'query_params = { v = "1" }\n[model_providers.other]\nname = "PRIVATE"\n'
    )
    config = {"copilot_tokens": {"github.com": "access"}, "last_logged_in_user": {"login": "me"}, "theme": "PRIVATE"}
    (home / ".copilot/config.json").write_text(json.dumps(config))
    environ = {"PATH": os.defpath, "LANG": "C.UTF-8", "P_KEY": "key", "AWS_SECRET_ACCESS_KEY": "PRIVATE"}
    environ |= {"ANTHROPIC_API_KEY": "key", "GH_TOKEN": "key", "OTHER": "PRIVATE"}
    return Theirs(home, environ)


@pytest.mark.parametrize("name", ALL)
def test_an_attempt_is_given_one_skill_and_the_login_and_nothing_else(name: str, person: Theirs) -> None:
    seen = shown(name, person)
    everything = json.dumps([{k: v.decode() for k, v in seen["files"].items()}, dict(seen["command"].environ)])
    assert "PRIVATE" not in everything
    assert "RENEWS" not in everything, "a login that is renewed in an attempt would end the person's own"
    assert "access" in everything, "signed in"
    skills = [path for path in seen["files"] if path.endswith("SKILL.md")]
    assert skills == [f"{LINES[name].skills}/memo/SKILL.md"]
    assert seen["files"][skills[0]] == SKILL.text.encode()
    assert {mode for path, mode in seen["modes"].items() if path not in skills} <= {0o600}


@pytest.mark.parametrize("name", ALL)
def test_each_agent_is_given_its_own_keys_alone(name: str, person: Theirs) -> None:
    keys = {"ANTHROPIC_API_KEY": "claude", "P_KEY": "codex", "GH_TOKEN": "copilot"}
    given = shown(name, person)["command"].environ
    assert {key for key in keys if key in given} == {key for key, owner in keys.items() if owner == name}
    assert (given["LANG"], given["HOME"]) == ("C.UTF-8", str(shown_home(given)))


def shown_home(given: Mapping[str, str]) -> Path:
    return Path(given["TMPDIR"]).parent / "home"


def test_codex_is_told_of_the_chosen_provider_and_no_other(person: Theirs) -> None:
    config = tomllib.loads(shown("codex", person)["files"][".codex/config.toml"].decode())
    assert config["model_providers"] == {
        "p": {
            "name": 'Ünï "p"', "base_url": "https://models.example/v1", "env_key": "P_KEY",
            "query_params": {"v": "1"},
        }
    }  # fmt: skip
    assert (config["model"], config["model_provider"]) == ("m", "p")


def test_hosts_are_those_of_the_login(person: Theirs) -> None:
    local = Theirs(person.home, {**person.environ, "ANTHROPIC_BASE_URL": "http://127.0.0.1:8901"})
    assert LINES["claude"].hosts(local) == ("127.0.0.1:8901",)
    assert LINES["claude"].hosts(person) == ("api.anthropic.com",)
    assert LINES["codex"].hosts(person) == ("models.example",)
    assert "api.github.com" in LINES["copilot"].hosts(person)


def test_rooms_are_ones_own_and_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with rooms() as room:
        assert stat.S_IMODE(room.home.parent.stat().st_mode) == 0o700
        (room.work / "shut").mkdir()
        (room.work / "shut/file").touch()
        (room.work / "shut").chmod(0)
        (room.work / "link").symlink_to(tmp_path)
    assert list(tmp_path.iterdir()) == []


# -- the skill


def test_files_beside_a_skill_come_along_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "memo"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.text)
    (folder / "scripts/run.sh").write_bytes(b"#!/bin/sh\r\n\xff")
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "reference.md").write_text("See there.")
    (folder / "secret").symlink_to("/etc/passwd")
    assert folder_of(folder / "SKILL.md") == folder
    candidate = replace(SKILL, text=SKILL.text + "- Another rule.\n")
    seen = shown("claude", THEIRS, lambda _: folder)
    names = {Path(path).relative_to(".claude/skills/memo").as_posix() for path in seen["files"]}
    assert names == {"SKILL.md", "scripts/run.sh", "reference.md"}
    assert seen["modes"][".claude/skills/memo/scripts/run.sh"] & stat.S_IXUSR
    file = install(candidate, "memo", tmp_path / "there", folder)
    assert file.read_text() == candidate.text
    assert (file.parent / "scripts/run.sh").read_bytes() == b"#!/bin/sh\r\n\xff"
    before = beside_digest(folder)
    (folder / "SKILL.md").write_text("another text is not another set of files")
    assert beside_digest(folder) == before
    (folder / "reference.md").write_text("Look there.")
    assert beside_digest(folder) != before


def test_only_the_folder_of_a_skill_by_its_name_comes_along(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(SKILL.text)
    assert folder_of(tmp_path / "SKILL.md") is None
    (tmp_path / "memo.md").write_text(SKILL.text)
    assert folder_of(tmp_path / "memo.md") is None


@pytest.mark.parametrize(
    "text",
    ["# Memo\n", "---\nname: memo\n---\n", "---\ndescription: x\n---\n", "---\nname: ../x\ndescription: x\n---\n"],
)
def test_a_skill_that_no_agent_could_be_shown_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="lacks a name or a description"):
        name_of(Skill(text))


def test_the_folder_has_no_second_version_of_the_skill_and_links_are_not_followed(tmp_path: Path) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    (outside / "skills/memo").mkdir(parents=True)
    (outside / "skills/memo/SKILL.md").write_text("the person's own")
    (work / ".claude/skills/memo").mkdir(parents=True)
    (work / ".claude/skills/other").mkdir()
    (work / ".agents").symlink_to(outside)
    clear_namesakes(work, "memo")
    assert (outside / "skills/memo/SKILL.md").read_text() == "the person's own"
    assert not (work / ".claude/skills/memo").exists()
    assert not (work / ".agents").exists()
    assert (work / ".claude/skills/other").is_dir()


# -- what is left


def test_what_is_left_is_regular_files_and_links_are_none(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.txt").write_bytes(b"\xff")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").touch()
    (tmp_path / "passwd").symlink_to("/etc/passwd")
    (tmp_path / "etc").symlink_to("/etc")
    os.mkfifo(tmp_path / "fifo")
    left = Left(tmp_path)
    assert dict(left) == {"a/b.txt": b"\xff"}
    hidden = ("passwd", "etc/passwd", "fifo", ".git/config", "a", "a/../a/b.txt", "/etc/passwd", "a/b.txt/c", "")
    assert [name for name in hidden if name in left] == []


def test_folders_too_deep_within_each_other_are_not_judged(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)
    with pytest.raises(NotJudged):
        list(Left(tmp_path))
    remove(tmp_path)


# -- which program


def test_a_program_that_is_not_there_is_named_with_the_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the command claude is not there"):
        program_of("claude", {}, Theirs(tmp_path, {"PATH": str(tmp_path)}))
    assert program_of("claude", {"claude": ("sh", "-x")}, THEIRS)[1:] == ("-x",)


def test_a_version_is_read_or_refused(tmp_path: Path) -> None:
    command = program(tmp_path, 'test "$1" = --version && echo "agent-cli 1.22.333 (x)"')
    assert version_of(command, os.defpath, run_plainly) == "1.22.333"
    (tmp_path / "agent").write_text("#!/bin/sh\necho none\n")
    with pytest.raises(ConfigError, match="named no version"):
        version_of((*command, "again"), os.defpath, run_plainly)


@pytest.mark.sandbox
def test_a_host_that_the_sandbox_refused_is_named_where_a_run_failed(tmp_path: Path) -> None:
    asks = "curl -s -m 5 https://elsewhere.example/ >/dev/null; exit 1"
    settings = NativeSettings(program(tmp_path, asks))
    agent = NativeAgent(LINES["claude"], settings, THEIRS, passed, lambda task, folder: None, run=shut)
    (answer,) = agent.attempt([TASK], SKILL, [0])
    assert isinstance(answer, Missing)
    assert answer.reason.endswith("; the sandbox let it not reach elsewhere.example")


@pytest.mark.sandbox
def test_in_the_sandbox_a_persons_proxy_is_not_the_way_out(tmp_path: Path) -> None:
    with rooms() as room:
        environ = {"PATH": os.defpath, "HTTPS_PROXY": "http://proxy.example:1", "HOME": str(room.home)}
        said = program(tmp_path, "echo $HTTPS_PROXY; echo $HOME; touch $HOME/x; pwd")
        ended = shut(Command(said, room.work, room.home, room.temporary, environ, 20.0, 1000, ("models.example",)))
    assert ended.out.decode().splitlines() == ["http://127.0.0.1:3128", str(room.home), str(room.work)]
