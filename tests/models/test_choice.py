"""What `auto` takes, and whom it never takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.config.roles import Models
from skillopt_sleep.errors import ConfigError, UsageError
from skillopt_sleep.models import choice, pinned
from skillopt_sleep.models.choice import Part, destination, part_of, server_at
from skillopt_sleep.models.making import completer_of
from skillopt_sleep.models.openai import OpenAICompleter
from skillopt_sleep.paths import Home

KEYS = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "DEEPSEEK_API_KEY": "d"}


def part(folder: Path, environ: dict[str, str] | None = None, **models: str) -> Part:
    return part_of(Models.model_validate(models), "optimizer", folder, environ or {})


@pytest.fixture
def with_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the pulled model in its full size, and the runtime at hand."""
    with (tmp_path / pinned.MODEL.file).open("wb") as file:
        file.truncate(pinned.MODEL.size)
    monkeypatch.setattr(choice, "runs_here", lambda: True)
    return tmp_path


def test_with_nothing_it_is_recorded_and_says_so(tmp_path: Path) -> None:
    found = part(tmp_path)
    assert (found.backend, found.model) == ("recorded", None)
    assert "no model" in found.why


def test_a_key_alone_names_nobody(tmp_path: Path) -> None:
    found = part(tmp_path, KEYS)
    assert found.backend == "recorded"
    assert "ANTHROPIC_API_KEY, OPENAI_API_KEY, DEEPSEEK_API_KEY is set" in found.why
    assert part(tmp_path, KEYS, optimizer="some-model").backend == "recorded"


@pytest.mark.parametrize(
    ("key", "url", "backend"),
    [
        ("optimizer_base_url", "http://127.0.0.1:9999/v1", "openai"),
        ("optimizer_base_url", "https://api.deepseek.com", "deepseek"),
        ("optimizer_base_url", "https://x.openai.azure.com", "azure"),
        ("optimizer_base_url", "http://127.0.0.1:11434/v1", "ollama"),
        ("anthropic_base_url", "http://127.0.0.1:9999", "anthropic"),
        ("openai_base_url", "http://127.0.0.1:9999/v1", "openai"),
    ],
)
def test_a_model_with_an_address_is_taken_with_that_providers_key(
    key: str, url: str, backend: str, tmp_path: Path
) -> None:
    found = part(tmp_path, KEYS, optimizer="m", **{key: url})
    assert (found.backend, found.base_url) == (backend, url)
    assert f"models.{key}" in found.why
    assert part(tmp_path, KEYS, **{key: url}).backend == "recorded", "an address without a model"


def test_the_environments_address_is_no_name_either(tmp_path: Path) -> None:
    environ = {**KEYS, "OPENAI_BASE_URL": "http://127.0.0.1:9999/v1", "AZURE_OPENAI_ENDPOINT": "https://x.example"}
    assert part(tmp_path, environ, optimizer="m").backend == "recorded"


def test_the_pulled_model_is_taken_where_it_can_run(with_pulled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert part(with_pulled, KEYS).backend == "local"
    assert part(with_pulled, backend="recorded").backend == "recorded"
    (with_pulled / pinned.MODEL.file).write_bytes(b"half of it")
    assert part(with_pulled).backend == "recorded"
    monkeypatch.setattr(choice, "runs_here", lambda: False)
    assert part(with_pulled).backend == "recorded"


def test_a_model_file_that_is_named_is_local(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    assert part(tmp_path, optimizer=str(tmp_path / "own.gguf")).backend == "local"
    assert part(tmp_path, optimizer=str(tmp_path / "none.gguf")).backend == "recorded"


def test_a_backend_that_is_named_is_taken_whatever_is_there(with_pulled: Path) -> None:
    assert part(with_pulled, KEYS, backend="anthropic", optimizer="m").backend == "anthropic"
    named = part(with_pulled, backend="anthropic", optimizer_backend="deepseek", optimizer="m")
    assert (named.backend, named.why) == ("deepseek", "")


def test_each_role_has_its_own_model_address_key_and_effort(tmp_path: Path) -> None:
    models = Models.model_validate(
        {
            "target_backend": "ollama", "target": "small", "target_base_url": "http://127.0.0.1:1/v1",
            "optimizer_backend": "deepseek", "optimizer": "large", "optimizer_key": "MINE", "optimizer_effort": "high",
            "judge_backend": "anthropic", "judge": "fair", "judge_effort": "low",
        }
    )  # fmt: skip
    environ = {**KEYS, "MINE": "key-of-mine"}
    made = {}
    for role in ("target", "optimizer", "judge"):
        completer = completer_of(part_of(models, role, tmp_path, environ), Home(tmp_path), environ)
        assert completer is not None
        made[role] = (completer.model, completer.where)
    assert made == {
        "target": ("small", "127.0.0.1:1"),
        "optimizer": ("large", "api.deepseek.com"),
        "judge": ("fair", "api.anthropic.com"),
    }
    optimizer = completer_of(part_of(models, "optimizer", tmp_path, environ), Home(tmp_path), environ)
    assert isinstance(optimizer, OpenAICompleter)
    assert optimizer._client.api_key == "key-of-mine"


def test_a_known_host_is_known_by_the_whole_of_it() -> None:
    assert server_at("https://api.deepseek.com.evil.example") == "openai"
    assert server_at("http://127.0.0.1:8000/v1") == "vllm"
    assert server_at("http://127.0.0.1:8001/v1") == "openai"


def test_a_model_without_a_name_and_a_backend_that_there_is_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no optimizer model is named"):
        completer_of(Part("optimizer", "deepseek"), Home(tmp_path), KEYS)
    with pytest.raises(ConfigError, match="has no backend 'simulated'"):
        completer_of(Part("optimizer", "simulated"), Home(tmp_path), KEYS)
    with pytest.raises(UsageError, match="no optimizer model") as refused:
        completer_of(Part("optimizer", "local"), Home(tmp_path), KEYS)
    assert "model pull" in refused.value.remedy


def test_a_key_in_the_place_of_a_name_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="optimizer_key should be the NAME") as refused:
        Models.model_validate({"optimizer_key": "sk-live-0123456789abcdef"})
    assert "sk-live" not in "; ".join(one["msg"] for one in refused.value.errors())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("backend", "where"),
    [("recorded", ""), ("local", ""), ("handoff", ""), ("deepseek", "api.deepseek.com"), ("ollama", "127.0.0.1:11434"),
     ("claude", "signed in"), ("openai", "environment"), ("plugin:x", "plugin:x")],
)  # fmt: skip
def test_where_prompts_would_go_is_told_in_words(backend: str, where: str) -> None:
    told = destination(Part("optimizer", backend))
    assert where in told
    assert bool(told) is bool(where)
    assert destination(Part("optimizer", "openai", base_url="https://me:pw@box.example:8443/v1")) == "box.example:8443"
