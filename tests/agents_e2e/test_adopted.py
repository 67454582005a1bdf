"""A skill that was adopted is offered by every agent: its name and description stand in the first request."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.cli.demonstration import lay_out
from tests.agents_e2e.agents import AGENTS, Agent
from tests.agents_e2e.runs import Stage
from tests.agents_e2e.tasks import Steps

pytestmark = [pytest.mark.agents, pytest.mark.slow]

SKILL = "shop-lessons"
HELLO = "Say hello and nothing else"


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory, skillopt_sleep_argv: list[str]) -> tuple[Path, list[Path]]:
    """A project for which a night on the sample has learned a skill that was then adopted; and the files written."""
    folder = tmp_path_factory.mktemp("adopted")
    user_home, project = lay_out(folder)

    def command(*words: str) -> dict[str, Any]:
        argv = [*skillopt_sleep_argv, *words, "--json", "--home", str(folder / "state")]
        environ = {"HOME": str(user_home), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(argv, cwd=project, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    night = command("run", "--project", str(project), "--backend", "recorded")
    (proposal,) = [skill["proposal"] for skill in night["skills"] if skill["skill"] == SKILL]
    written = command("adopt", proposal)["targets"]
    return project, [Path(target["path"]) for target in written]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_adopted_skill_is_offered_once_by_its_name_and_description(
    agent: Agent, adopted: tuple[Path, list[Path]], agents_under_test: Path, tmp_path: Path
) -> None:
    project, written = adopted
    text = written[0].read_text(encoding="utf-8")
    description = next(line for line in text.splitlines() if line.startswith("description: "))[13:]
    rule = next(line for line in text.splitlines() if line.startswith("- "))
    script: dict[str, Steps] = {HELLO: [{"text": "Hello."}]}
    stage = Stage(agent, tmp_path, agents_under_test, script, project)
    with stage.box as box:
        stage.headless(HELLO)
        (first,) = [asked["body"] for asked in box.requests() if asked["task"]]
    said = "\n".join(strings(first))
    offers = re.findall(rf"{SKILL}(?:: |</name>\s*<description>){re.escape(description)}", said)
    assert (len(offers), said.count(description)) == (1, 1)
    assert rule not in said, "the skill's text is for the moment at which it is opened"


def strings(value: Any) -> list[str]:
    """All texts inside a request."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in strings(part)]
