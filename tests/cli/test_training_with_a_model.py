"""Training runs in which a scripted model edits and the simulated agent attempts, over both SDKs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.cli.conftest import Command, Result
from tests.cli.test_nights_with_a_model import prompt_of
from tests.models.scripted import fails, message, serve

RULE = '- Include a section with the heading "Recommendation".'
BACKENDS = ("anthropic", "openai")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillopt_sleep.models.base.LONGEST_PAUSE_S", 0.0)


@pytest.fixture
def bench(surroundings: Path, tmp_path: Path) -> Path:
    """Ten tasks in their splits, and a skill."""
    folder = tmp_path / "bench"
    folder.mkdir()
    checks = [{"kind": "contains", "argument": "## Recommendation"}]
    splits = ["train"] * 3 + ["gate"] * 5 + ["audit"] * 2
    rows = [
        {"id": f"t{n}", "prompt": f"Should we change plan {n}?", "checks": checks, "split": split}
        for n, split in enumerate(splits)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "SKILL.md").write_text("# Memo\n\nOne page.\n")
    return folder


def trained(command: Command, bench: Path, backend: str, *more: str) -> Result:
    players = ("--target-backend", "simulated", "--optimizer-backend", backend, "--optimizer-model", "scripted")
    return command(
        "train", "--tasks", str(bench / "tasks.jsonl"), "--skill", str(bench / "SKILL.md"), *players,
        "--set", "simulated_obedience=1", "--set", "meta_skill=false", "--json", *more,
    )  # fmt: skip


def editing(request: Request) -> Response:
    """A model that proposes the rule that helps."""
    pattern = {"label": "SKILL_DEFECT", "why": "no recommendation", "tasks": ["T1"],
               "edits": [{"op": "add", "anchor": "", "text": RULE}]}  # fmt: skip
    return message(request.path, json.dumps({"patterns": [pattern]}), (900, 50))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_model_edits_what_the_simulated_agent_does_and_is_paid_from_the_budget(
    backend: str, command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, editing)
    done = trained(command, bench, backend)
    assert done.code == 0, done.err
    found = done.document
    assert found["steps"][0]["verdict"] == "accept"
    assert (found["audit"]["before"], found["audit"]["after"]) == (0, 1)
    assert found["budget"]["tokens"]["spent"] == 950 * len(seen)
    prompts = " ".join(prompt_of(request) for request in seen)
    assert "plan 0" in prompts
    for held_out in range(3, 10):
        assert f"plan {held_out}" not in prompts, "the optimizer saw a task that it may not see"


def test_a_run_that_is_called_again_asks_the_model_nothing(command: Command, server: HTTPServer, bench: Path) -> None:
    seen = serve(server, editing)
    first = trained(command, bench, "openai").document
    asked = len(seen)
    again = trained(command, bench, "openai").document
    assert len(seen) == asked
    assert again["steps"] == first["steps"]
    assert again["budget"]["tokens"] == first["budget"]["tokens"]


def test_a_budget_without_a_first_comparison_is_its_own_exit_code_and_a_larger_one_goes_on(
    command: Command, server: HTTPServer, bench: Path
) -> None:
    seen = serve(server, editing)
    done = trained(command, bench, "anthropic", "--budget-tokens", "100")
    assert done.code == 5
    assert seen == []
    later = trained(command, bench, "anthropic")
    assert later.code == 0
    assert later.document["run"] == done.document["run"]


def test_a_model_that_fails_is_an_outage_and_no_verdict_on_the_skill(
    command: Command, server: HTTPServer, bench: Path
) -> None:
    serve(server, fails(500))
    done = trained(command, bench, "openai")
    assert done.code == 3
    assert done.document["error"]["code"] == "needs_person"
    assert {step["verdict"] for step in done.document["steps"]} == {"infra_error"}
