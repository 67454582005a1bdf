"""A real agent as who attempts: named by its version and by the files that come along, and shown no checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt_sleep import casting
from skillopt_sleep.config import Config
from skillopt_sleep.domain.answers import Need
from skillopt_sleep.errors import ConfigError, UsageError
from skillopt_sleep.paths import Home
from skillopt_sleep.train.loading import load
from skillopt_sleep.train.recipe import Recipe
from tests.agents.pretending import pretender
from tests.replay.test_native import repository

HOME = Home(Path("nowhere"))
TEXT = "---\nname: memo\ndescription: x\n---\n"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\necho 1.2.3\n")
    program.chmod(0o755)
    models = {"backend": "claude", "target": "m"}
    return Config.model_validate({"models": models, "agents": {"commands": {"claude": (str(program),)}}})


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "memo"
    folder.mkdir()
    (folder / "SKILL.md").write_text(TEXT)
    return folder / "SKILL.md"


def test_it_is_named_by_program_version_model_and_the_files_that_come_along(config: Config, skill: Path) -> None:
    (skill.parent / "reference.md").write_text("one")
    player = casting.attempter(config, Recipe(), [skill], home=HOME)
    assert (player.named["name"], player.named["version"], player.named["model"]) == ("claude", "1.2.3", "m")
    walls = {Need.SANDBOX} if "no sandbox" not in player.named["settings"] else set()
    assert (player.evidence, player.offers) == ("replayed", {Need.TOOLS, Need.FILES, *walls})
    (skill.parent / "reference.md").write_text("two")
    assert casting.attempter(config, Recipe(), [skill], home=HOME).named["settings"] != player.named["settings"]


def test_an_agent_is_never_given_the_tasks_with_the_skill(config: Config, skill: Path) -> None:
    beside = skill.parent / "bench/tasks.jsonl"
    with pytest.raises(UsageError, match="lies in the folder of the skill"):
        casting.attempter(config, Recipe(), [skill], [beside], home=HOME)
    casting.attempter(config, Recipe(), [skill], [skill.parent.parent / "tasks.jsonl"], home=HOME)
    alone = skill.parent / "memo.md"
    alone.write_text(TEXT)
    casting.attempter(config, Recipe(), [alone], [beside], home=HOME)


def test_a_program_that_is_no_agent_is_refused_before_anything_is_made(config: Config, tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(ConfigError, match="--version ended with status 1"):
        casting.attempter(config, Recipe(), home=HOME)


def test_a_line_that_names_a_commit_starts_from_a_copy_of_it_with_its_files_laid_over(tmp_path: Path) -> None:
    commit = repository(tmp_path / "shop", {"a.txt": "committed", "b.txt": "committed"})
    (tmp_path / "shop/a.txt").write_text("changed since")
    row = {"id": "t", "prompt": "Read", "checks": [{"kind": "contains", "argument": "x"}], "files": {"b.txt": "laid"}}
    (tmp_path / "tasks.jsonl").write_text(json.dumps({**row, "repository": "shop", "commit": commit}) + "\n")
    program = pretender(tmp_path / "agent", {})
    config = Config.model_validate(
        {"models": {"backend": "claude"}, "agents": {"commands": {"claude": (str(program),)}}}
    )
    judges, _ = casting.judges([casting.attempter(config, Recipe(), home=Home(tmp_path / "state"))])
    (task,) = load(tmp_path / "tasks.jsonl", judges)
    work = tmp_path / "work"
    work.mkdir()
    casting._lay_out(task.as_task("t"), work)
    assert {name: (work / name).read_text() for name in ("a.txt", "b.txt")} == {"a.txt": "committed", "b.txt": "laid"}
