"""Who completes for a role: what was named, and what `auto` takes of what is there.

`auto` sends nothing to a provider that the person has not named: a key in the environment is no name, an address is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from skillopt_sleep.config.roles import PLUGIN, Models, Role
from skillopt_sleep.errors import UsageError
from skillopt_sleep.models.base import host_of
from skillopt_sleep.models.pinned import pulled, runs_here
from skillopt_sleep.models.presets import PRESETS

AUTO: Final = "auto"
RECORDED: Final = "recorded"
LOCAL: Final = "local"
_KEYS: Final = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", *(key for p in PRESETS.values() for key in p.keys))


@dataclass(frozen=True, slots=True)
class Part:
    """A role and who plays it. `key` says where the key is; `why` is said where `auto` chose, "" where it did not."""

    role: Role
    backend: str
    model: str | None = None
    base_url: str | None = None
    key: str | None = None
    effort: str | None = None
    why: str = ""

    @property
    def named(self) -> str:
        """The model's name. Raises `UsageError` where there is none."""
        if self.model is None:
            raise UsageError(
                f"no {self.role} model is named for the backend {self.backend}",
                where=f"models.{self.role}",
                remedy=f"Use --{self.role}-model NAME, or set it in sleep.toml",
            )
        return self.model


def part_of(models: Models, role: Role, folder: Path, environ: Mapping[str, str]) -> Part:
    """Who plays a role. `folder` is where pulled models are."""
    model = getattr(models, role)
    backend, why = getattr(models, f"{role}_backend") or models.backend, ""
    if backend == AUTO:
        backend, why = _there(models, role, folder, environ)
    address = getattr(models, f"{role}_base_url")
    addresses = {"anthropic": models.anthropic_base_url, "openai": models.openai_base_url}
    return Part(
        role,
        backend,
        model,
        address or addresses.get(backend),
        getattr(models, f"{role}_key"),
        getattr(models, f"{role}_effort"),
        why,
    )


def _there(models: Models, role: Role, folder: Path, environ: Mapping[str, str]) -> tuple[str, str]:
    """What `auto` takes, and why."""
    model = getattr(models, role)
    if model is not None and model.endswith(".gguf") and Path(model).expanduser().is_file():
        return LOCAL, "the model that is named is a file on this machine"
    if model is not None:
        for key in (f"{role}_base_url", "anthropic_base_url", "openai_base_url"):
            if (url := getattr(models, key)) is not None:
                backend = "anthropic" if key == "anthropic_base_url" else server_at(url)
                return backend, f"you named a model, and {host_of(url)} as models.{key}"
    if model is None and runs_here() and pulled(folder) is not None:
        return LOCAL, "the model that you pulled is on this machine"
    keys = [key for key in dict.fromkeys(_KEYS) if environ.get(key)]
    held = f"; {', '.join(keys)} is set, and goes to nobody whom you have not named" if keys else ""
    return RECORDED, f"no model with an address is named, and none was pulled{held}"


def destination(part: Part) -> str:
    """Where prompts would go, in words for the person; "" where they stay on this machine."""
    backend, preset = part.backend, PRESETS.get(part.backend)
    if backend in {RECORDED, LOCAL, "handoff"}:
        return ""
    if backend in {"claude", "codex", "copilot"}:
        return f"the provider that you are signed in to with {backend}"
    if backend.startswith(PLUGIN):
        return f"the host that the {backend} chooses"
    if address := part.base_url or (preset.base_url if preset else None):
        return host_of(address)
    return f"the host that the environment names for {backend}, else the provider"


def server_at(url: str) -> str:
    """The backend of an address: a provider's own keys and ways where it is a known one's."""
    parts = urlsplit(url)
    for preset in PRESETS.values():
        own = urlsplit(preset.base_url or "")
        known = own.hostname is not None and (own.hostname, own.port) == (parts.hostname, parts.port)
        if known or (preset.hosts and (parts.hostname or "").endswith(preset.hosts)):
            return preset.name
    return "openai"
