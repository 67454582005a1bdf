"""A night with a real model of half a billion parameters: whatever it says does no harm and costs no more than allowed.

Wants SKILLOPT_MODEL (a GGUF file) and the dependency group `model`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.critics.grammar import parse
from skillopt_sleep.domain.sentences import Said
from tests.cli.conftest import Command, Result

CHECKOUT = Path(__file__).parent.parent.parent
BUDGET = 40_000

pytestmark = pytest.mark.model


@contextmanager
def serving(model: str) -> Iterator[str]:
    """The base URL of a server of this model."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (the dependency group `model`)")
    command = [sys.executable, "-m", "tests.models.small_model", model]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        try:
            assert child.stdout is not None
            yield f"http://127.0.0.1:{int(child.stdout.readline())}/v1"
        finally:
            child.terminate()
            child.wait(20)


def test_a_night_with_a_weak_model_ends_well(
    command: Command, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    before = command("run", "--json")
    assert before.code == 0
    with serving(os.environ["SKILLOPT_MODEL"]) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        result = command("run", "--json", "--backend", "openai", "--optimizer-model", "small",
                         "--budget-tokens", str(BUDGET))  # fmt: skip
    ended_well(result, before, surroundings)


def test_a_night_with_a_weak_model_in_the_process_ends_well(command: Command, surroundings: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (the extra `local`)")
    before = command("run", "--json")
    assert before.code == 0
    result = command("run", "--json", "--backend", "local", "--optimizer-model", os.environ["SKILLOPT_MODEL"],
                     "--budget-tokens", str(BUDGET))  # fmt: skip
    ended_well(result, before, surroundings)
    assert result.document["models"][0]["backend"] == "local"


def ended_well(result: Result, before: Result, surroundings: Path) -> None:
    """A night that asked, stayed within its budget, lost nothing, and let through no rule that nobody meant."""
    assert result.code in {0, 3}, result.err
    document = result.document
    (use,) = document["models"]
    assert use["prompts"] >= 1
    assert 0 < document["budget"]["tokens"]["spent"] <= BUDGET
    assert said_by(document) >= said_by(before.document), "what was found without a model is still there"
    for rule in said_by(document) - said_by(before.document):
        (sentence,) = parse(f"- {rule}\n")
        assert isinstance(sentence, Said) or "git push" in rule or "deploy" in rule, rule
    assert not list(surroundings.glob("shop/**/SKILL.md"))


def said_by(document: dict[str, Any]) -> set[str]:
    return {edit["text"].removeprefix("- ") for skill in document["skills"] for edit in skill["edits"]}


def test_an_open_model_in_the_process_attempts_and_edits(command: Command, surroundings: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (the extra `local`)")
    asked = ("France", "Norway", "Spain", "Italy", "Austria", "Poland")
    checks = [{"kind": "contains", "argument": "Source:"}]
    rows = [{"id": c, "prompt": f"Name the capital of {c} in five words at most.", "checks": checks} for c in asked]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "SKILL.md").write_text(
        "---\nname: capitals\ndescription: Names capitals.\n---\n\n# Capitals\n\nBe brief.\n"
    )
    model = os.environ["SKILLOPT_MODEL"]
    done = command(
        "train", "--json", "--tasks", str(tmp_path / "tasks.jsonl"), "--skill", str(tmp_path / "SKILL.md"),
        "--backend", "local", "--target-model", model, "--optimizer-model", model,
        "--set", "split=2:2:2", "--set", "gate=strict", "--set", "repeats=1", "--set", "epochs=1",
    )  # fmt: skip
    assert done.code in {0, 3}, done.err
    (step,) = done.document["steps"]
    assert step["proposed"] == 1
    assert step["before"] is not None
    assert done.document["evidence"] == "replayed"


def test_a_model_file_that_is_not_there_is_named(command: Command, surroundings: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (the extra `local`)")
    done = command("run", "--backend", "local", "--optimizer-model", str(tmp_path / "absent.gguf"))
    assert done.code == 1
    assert "absent.gguf" in done.err
    assert "there is no such file" in done.err
