"""`command` checks on the folder of an attempt: a program for the agent, the real sandbox for it and for the checks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from skillopt_core.types import Missing, Skill, Trajectory
from skillopt_sleep import casting
from skillopt_sleep.config import Config
from skillopt_sleep.domain.answers import Need
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.paths import Home
from skillopt_sleep.train.loading import load
from skillopt_sleep.train.recipe import Recipe
from skillopt_sleep.train.rows import BadTasks
from tests.agents.pretending import pretender

SKILL = Skill("---\nname: memo\ndescription: x\n---\n", "memo")
WORK = "echo made > made.txt; printf '#!/bin/sh\\ngrep -q made made.txt\\n' > check.sh; chmod +x check.sh"


def config(folder: Path, readable: tuple[str, ...] = ()) -> Config:
    program = pretender(folder / "bin", {"go": [{"shell": WORK}, {"text": "done"}]})
    models = {"backend": "claude", "target": "m"}
    agents = {"commands": {"claude": (str(program),)}, "readable": readable}
    return Config.model_validate({"models": models, "agents": agents})


def attempts(
    folder: Path, tasks: Iterable[list[dict[str, Any]]], readable: tuple[str, ...] = ()
) -> list[Trajectory | Missing]:
    file = folder / "tasks.jsonl"
    rows = [{"id": f"t{n}", "prompt": f"go {n}", "checks": checks} for n, checks in enumerate(tasks)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    player = casting.attempter(config(folder, readable), Recipe(), home=Home(folder))
    loaded = [task.as_task(task.id) for task in load(file, casting.judges([player])[0])]
    return list(player.environment.attempt(loaded, SKILL, [0] * len(loaded)))


def runs(*words: str, **more: Any) -> dict[str, Any]:
    return {"kind": "command", "argument": {"run": list(words), **more}}


@pytest.mark.sandbox
def test_a_command_judges_what_the_agent_left_and_sees_no_other_checks_leftovers(tmp_path: Path) -> None:
    spoils = runs("sh", "-c", "rm made.txt; exit 3", status=3)
    there = {"kind": "file_state", "argument": {"path": "made.txt", "equals": "made"}}
    good, bad = attempts(tmp_path, [[spoils, runs("./check.sh"), there], [runs("./check.sh", status=1), there]])
    assert isinstance(good, Trajectory), good
    assert isinstance(bad, Trajectory), bad
    assert (good.score.hard, good.answer) == (1.0, "done")
    assert (bad.score.hard, bad.score.soft) == (0.0, 0.5)


@pytest.mark.sandbox
def test_a_command_that_cannot_be_run_makes_the_attempt_missing(tmp_path: Path) -> None:
    gone, late = attempts(tmp_path, [[runs("no-such-program")], [runs("sleep", "60", seconds=0.5)]])
    assert gone == Missing("the command no-such-program: a program is not there or cannot be run (status 127)")
    assert late == Missing("the command sleep: it was not done within 0.5 s")


def test_without_a_sandbox_such_a_task_is_refused_when_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(casting, "the_walls", lambda: None)
    with pytest.raises(BadTasks) as refused:
        attempts(tmp_path, [[runs("true")]])
    assert Need.SANDBOX not in casting.attempter(config(tmp_path), Recipe(), home=Home(tmp_path)).offers
    assert "checks[0].kind" in str(refused.value)
    assert "none works here" in str(refused.value)
    assert "bubblewrap" in str(refused.value.remedy)


@pytest.mark.sandbox
def test_a_toolchain_of_the_persons_is_there_once_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    tool = tmp_path / "home/tools/bin/tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\ngrep -q made made.txt\n")
    tool.chmod(0o755)
    check = [runs(str(tool))]
    (without,) = attempts(tmp_path, [check])
    assert isinstance(without, Missing)
    (found,) = attempts(tmp_path, [check], readable=("~/tools",))
    assert isinstance(found, Trajectory), found
    assert found.score.hard == 1.0
    spoilt = [runs("sh", "-c", f"echo x > {tool}; test -s made.txt -a ! -w {tool}", status=0)]
    (kept,) = attempts(tmp_path, [spoilt], readable=("~/tools",))
    assert isinstance(kept, Trajectory), kept
    assert tool.read_text().startswith("#!/bin/sh")


@pytest.mark.parametrize(
    ("word", "why"),
    [("~", "whole home"), ("/", "whole home"), ("~/absent", "no such folder"), ("tools", "no such folder")],
)
def test_what_cannot_be_let_be_read_is_refused(
    word: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=why):
        casting.attempter(config(tmp_path, readable=(word,)), Recipe(), home=Home(tmp_path))
