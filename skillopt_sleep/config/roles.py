"""Who attempts, who edits, who judges: the section [models] of sleep.toml."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, get_args

from pydantic import AfterValidator, Field, model_validator

from skillopt_sleep.config.section import Amount, Section, Weight, Word

COMPATIBLE: Final = ("azure", "deepseek", "ollama", "vllm", "minimax", "lmstudio")
"""Servers that speak Chat Completions, each with an address, keys and ways of its own (models/presets.py)."""
BACKENDS: Final = (
    "auto", "recorded", "simulated", "local", "anthropic", "openai", *COMPATIBLE, "claude", "codex", "copilot",
    "handoff",
)  # fmt: skip
PLUGIN: Final = "plugin:"
"""Before the name of an agent or model that another distribution brings (docs/plugins.md)."""
Role = Literal["target", "optimizer", "judge"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
_PLACE: Final = re.compile(r"[A-Z][A-Z0-9_]*|[/~].*")


def _backend(text: str) -> str:
    if text not in BACKENDS and not (text.startswith(PLUGIN) and text != PLUGIN):
        raise ValueError(f"should be {', '.join(map(repr, BACKENDS))}, or '{PLUGIN}' with the name of a plugin")
    return text


Backend = Annotated[str, AfterValidator(_backend)]


class Price(Section):
    """US dollars for a million tokens."""

    input: Weight = Field(description="A million tokens of input.")
    output: Weight = Field(description="A million tokens of output.")


class Models(Section):
    """Who attempts, who edits, who judges. Keys never stand here, only where they are."""

    backend: Backend = Field(
        default="auto",
        description="recorded: no model at all, no cost; anthropic, openai, azure, deepseek, ollama, vllm, minimax, "
        "lmstudio, local, handoff: who groups what you said and phrases rules; auto: an address or a model file that "
        "you named, or the model that you pulled, else recorded.",
    )
    target_backend: Backend | None = Field(
        default=None, description="Backend that attempts, if another.", examples=["claude"]
    )
    optimizer_backend: Backend | None = Field(
        default=None, description="Backend that edits, if another.", examples=["anthropic"]
    )
    judge_backend: Backend | None = Field(
        default=None, description="Backend that judges, if another.", examples=["openai"]
    )
    target: Word | None = Field(default=None, description="Model that attempts.", examples=["name-of-a-model"])
    optimizer: Word | None = Field(default=None, description="Model that edits.", examples=["name-of-a-model"])
    judge: Word | None = Field(default=None, description="Model that judges.", examples=["name-of-a-model"])
    target_base_url: Word | None = Field(
        default=None, description="Address of who attempts.", examples=["http://127.0.0.1:11434/v1"]
    )
    optimizer_base_url: Word | None = Field(
        default=None, description="Address of who edits.", examples=["https://name.openai.azure.com"]
    )
    judge_base_url: Word | None = Field(
        default=None, description="Address of who judges.", examples=["http://127.0.0.1:8000/v1"]
    )
    target_key: Word | None = Field(
        default=None,
        description="Where the key of who attempts is: the name of a variable or systemd credential, or a file that "
        "only you can read. Never the key itself.",
        examples=["DEEPSEEK_API_KEY"],
    )
    optimizer_key: Word | None = Field(
        default=None, description="Where the key of who edits is.", examples=["~/.config/keys/optimizer"]
    )
    judge_key: Word | None = Field(
        default=None, description="Where the key of who judges is.", examples=["JUDGE_API_KEY"]
    )
    target_effort: Effort | None = Field(
        default=None, description="How hard who attempts should think, where it can be told.", examples=["low"]
    )
    optimizer_effort: Effort | None = Field(
        default=None, description="How hard who edits should think.", examples=["high"]
    )
    judge_effort: Effort | None = Field(
        default=None, description="How hard who judges should think.", examples=["medium"]
    )
    target_temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        default=None,
        description="Temperature of attempts by a chat model, if not the provider's own (some models refuse any); 0: "
        "deterministic.",
        examples=[0.7],
    )
    anthropic_base_url: Word | None = Field(
        default=None, description="Address of the Messages API, if another.", examples=["http://127.0.0.1:8080"]
    )
    openai_base_url: Word | None = Field(
        default=None,
        description="Address of any server that speaks Chat Completions.",
        examples=["http://127.0.0.1:8080/v1"],
    )
    max_output: Annotated[int, Field(ge=16, le=1_000_000)] = Field(
        default=2048, description="Tokens that one reply may have; they are reserved before the call."
    )
    parallel: Annotated[int, Field(ge=1, le=64)] = Field(default=4, description="Calls that run at a time.")
    requests_per_minute: Amount | None = Field(
        default=None, description="Calls that one provider lets through in a minute.", examples=[50]
    )
    tokens_per_minute: Amount | None = Field(
        default=None, description="Tokens that one provider lets through in a minute.", examples=[40_000]
    )
    prices: dict[Word, Price] = Field(
        default={},
        description="US dollars for a million tokens, for the limits in dollars, in place of the providers' own list "
        "prices (docs/models.md).",
        examples=[{"name-of-a-model": {"input": 3.0, "output": 15.0}}],
    )

    @model_validator(mode="after")
    def _keys_are_places(self) -> Models:
        """Checked for the whole section, so that what is refused is not quoted: it may be a key."""
        for role in ROLES:
            place = getattr(self, f"{role}_key")
            if place is not None and not _PLACE.fullmatch(place):
                raise ValueError(f"{role}_key should be the NAME of a variable or a path, never the key itself")
        return self
