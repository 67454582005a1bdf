"""The page on training knows every key of a recipe, with its default and its meaning."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from skillopt_sleep.cli.__main__ import run
from skillopt_sleep.train.recipe import UPDATE_MODES, Recipe
from skillopt_sleep.train.recipe_files import ALIASES

PAGE = (Path(__file__).parent.parent.parent / "docs/training.md").read_text("utf-8")


def shown(default: object) -> str:
    """A default as the table shows it; nothing for None."""
    if default is None:
        return ""
    if default == ():
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)


@pytest.mark.parametrize("key", Recipe.model_fields)
def test_every_key_is_on_the_page(key: str) -> None:
    field = Recipe.model_fields[key]
    assert f"| `{key}` | {shown(field.default)} | {str(field.description).rstrip('.')} |" in PAGE


def test_the_other_names_are_on_the_page() -> None:
    for name in (*ALIASES, *UPDATE_MODES):
        assert f"`{name}`" in PAGE


def blocks() -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_walk_through_says_what_the_commands_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newcomer who types what stands there sees what stands there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLOPT_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SKILLOPT_CONFIG", str(tmp_path / "sleep.toml"))
    (tmp_path / "sleep.toml").touch()
    monkeypatch.setenv("NO_COLOR", "1")
    files, *shown = blocks()
    subprocess.run(["sh"], input=files, text=True, check=True, cwd=tmp_path)
    commands = [block.splitlines() for block in shown if block.startswith("$ skillopt-sleep ")]
    assert len(commands) == 2
    for first, *said in commands:
        capsys.readouterr()
        assert run(shlex.split(first)[2:]) == 0
        heard = capsys.readouterr()
        told = [line.rstrip() for line in (heard.out + heard.err).splitlines()]
        missing = [line for line in said if line not in told]
        assert not missing, told
