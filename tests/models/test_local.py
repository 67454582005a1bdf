"""An open model in this process. The tests of the tier `model` want SKILLOPT_MODEL (a GGUF file) and xllamacpp."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from skillopt_core.asking import Prompt
from skillopt_core.schemas import Schema
from skillopt_sleep.budget import Budget, Limits
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.errors import ModelError
from skillopt_sleep.models.base import CallFailed, Completion, Constrained, Reply
from skillopt_sleep.models.conversing import Conversation, Sampling
from skillopt_sleep.models.local import LocalModel
from skillopt_sleep.redact import Redacted
from tests.models.ledgers import Book, Replies

SCHEMA = {
    "type": "object",
    "properties": {"rule": {"type": "string", "maxLength": 40}, "keep": {"enum": [3, 7]}},
    "required": ["rule", "keep"],
    "additionalProperties": False,
}


class Held:
    """A model that says how it was asked."""

    model, where = "held", "here"

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        return Reply(f"free: {prompt}", None)

    def complete_as(self, prompt: Redacted, max_output: int, schema: Schema) -> Reply:
        return Reply(f"held to {sorted(schema)}: {prompt}", None)


def test_a_prompt_with_a_schema_reaches_a_model_that_can_be_held_to_it() -> None:
    completion = Completion(
        Held(), Budget(Limits(), Book(), FixedClock(0)), Replies(), night="n", role="optimizer", redact=Redacted,
        sleep=lambda _seconds: None,
    )  # fmt: skip
    assert completion(["a", Prompt("b", SCHEMA)]) == [
        "free: a",
        "held to ['additionalProperties', 'properties', 'required', 'type']: b",
    ]


def test_without_the_runtime_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ModelError, match="not installed") as refused:
        LocalModel(tmp_path / "model.gguf")
    assert "skillopt-sleep[local]" in refused.value.remedy


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (the extra `local`)")
    with pytest.raises(ModelError, match="no such file"):
        LocalModel(tmp_path / "absent.gguf")
    (tmp_path / "text.gguf").write_text("no model", "utf-8")
    with pytest.raises(ModelError, match="holds no model"):
        LocalModel(tmp_path / "text.gguf").complete(Redacted("hello"), 1)


@pytest.fixture(scope="module")
def model() -> LocalModel:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (the extra `local`)")
    return LocalModel(Path(os.environ["SKILLOPT_MODEL"]), context=1024)


@pytest.mark.model
def test_the_same_question_has_the_same_answer(model: LocalModel) -> None:
    asked = Redacted("Name three rivers of Europe, nothing else.")
    first = model.complete(asked, 40)
    assert first.text == model.complete(asked, 40).text
    assert first.usage
    assert first.usage.input
    assert model.complete(asked, 3).truncated


@pytest.mark.model
def test_samples_differ_by_their_seed_alone(model: LocalModel) -> None:
    asked = Conversation(Redacted("Be inventive."), Redacted("Name a river."))

    def said(seed: int) -> str:
        return model.converse(asked, Sampling(12, 1.2, seed)).text

    assert said(1) == said(1)
    assert len({said(seed) for seed in range(5)}) > 1


@pytest.mark.model
def test_an_answer_can_be_held_to_a_schema(model: LocalModel) -> None:
    assert isinstance(model, Constrained)
    found = json.loads(model.complete_as(Redacted("Write a rule about rivers."), 80, SCHEMA).text)
    assert found["keep"] in {3, 7}
    assert len(found["rule"]) <= 40


@pytest.mark.model
def test_a_prompt_beyond_the_context_is_a_failed_call_that_cost_nothing(model: LocalModel) -> None:
    with pytest.raises(CallFailed, match="context") as failed:
        model.complete(Redacted("river " * 2000), 10)
    assert failed.value.cost == "none"
