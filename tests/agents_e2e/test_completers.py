"""The real command lines as completers: one prompt, one answer, no tools, nothing of the person's but the login."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from skillopt_sleep.agents.completing import CommandLineCompleter
from skillopt_sleep.agents.native import Command, Ended, Run, Theirs
from skillopt_sleep.budget import Usage
from skillopt_sleep.cli.demonstration import lay_out
from skillopt_sleep.errors import NotSignedIn
from skillopt_sleep.models.base import CallFailed
from skillopt_sleep.redact import Redacted
from tests.agents_e2e.agents import AGENTS, Agent, Codex
from tests.agents_e2e.box import Box
from tests.agents_e2e.runs import PATIENCE, Stage

pytestmark = [pytest.mark.agents, pytest.mark.slow]

NAMES = {"claude-code": "claude", "codex": "codex", "copilot-cli": "copilot"}
PHRASE = "Group the items of tonight"
PROMPT = Redacted(f'--help\n{PHRASE}; answer with {{"kinds": []}}, `echo $HOME` and "quotes".')
RULE = "Do not run `git push --force`."
HARMLESS = {"request_user_input"}
"""Of Codex: a question to the person, who is not there."""


@pytest.fixture(params=AGENTS, ids=[agent.name for agent in AGENTS])
def agent(request: pytest.FixtureRequest) -> Agent:
    return request.param  # type: ignore[no-any-return]


def through(box: Box, ran: list[Command]) -> Run:
    """The box as what runs a command: in namespaces, with the scripted model as the only address."""

    def run(command: Command) -> Ended:
        ran.append(command)
        done = box.run(command.argv, command.folder, command.environ, command.seconds)
        return Ended(done.code, done.out.encode(), done.err.encode(), done.seconds)

    return run


def files_of(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


def own_things(stage: Stage) -> None:
    """What a person has beside a login, each of which would be told to the model."""
    for memory in (".claude/CLAUDE.md", ".codex/AGENTS.md", ".copilot/copilot-instructions.md", "AGENTS.md"):
        (stage.home / memory).parent.mkdir(exist_ok=True)
        (stage.home / memory).write_text("PRIVATE memory")
    for place in (".claude", ".codex", ".copilot", ".agents"):
        skill = stage.home / place / "skills/own/SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("---\nname: own\ndescription: PRIVATE skill\n---\n")


def made(stage: Stage, bin_folder: Path, environ: Mapping[str, str], run: Run) -> CommandLineCompleter:
    name = NAMES[stage.agent.name]
    theirs = Theirs(stage.home, {**stage.environ, **environ})
    return CommandLineCompleter(name, theirs, commands={name: [str(bin_folder / name)]}, run=run, seconds=PATIENCE)


def test_one_prompt_has_one_answer_with_the_agents_own_figures_and_nothing_of_the_persons(
    agent: Agent, tmp_path: Path, agents_under_test: Path
) -> None:
    stage = Stage(agent, tmp_path, agents_under_test, {PHRASE: [{"text": '{"kinds": []}'}]})
    own_things(stage)
    ran: list[Command] = []
    with stage.box as box:
        reply = made(stage, agents_under_test, {"OTHER_API_KEY": "key-of-another"}, through(box, ran)).complete(
            PROMPT, 700
        )
        asked = box.requests()
    (request,) = asked
    told = json.dumps(request["body"])
    assert json.dumps(PROMPT)[1:-1] in told
    assert "PRIVATE" not in told
    assert set(request["tools"]) <= HARMLESS
    spent = request["tokens"]
    assert reply.usage == Usage(spent["input"] + spent["cached"], spent["output"])
    assert reply.text == ('{"kinds": []}' if request["tools"] else "ok"), "the server has no script without tools"
    (command,) = ran
    assert "OTHER_API_KEY" not in command.environ
    assert not command.home.exists(), "its rooms are gone"
    if agent.name == "claude-code":
        assert request["body"]["max_tokens"] == 700


def test_an_agent_that_nobody_is_signed_in_to_stops_the_work_before_it_spends(
    agent: Agent, tmp_path: Path, agents_under_test: Path
) -> None:
    stage = Stage(agent, tmp_path, agents_under_test, {})
    stage.environ = {name: value for name, value in stage.environ.items() if name in {"PATH", "XDG_CACHE_HOME"}}
    (stage.home / ".codex/config.toml").unlink(missing_ok=True)
    with stage.box as box, pytest.raises(NotSignedIn):
        made(stage, agents_under_test, {}, through(box, [])).complete(PROMPT, 700)


def test_a_night_whose_rules_a_real_codex_phrases(tmp_path: Path, agents_under_test: Path) -> None:
    """The product itself runs in the box and starts Codex by its name, as it would on a person's machine."""
    user_home, project = lay_out(tmp_path / "sample")
    answer = {"kinds": [{"items": [1, 2, 3, 4, 5, 6, 7, 8], "name": "pushes", "rule": RULE}]}
    stage = Stage(Codex(), tmp_path, agents_under_test, {"said: ": [{"text": json.dumps(answer)}]})
    shutil.copytree(stage.home / ".codex", user_home / ".codex", dirs_exist_ok=True)
    before, state = files_of(user_home), tmp_path / "state"
    argv = [
        sys.executable,
        "-m",
        "skillopt_sleep.cli",
        "run",
        "--json",
        "--optimizer-backend",
        "codex",
        "--home",
        str(state),
    ]
    with stage.box as box:
        done = box.run(argv, project, {**stage.environ, "HOME": str(user_home)}, PATIENCE)
        asked = box.requests()
    assert done.code == 0, done.err
    told = json.loads(done.out)
    (use,) = told["models"]
    assert (use["backend"], use["host"], use["prompts"], use["failed"]) == ("codex", "127.0.0.1:8901", len(asked), {})
    assert RULE in {edit["text"].removeprefix("- ") for skill in told["skills"] for edit in skill["edits"]}
    assert files_of(user_home) == before, "nothing was written where the person's sessions are"


@pytest.mark.parametrize("agent", [one for one in AGENTS if one.name == "claude-code"], ids=["claude-code"])
def test_a_model_that_is_not_there_is_a_call_that_failed(agent: Agent, tmp_path: Path, agents_under_test: Path) -> None:
    stage = Stage(agent, tmp_path, agents_under_test, {})
    with stage.box as box, pytest.raises(CallFailed):
        made(stage, agents_under_test, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, through(box, [])).complete(
            PROMPT, 700
        )
