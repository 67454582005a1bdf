"""One night on the shipped sample, run through the command line, for all tests of commands to look at."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from skillopt_sleep.cli.__main__ import run
from skillopt_sleep.cli.demonstration import lay_out


@dataclass(frozen=True)
class Result:
    """What one command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Command = Callable[..., Result]


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME with the sample's transcripts, a project, a home of ours, and nothing of this machine's environment."""
    user_home, project = lay_out(tmp_path)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "SKILLOPT_CONFIG", "XDG_CONFIG_HOME",
                 "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "SKILLOPT_TRIGGER", "XDG_DATA_HOME"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(user_home))
    monkeypatch.setenv("SKILLOPT_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(project)
    return tmp_path


@pytest.fixture
def command(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run one command in this process."""

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        code = run(list(arguments))
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return call


@pytest.fixture(scope="session")
def slept_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder after one night with the command line; tests work on copies of it."""
    folder = tmp_path_factory.mktemp("slept")
    with pytest.MonkeyPatch.context() as patch:
        user_home, project = lay_out(folder)
        patch.setenv("HOME", str(user_home))
        patch.setenv("SKILLOPT_HOME", str(folder / "state"))
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "SKILLOPT_CONFIG", "XDG_CONFIG_HOME"):
            patch.delenv(name, raising=False)
        patch.chdir(project)
        assert run(["init", "-q"]) == 0
        assert run(["run", "-q"]) == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def morning(slept_once: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Commands the morning after, on a state that is put back afterwards."""
    kept = slept_once.with_name("kept")
    shutil.copytree(slept_once / "state", kept)
    monkeypatch.setenv("HOME", str(slept_once / "home"))
    monkeypatch.setenv("SKILLOPT_HOME", str(slept_once / "state"))
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "SKILLOPT_CONFIG", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(slept_once / "shop")

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        code = run(list(arguments))
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    yield call
    shutil.rmtree(slept_once / "state")
    kept.rename(slept_once / "state")
    for folder in (".claude", ".codex", ".agents"):
        shutil.rmtree(slept_once / "shop" / folder, ignore_errors=True)


@pytest.fixture
def server(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    """The scripted server, named as both SDKs know it."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(key, "x")
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    return httpserver
