"""Whole nights in which a real agent attempts: the product itself runs in the box and starts the agent by its name.

The home is a made one (tests/night/made.py); the model is the scripted one, and the rules stand in the skill's body
alone: only an agent that hands the body over can make a difference.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.agents.native import LINES
from tests.agents_e2e.agents import Agent, ClaudeCode, Codex, CopilotCli
from tests.agents_e2e.box import Ran
from tests.agents_e2e.runs import Stage
from tests.night import made

pytestmark = [pytest.mark.agents, pytest.mark.slow, pytest.mark.sandbox]

NAMES = {"claude-code": "claude", "codex": "codex", "copilot-cli": "copilot"}
PATIENCE = 400.0
SETTINGS = "[agents]\ndeterministic = true\n[budget]\ntokens = 10_000_000\n"


def opening(agent: str) -> dict[str, Any]:
    """How the model opens the learned skill: Claude Code has a tool for it, with Codex it reads the file."""
    if agent == "codex":
        return {"shell": f"cat $HOME/{LINES['codex'].skills}/{made.SKILL}/SKILL.md"}
    return {"tool": "Skill", "arguments": {"skill": made.SKILL}}


@dataclass(frozen=True)
class Night:
    """What `run` said, what was asked of the model, and where its state is."""

    ran: Ran
    asked: list[dict[str, Any]]
    state: Path

    @property
    def document(self) -> dict[str, Any]:
        assert self.ran.out, self.ran.err
        return dict(json.loads(self.ran.out))

    @property
    def edits(self) -> dict[str, dict[str, Any]]:
        every = [edit for skill in self.document["skills"] for edit in skill["edits"]]
        return {name: edit for name in (made.HELPS, made.HURTS) for edit in every if name in edit["text"]}

    def counted(self, query: str) -> int:
        with closing(sqlite3.connect(self.state / "store.db")) as store:
            return int(store.execute(query).fetchone()[0])


def night(
    agent: Agent, folder: Path, bin_folder: Path, looks: int, stamps: int, *, opens: bool = True,
    signed_in: bool = True, words: tuple[str, ...] = (), settings: str = SETTINGS,
) -> Night:  # fmt: skip
    """`run` over a made home with a real agent, inside the box."""
    script = made.script(opening(agent.name) if opens else None)
    stage = Stage(agent, folder, bin_folder, {key: list(map(dict, steps)) for key, steps in script.items()})
    home = made.make(folder, looks, stamps)
    (folder / "sleep.toml").write_text(settings)
    state, environ = folder / "state", dict(stage.environ)
    if not signed_in:
        (stage.home / ".codex/config.toml").unlink(missing_ok=True)
        environ = {name: environ[name] for name in ("HOME", "PATH", "XDG_CACHE_HOME")}
    argv = [sys.executable, "-m", "skillopt_sleep.cli", "run", "--json", "--target-backend", NAMES[agent.name], *words]
    argv += ["--project", str(home.project), "--home", str(state), "--config", str(folder / "sleep.toml")]
    with stage.box as box:
        ran = box.run(argv, home.project, environ, PATIENCE)
        return Night(ran, [asked for asked in box.requests() if asked["task"]], state)


def test_a_night_with_codex_accepts_what_helps_and_rejects_what_hurts(agents_under_test: Path, tmp_path: Path) -> None:
    done = night(Codex(), tmp_path, agents_under_test, 9, 6)
    helps, hurts = done.edits[made.HELPS], done.edits[made.HURTS]
    assert (done.ran.code, done.document["evidence"]) == (0, "replayed"), done.ran.err
    told = helps["evidence"]
    assert (helps["verdict"], told["kind"], told["opened"], told["coverage"]) == ("accept", "replayed", 1.0, 1.0)
    assert (told["counts"]["wins"], told["e_value"] > 100, told["deterministic"]) == (9.0, True, True)
    assert (hurts["verdict"], hurts["evidence"]["counts"]["losses"]) == ("reject", 6.0)
    attempts = done.counted("SELECT count(*) FROM attempt")
    assert done.counted("SELECT count(DISTINCT native_session) FROM attempt") == attempts == 52
    assert done.counted("SELECT count(*) FROM proposal") == 1
    spent = done.document["budget"]["tokens"]
    given = sum(sum(asked["tokens"].values()) for asked in done.asked)
    assert (spent["spent"], spent["exact"]) == (given, True), "by the agent's own figures"


def test_a_backtest_with_claude_code_accepts_what_helps_and_rejects_what_hurts(
    agents_under_test: Path, tmp_path: Path
) -> None:
    done = night(ClaudeCode(), tmp_path, agents_under_test, 9, 6, words=("--as-of", made.CUT))
    helps, hurts = done.edits[made.HELPS], done.edits[made.HURTS]
    assert (done.ran.code, done.document["evidence"]) == (0, "replayed"), done.ran.err
    assert (helps["verdict"], helps["evidence"]["counts"]["wins"], helps["evidence"]["opened"]) == ("accept", 9.0, 1.0)
    assert (hurts["verdict"], hurts["evidence"]["counts"]["losses"]) == ("reject", 6.0)
    assert done.counted("SELECT count(*) FROM attempt") == 52
    assert done.counted("SELECT count(*) FROM proposal") == 0, "a backtest stages nothing"


def test_a_skill_that_the_agent_never_opens_has_no_exposure(agents_under_test: Path, tmp_path: Path) -> None:
    """The model would obey, had it been shown the rule."""
    done = night(CopilotCli(), tmp_path, agents_under_test, 2, made.NONE, opens=False)
    verdict = done.edits[made.HELPS]
    assert (verdict["verdict"], verdict["evidence"]["opened"]) == ("no_exposure", 0.0)


def test_a_night_that_nobody_is_signed_in_for_ends_before_it_spends(agents_under_test: Path, tmp_path: Path) -> None:
    done = night(ClaudeCode(), tmp_path, agents_under_test, 2, made.NONE, signed_in=False)
    assert (done.ran.code, done.document["error"]["code"]) == (1, "not_signed_in")
    assert done.asked == []
    assert done.counted("SELECT coalesce(sum(settled_tokens), 0) FROM spend") == 0
