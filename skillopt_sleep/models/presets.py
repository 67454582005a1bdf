"""Servers that speak Chat Completions, as data: where they are, where their keys are, and in what they differ.

Sources: each provider's own API reference as it stood in autumn 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

from skillopt_sleep.errors import ConfigError

Body = Mapping[str, object]
"""Fields of a request beside model, messages and limit."""
_NOTHING: Final[Mapping[str, Body]] = MappingProxyType({})
_PLAIN: Final[Mapping[int, int]] = MappingProxyType({})


def _efforts(*words: str, **beside: object) -> dict[str, Body]:
    """Each word as `reasoning_effort`, with what goes beside it."""
    return {word: {"reasoning_effort": word, **beside} for word in words}


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of server.

    `base_url` is None where it must be named (or is the SDK's own); `address` is the variable that names it. The first
    of `keys` that is found is the key; a server that is `keyless` is asked without one. `limit` is the field that holds
    the most tokens of an answer, `body` goes into each request, `efforts` are the fields of each effort. `hosts` are
    the ends of the only host names that are let in, over https alone. `codes` says which HTTP status a code of the
    server's own envelope stands for, where errors come with status 200.
    """

    name: str
    base_url: str | None = None
    address: str = ""
    keys: tuple[str, ...] = ()
    keyless: bool = False
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    body: Body = field(default_factory=dict)
    efforts: Mapping[str, Body] = field(default_factory=lambda: _NOTHING)
    hosts: tuple[str, ...] = ()
    path: str = ""
    codes: Mapping[int, int] = field(default_factory=lambda: _PLAIN)

    def effort(self, word: str | None) -> Body:
        """The fields of an effort. Raises `ConfigError` for one that this server does not know."""
        if word is None:
            return {}
        if word not in self.efforts:
            known = ", ".join(self.efforts) or "none at all: leave it out"
            raise ConfigError(f"{self.name} knows no effort {word!r}", where="models", remedy=f"It knows {known}")
        return self.efforts[word]

    def url(self, named: str | None, environ: Mapping[str, str]) -> str | None:
        """The address to use: as named, else by its variable, else its own; None is the SDK's.

        Raises `ConfigError` where there is none, and for a host that is not let in.
        """
        url = named or (environ.get(self.address) if self.address else None) or self.base_url
        if url is None and self.address:
            remedy = f"Set {self.address}, or the role's base_url in sleep.toml"
            raise ConfigError(f"no address is named for {self.name}", where="models", remedy=remedy)
        return _let_in(url, self) if url is not None and self.hosts else url


def _let_in(url: str, preset: Preset) -> str:
    """The address below a host that is let in, with the path that is asked there."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    known = parts.scheme == "https" and host.endswith(preset.hosts) and parts.username is None
    if not known or parts.port not in {None, 443}:
        ends = ", ".join(preset.hosts)
        remedy = f"It is an https address of a host that ends in one of {ends}"
        raise ConfigError(f"this is no address of {preset.name}", where=host or "models", remedy=remedy)
    if parts.path.rstrip("/") not in {"", preset.path.rstrip("/")} or parts.query:
        remedy = f"Name the host alone; {preset.path} is added"
        raise ConfigError(f"this path of {preset.name} is not used", where=host, remedy=remedy)
    return f"https://{host}{preset.path}"


OPENAI: Final = Preset(
    "openai",
    keys=("OPENAI_API_KEY",),
    efforts=_efforts("none", "minimal", "low", "medium", "high", "xhigh", "max"),
)
"""OpenAI, or whatever server OPENAI_BASE_URL names; which limit it knows is seen from its host."""

PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        OPENAI,
        Preset(
            "azure",
            address="AZURE_OPENAI_ENDPOINT",
            keys=("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
            limit="max_completion_tokens",
            efforts=_efforts("none", "minimal", "low", "medium", "high", "xhigh"),
            hosts=(
                ".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com",
                ".openai.azure.us", ".cognitiveservices.azure.us", ".openai.azure.cn", ".cognitiveservices.azure.cn",
            ),
            path="/openai/v1/",
        ),
        Preset(
            "deepseek",
            base_url="https://api.deepseek.com",
            keys=("DEEPSEEK_API_KEY",),
            efforts={
                "none": {"thinking": {"type": "disabled"}},
                **_efforts("low", "medium", "high", "max", thinking={"type": "enabled"}),
            },
        ),
        Preset(
            "ollama",
            base_url="http://127.0.0.1:11434/v1",
            keys=("OLLAMA_API_KEY",),
            keyless=True,
            efforts=_efforts("none", "low", "medium", "high"),
        ),
        Preset(
            "vllm",
            base_url="http://127.0.0.1:8000/v1",
            keys=("VLLM_API_KEY",),
            keyless=True,
            # Qwen's chat template has one switch for thinking, which vLLM hands on; gpt-oss has three degrees.
            efforts={
                "none": {"chat_template_kwargs": {"enable_thinking": False}},
                **_efforts("low", "medium", "high", chat_template_kwargs={"enable_thinking": True}),
            },
        ),
        Preset(
            "minimax",
            base_url="https://api.minimax.io/v1",
            keys=("MINIMAX_API_KEY",),
            limit="max_completion_tokens",
            body={"reasoning_split": True},
            efforts={
                "none": {"thinking": {"type": "disabled"}},
                "high": {"thinking": {"type": "adaptive"}},
            },
            codes={
                1000: 500, 1001: 500, 1002: 429, 1004: 401, 1008: 402, 1013: 500, 1024: 500, 1026: 400, 1027: 400,
                1033: 500, 1039: 429, 2013: 400, 2049: 401,
            },
        ),
        Preset(
            "lmstudio",
            base_url="http://127.0.0.1:1234/v1",
            keyless=True,
            keys=("LM_API_TOKEN",),
            efforts=_efforts("low", "medium", "high"),
        ),
    )
}  # fmt: skip
"""By the name of the backend."""
