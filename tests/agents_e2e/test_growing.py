"""Nights in which a scripted optimizer trains the learned skill on tasks that it wrote, and a real agent attempts them.

The rule stands in the skill's body alone, and the model opens the skill first: only an agent that hands the body over
can make a difference. The project's own tests run in the sandbox, on what the agent left.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.agents.native import LINES
from tests.agents_e2e.agents import Agent, ClaudeCode, Codex
from tests.agents_e2e.runs import Stage
from tests.cli.requesting import NAMES, adding, make_project

pytestmark = [pytest.mark.agents, pytest.mark.slow, pytest.mark.sandbox]

CHECKOUT = Path(__file__).parent.parent.parent
SKILL = "words-lessons"
RULE = "- Begin the docstring of each function with `Words:`."
SHOWN = "Begin the docstring of each function"
SESSIONS = 7
SETTINGS = """\
[agents]
deterministic = true
[budget]
tokens = 10_000_000
[gate]
trial_alpha = 0.25
[split]
train = 0.5
gate = 0.49
audit = 0.01
"""


def opening(agent: str) -> dict[str, Any]:
    if agent == "codex":
        return {"shell": f"cat $HOME/{LINES['codex'].skills}/{SKILL}/SKILL.md"}
    return {"tool": "Skill", "arguments": {"skill": SKILL}}


def writes(name: str, docstring: str) -> dict[str, str]:
    lines = f'\\n\\ndef {name}(text):\\n    """{docstring}"""\\n    return text.{name}()\\n'
    return {"shell": f"printf '{lines}' >> words.py"}


def script(agent: str) -> dict[str, list[dict[str, Any]]]:
    steps: dict[str, list[dict[str, Any]]] = {}
    for name in NAMES:
        obeys = {"if": SHOWN, "then": writes(name, "Words: as text."), "else": writes(name, "As text.")}
        steps[f"function {name} "] = [opening(agent), obeys, {"text": "Done."}]
    return steps


@pytest.mark.parametrize(("agent", "backend"), [(ClaudeCode(), "claude"), (Codex(), "codex")], ids=["claude", "codex"])
def test_a_night_trains_a_skill_on_what_was_asked_for(
    agent: Agent, backend: str, agents_under_test: Path, tmp_path: Path
) -> None:
    stage = Stage(agent, tmp_path, agents_under_test, script(agent.name))
    project, user_home = tmp_path / "words", tmp_path / "transcripts"
    commit = make_project(project)
    for day, name in enumerate(NAMES[:SESSIONS]):
        adding(project, commit, day, name).write(user_home)
    (tmp_path / "sleep.toml").write_text(SETTINGS)
    state, log = tmp_path / "state", tmp_path / "optimizer.log"
    argv = [
        sys.executable, "-m", "tests.agents_e2e.optimizing", RULE,
        sys.executable, "-m", "skillopt_sleep.cli", "run", "--json", "--target-backend", backend,
        "--optimizer-backend", "anthropic", "--optimizer-model", "scripted",
        "--optimizer-base-url", "http://127.0.0.1:8902", "--from", str(user_home), "--all-projects",
        "--home", str(state), "--config", str(tmp_path / "sleep.toml"),
    ]  # fmt: skip
    environ = {"ANTHROPIC_API_KEY": "x", **stage.environ, "PYTHONPATH": str(CHECKOUT), "OPTIMIZER_LOG": str(log)}
    with stage.box as box:
        ran = box.run(argv, project, environ, 500.0)
    assert ran.code == 0, ran.err
    (edit,) = [edit for skill in json.loads(ran.out)["skills"] for edit in skill["edits"] if edit["text"] == RULE]
    told = edit["evidence"]
    assert (told["kind"], told["before"], told["after"], told["opened"]) == ("replayed", 0.0, 1.0, 1.0), ran.err
    assert (edit["verdict"], told["pairs"]) == ("accept", 3)
    with closing(sqlite3.connect(state / "store.db")) as store:
        (attempts,) = store.execute("SELECT count(*) FROM attempt").fetchone()
        (proposals,) = store.execute("SELECT count(*) FROM proposal").fetchone()
    assert (attempts, proposals) == (4 + 2 * 3, 1)
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert sum("Write practice tasks" in prompt for prompt in asked) == SESSIONS
    assert any("had to say afterwards" in prompt and "FAILED" in prompt for prompt in asked)
