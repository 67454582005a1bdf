"""Attempts by the real agents: what one sees and leaves, and that a rule's effect is measured by them.

The model is the scripted one: it opens the skill first, and does what the rule asks once it was shown the rule. The
rule stands in the skill's body alone, so that only an agent that hands the body over can make a difference.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_harvesters import discover
from skillopt_sleep.agents.native import LINES, Command, Ended, NativeAgent, NativeSettings, Run, Theirs
from skillopt_sleep.agents.native.purse import Pay
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.replay.workspace import Start, lay_out
from tests.agents.test_native_agent import HANGS, sleeping
from tests.agents_e2e.agents import AGENTS, ClaudeCode, Codex, CopilotCli
from tests.agents_e2e.agents import Agent as Driven
from tests.agents_e2e.box import Box
from tests.agents_e2e.runs import PATIENCE, Stage
from tests.agents_e2e.tasks import Steps

pytestmark = [pytest.mark.agents, pytest.mark.slow]

NAMES = {"claude-code": "claude", "codex": "codex", "copilot-cli": "copilot"}
DESCRIPTION = "How the memos of this house are written."
HEADING = "## Recommendation"
PLAIN = f"---\nname: memo\ndescription: {DESCRIPTION}\n---\n\n# Memo\n\nOne page.\n"
HELPFUL = PLAIN + f"- Put in the heading {HEADING}.\n"
GOOD, BAD = {"text": f"# Memo\n\n{HEADING}\n\nYes."}, {"text": "# Memo\n\nYes."}
OBEYS = {"if": "Recommendation", "then": GOOD, "else": BAD}
SHOWS: dict[str, Any] = {"shell": "echo left > out.txt"}


def opening(agent: str) -> dict[str, Any]:
    """How the model opens the skill: Claude Code and Copilot have a tool for it, with Codex it reads the file."""
    if agent == "codex":
        return {"shell": f"cat $HOME/{LINES['codex'].skills}/memo/SKILL.md"}
    return {"tool": "Skill" if agent == "claude-code" else "skill", "arguments": {"skill": "memo"}}


def through(box: Box) -> Run:
    """The box as what runs a command: in namespaces, with the scripted model as the only address.

    Meanwhile it is asked whether the run is to be ended, as ever.
    """

    def run(command: Command) -> Ended:
        done = threading.Event()
        with ThreadPoolExecutor(1) as asking:
            asking.submit(lambda: [command.stop() for _ in iter(lambda: done.wait(0.1), True)])
            try:
                ran = box.run(command.argv, command.folder, command.environ, command.seconds)
            finally:
                done.set()
        return Ended(ran.code, ran.out.encode(), ran.err.encode(), ran.seconds)

    return run


@dataclass
class Attempt:
    answer: Trajectory | Missing
    judged: list[Answer]
    files: dict[str, bytes]
    asked: list[dict[str, Any]]
    sessions: list[str]
    metered: list[int]
    """What it had taken each time that somebody looked while it ran."""


def attempt(stage: Stage, bin_folder: Path, environ: Mapping[str, str], start: Start) -> Attempt:
    """One attempt by a real agent, in the box."""
    judged: list[Answer] = []
    files: dict[str, bytes] = {}
    sessions: list[str] = []

    def judge(task: Task, answer: Answer) -> Score:
        judged.append(answer)
        files.update(answer.files or {})
        return Score(1.0, 1.0)

    name = NAMES[stage.agent.name]
    settings = NativeSettings((str(bin_folder / name),), seconds=PATIENCE)
    metered: list[int] = []
    with stage.box as box, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pay, "passed", lambda _, taken: bool(metered.append(taken)))
        patch.setattr("skillopt_sleep.agents.native.metering.EVERY_S", 0.2)
        agent = NativeAgent(
            LINES[name], settings, Theirs(stage.home, environ), judge,
            lambda task, folder: lay_out(start, folder), run=through(box),
            noted=lambda task, skill, draw, session: sessions.append(session),
        )  # fmt: skip
        (answer,) = agent.attempt([Task("t", "Write a memo")], Skill(HELPFUL, "memo"), [7])
        return Attempt(answer, judged, files, box.requests(), sessions, metered)


def person(home: Path) -> None:
    """What a person has beside a login: each of it would be told to the model, or start something."""
    for place in (".claude", ".codex", ".copilot", ".agents"):
        folder = home / place / "skills/own"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: own\ndescription: PRIVATE skill\n---\n")
    for memory in (".claude/CLAUDE.md", ".codex/AGENTS.md", ".copilot/copilot-instructions.md"):
        (home / memory).write_text("PRIVATE memory")


def repository(folder: Path) -> Start:
    """A project with a memory, a hook, and another version of the skill wherever an agent looks."""
    folder.mkdir()
    for memory in ("CLAUDE.md", "AGENTS.md"):
        (folder / memory).write_text("MEMORY of the project")
    for place in (".claude", ".agents", ".codex", ".github"):
        skill = folder / place / "skills/memo"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(PLAIN.replace(DESCRIPTION, "OLDER version"))
    hook = {"hooks": [{"type": "command", "command": f"touch {folder}/hooked"}]}
    (folder / ".claude/settings.json").write_text(json.dumps({"hooks": {"SessionStart": [hook]}}))
    named = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), (*named, "commit", "-qm", "one")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return Start(folder, commit.stdout.strip())


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_attempt_is_shown_one_version_of_the_skill_and_nothing_of_the_persons(
    agent: Driven, agents_under_test: Path, tmp_path: Path
) -> None:
    script: dict[str, Steps] = {"Write a memo": [opening(agent.name), SHOWS, OBEYS]}
    stage = Stage(agent, tmp_path, agents_under_test, script)
    person(stage.home)
    start = repository(tmp_path / "project")
    done = attempt(stage, agents_under_test, stage.environ, start)
    answer, skill = done.answer, Skill(HELPFUL, "memo")
    assert isinstance(answer, Trajectory), answer
    assert (answer.offered, answer.opened, answer.loaded) == (True, True, skill.digest)
    assert (answer.task, answer.draw, answer.skill) == ("t", 7, skill.digest)
    assert [said.text for said in done.judged] == [GOOD["text"]]
    assert done.files["out.txt"] == b"left\n"
    assert "out.txt" in answer.transcript
    assert HEADING in answer.transcript
    given = [asked["tokens"]["output"] for asked in done.asked if asked["task"]]
    assert (answer.score.objectives["tokens"], answer.score.objectives["tool_calls"]) == (sum(given), 2)
    whole = sum(sum(asked["tokens"].values()) for asked in done.asked if asked["task"])
    assert any(0 < taken < whole for taken in done.metered), "what it takes is seen while it runs"
    first = json.dumps(next(asked["body"] for asked in done.asked if asked["task"]))
    assert first.count(DESCRIPTION) == 1
    assert HEADING not in first, "the body is for the moment at which it is opened"
    everything = json.dumps(done.asked)
    assert "MEMORY of the project" in everything
    assert not re.findall("PRIVATE|OLDER", everything)
    assert not (tmp_path / "project/hooked").exists()
    assert len(done.sessions) == 1
    assert discover(stage.home, {})[0] == [], "nothing of it can be harvested as the person's"


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_that_is_not_signed_in_is_missing_data(agent: Driven, agents_under_test: Path, tmp_path: Path) -> None:
    stage = Stage(agent, tmp_path, agents_under_test, {})
    theirs = {name: stage.environ[name] for name in ("PATH", "XDG_CACHE_HOME")}
    done = attempt(stage, agents_under_test, theirs, Start())
    assert isinstance(done.answer, Missing)
    assert "is it signed in?" in done.answer.reason
    assert done.judged == []


# -- through the product


@dataclass(frozen=True)
class Said:
    code: int
    document: dict[str, Any]
    tokens: int
    """All tokens that the model has given and taken."""


def product(
    agent: Driven, folder: Path, bin_folder: Path, steps: Steps, words: list[str], tasks: int, config: str = "",
    checks: tuple[Mapping[str, Any], ...] = ({"kind": "contains", "argument": HEADING},),
) -> Said:  # fmt: skip
    """`train` or `eval` with a real agent, inside the box, on tasks of which each wants the heading."""
    prompts = [f"Write memo {number}." for number in range(tasks)]
    stage = Stage(agent, folder, bin_folder, dict.fromkeys(prompts, steps))
    rows = [{"id": f"m{n}", "prompt": prompt, "checks": checks} for n, prompt in enumerate(prompts)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in (("plain", PLAIN), ("helpful", HELPFUL)):
        (folder / f"{name}.md").write_text(text)
    (folder / "sleep.toml").write_text(config)
    argv = [sys.executable, "-m", "skillopt_sleep.cli", *words, "--tasks", "tasks.jsonl", "--json"]
    argv += ["--backend", NAMES[agent.name], "--home", str(folder / "state"), "--config", str(folder / "sleep.toml")]
    with stage.box as box:
        ran = box.run(argv, folder, stage.environ, PATIENCE)
        tokens = sum(sum(asked["tokens"].values()) for asked in box.requests() if asked["task"])
    assert list((folder / "tmp").iterdir()) == [], "all rooms are gone"
    assert ran.out, ran.err
    return Said(ran.code, json.loads(ran.out), tokens)


TRAIN = [
    "train", "--skill", "plain.md", "--optimizer-backend", "simulated", "--epochs", "1", "--set", "repeats=1",
    "--set", "slow_update=0", "--set", "meta_skill=false", "--out", "run", "--set",
]  # fmt: skip


@pytest.mark.parametrize(
    ("agent", "shares", "alpha"), [(ClaudeCode(), (3, 5), 0.05), (Codex(), (1, 3), 0.2)], ids=["claude-code", "codex"]
)
def test_a_rule_that_helps_is_accepted_by_what_the_real_agent_does(
    agent: Driven, shares: tuple[int, int], alpha: float, agents_under_test: Path, tmp_path: Path
) -> None:
    train, gate = shares
    words = [*TRAIN, f"split={train}:{gate}:0", "--set", f"alpha={alpha}"]
    said = product(agent, tmp_path, agents_under_test, [opening(agent.name), OBEYS], words, train + gate)
    (step,) = said.document["steps"]
    assert (said.code, step["verdict"], step["before"], step["after"]) == (0, "accept", 0.0, 1.0)
    assert said.document["evidence"] == "replayed"
    assert "Recommendation" in (tmp_path / "run/best_skill.md").read_text()
    spent = said.document["budget"]["tokens"]
    assert (spent["spent"], spent["exact"]) == (said.tokens, True), "by the agent's own figures"
    with closing(sqlite3.connect(tmp_path / "run/journal.db")) as store:
        sessions = [row[0] for row in store.execute("SELECT native_session FROM attempt")]
    assert len(set(sessions)) == len(sessions) == train + 2 * gate, "each attempt is known by its agent's session"
    assert all(sessions)


def test_a_skill_that_is_never_opened_has_no_exposure(agents_under_test: Path, tmp_path: Path) -> None:
    """The model would obey, had it been shown the rule."""
    said = product(ClaudeCode(), tmp_path, agents_under_test, [OBEYS], [*TRAIN, "split=1:3:0", "--set", "alpha=0.2"], 4)
    (step,) = said.document["steps"]
    assert step["verdict"] == "no_exposure"
    assert "opened in 0%" in step["why"]
    assert not said.document["changed"]


def test_a_text_without_the_rule_is_seen_to_be_worse(agents_under_test: Path, tmp_path: Path) -> None:
    words = ["eval", "--skill", "plain.md", "--against", "helpful.md", "--repeats", "1"]
    said = product(CopilotCli(), tmp_path, agents_under_test, [opening("copilot-cli"), OBEYS], words, 2)
    (row,) = said.document["rows"]
    assert (row["target"], row["before"], row["after"], row["coverage"]) == ("copilot", 1.0, 0.0, 1.0)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_real_agent_that_hangs_is_dead_after_its_deadline(
    agent: Driven, agents_under_test: Path, tmp_path: Path
) -> None:
    hang: Steps = [{"shell": HANGS}]
    words = ["eval", "--skill", "plain.md", "--repeats", "1"]
    config = "[agents]\ntimeout_minutes = 0.15\n"
    said = product(agent, tmp_path, agents_under_test, hang, words, 1, config)
    assert sleeping() == 0
    assert said.tokens, "the model was asked, and told it to run what hangs"
    assert said.code == 3, "missing data, no score"


@pytest.mark.sandbox
def test_what_a_real_agent_left_is_judged_by_a_command(agents_under_test: Path, tmp_path: Path) -> None:
    words = ["eval", "--skill", "plain.md", "--repeats", "1"]
    checks = [
        {"kind": "command", "argument": {"run": ["sh", "-c", "rm out.txt && exit 4"], "status": 4}},
        {"kind": "command", "argument": {"run": ["grep", "-q", "left", "out.txt"]}},
    ]
    said = product(ClaudeCode(), tmp_path, agents_under_test, [SHOWS, GOOD], words, 1, checks=tuple(checks))
    (row,) = said.document["rows"]
    assert (row["before"], row["coverage"]) == (1.0, 1.0)


TRIED = """
cat {home}/.private >/dev/null 2>&1; echo files $? > tried.txt
curl -s -m 5 --noproxy '*' http://127.0.0.1:8901/v1/models >/dev/null 2>&1; echo model $? >> tried.txt
ls $HOME >/dev/null && echo home $? >> tried.txt
"""
NOTHING = "files 1\nmodel 7\nhome 0\n"
"""What `cat` says of a file that is not there, and curl where nobody listens: the model is behind a proxy alone."""


@pytest.mark.sandbox
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_is_shut_in_with_its_rooms_and_its_model(
    agent: Driven, agents_under_test: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.private").write_text("PRIVATE")
    steps: Steps = [{"shell": TRIED.format(home=tmp_path / "home")}, GOOD]
    words = ["eval", "--skill", "plain.md", "--repeats", "1"]
    check = {"kind": "file_state", "argument": {"path": "tried.txt", "equals": NOTHING}}
    said = product(agent, tmp_path, agents_under_test, steps, words, 1, checks=(check,))
    (row,) = said.document["rows"]
    assert (row["before"], row["coverage"]) == (1.0, 1.0)
