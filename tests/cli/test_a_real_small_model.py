"""A night with a real model of half a billion parameters: whatever it says does no harm and costs no more than allowed.

Wants SKILLOPT_MODEL (a GGUF file) and the dependency group `model`.
"""

from __future__ import annotations

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
from tests.cli.conftest import Command

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
