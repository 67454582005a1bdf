"""`sessions --json` over every source: each line has the keys, types and values that the command promises, no more."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import msgspec
import pytest

from skillopt_harvesters import harvesters

Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$")]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Exactly(msgspec.Struct, forbid_unknown_fields=True):
    """All of the keys and no others."""


class Place(Exactly):
    path: Text
    gone: bool


class Prompt(Exactly):
    text: Text
    at: Time | None
    kind: Literal["prompt", "queued", "command", "rejection"]


class Tokens(Exactly):
    input: Count | None
    output: Count | None
    cache_read: Count | None
    cache_write: Count | None


class Line(Exactly):
    """A session (docs/commands.md). What was not computed is null."""

    format: Literal[1]
    id: Annotated[str, msgspec.Meta(pattern="^s-[0-9a-f]{12}$")]
    agent: Text
    native_id: Text
    origin: Literal["interactive", "headless", "subagent", "own"]
    project: Text | None
    cwd: Text | None
    branch: Text | None
    agent_version: Text | None
    models: list[Text]
    started: Time | None
    ended: Time | None
    source: Place
    prompts: list[Prompt]
    answers: Count
    tool_calls: Count
    tool_errors: Count
    interrupts: Count
    tokens: Tokens


Told = Callable[..., str]
AGENTS = {str(harvester.agent) for harvester in harvesters()}


def load(name: str) -> ModuleType:
    """A helper module of the harvesters' tests."""
    path = Path(__file__).parent.parent / "harvesters" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"document_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def told(tmp_path: Path, skillopt_sleep_argv: list[str]) -> Told:
    """Run a command with an empty HOME and a state of its own; gives what it printed."""

    def run(*words: str) -> str:
        environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TZ": "Asia/Kathmandu"}
        argv = [*skillopt_sleep_argv, *words, "--json", "--home", str(tmp_path / "state")]
        done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, check=False)
        assert done.returncode in (0, 3), done.stderr
        return done.stdout.decode("utf-8")

    return run


def checked(said: str) -> list[Line]:
    """Each line, decoded strictly; what holds between the values of one is looked at too."""
    assert said.endswith("\n")
    lines = [msgspec.json.decode(line, type=Line) for line in said.removesuffix("\n").split("\n")]
    for line in lines:
        assert line.agent in AGENTS
        assert line.started is None or line.ended is None or moment(line.started) <= moment(line.ended)
        assert not (line.origin == "subagent" and line.prompts), line.id
        assert not [p.text for p in line.prompts if re.match(r"\s*<(system-reminder|environment_context)>", p.text)]
        assert line.tool_errors <= line.tool_calls
    assert len({line.id for line in lines}) == len({(line.agent, line.native_id) for line in lines}) == len(lines)
    return lines


def moment(time: str) -> tuple[str, float]:
    """A time in its order: seconds may have a fraction or none."""
    whole, _, rest = time.removesuffix("Z").partition(".")
    return whole, float(f"0.{rest or 0}")


def test_a_session_of_each_agent_has_exactly_these_keys(told: Told, tmp_path: Path) -> None:
    samples, made = load("samples"), load("made")
    for make in samples.SAMPLES.values():
        make(tmp_path, made)
    told("harvest")
    lines = checked(told("sessions", "--origin", "all"))
    assert Counter(line.agent for line in lines) == dict.fromkeys(AGENTS, 1)
    for line in lines:
        assert ([p.text for p in line.prompts], line.tool_calls, line.tool_errors) == (samples.PROMPTS, 2, 1)
        assert (line.cwd, line.origin, line.source.gone) == (samples.CWD, "interactive", False)
    one = told("sessions", lines[0].id)
    assert checked(one) == lines[:1]


@pytest.mark.shared
def test_every_source_of_other_people_gives_lines_with_exactly_these_keys(told: Told, shared: Path) -> None:
    harvest: dict[str, Any] = json.loads(told("harvest", "--from", str(shared / "transcripts")))
    lines = checked(told("sessions", "--origin", "all"))
    interactive = checked(told("sessions"))
    assert [line for line in lines if line.origin == "interactive"] == interactive
    assert len(interactive) == harvest["sessions"]["new"] > 200
    others = sum(n for reason, n in harvest["skipped"].items() if reason.endswith(" session"))
    assert len(lines) == len(interactive) + others
    assert {line.agent for line in lines} == AGENTS - {"devin"}
