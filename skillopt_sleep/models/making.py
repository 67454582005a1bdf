"""A completer for whoever plays a role: the one place that knows them all. Each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from skillopt_sleep.config.roles import COMPATIBLE, PLUGIN
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.models.base import Completer
from skillopt_sleep.models.choice import LOCAL, RECORDED, Part
from skillopt_sleep.paths import Home

HANDOFF: Final = "handoff"
COMPLETERS: Final = ("anthropic", "openai", *COMPATIBLE, LOCAL, HANDOFF)
BUILT: Final = ("auto", RECORDED, *COMPLETERS)
"""The backends of a night that there are. The others of the configuration come with their own work."""


def completer_of(
    part: Part, home: Home, environ: Mapping[str, str], further: Mapping[str, Callable[[Part], Completer]] = {}
) -> Completer | None:
    """The model of a role, None where it has none. `further` are the backends that live elsewhere, by name.

    Raises `ConfigError` for a backend that there is not, and for an address or an effort that is not let in;
    `UsageError` where no model is named; `NotSignedIn`; `ModelError`.
    """
    if (make := further.get(part.backend)) is not None:
        return make(part)
    backend = check_backend(part.backend, further)
    if backend == RECORDED:
        return None
    if backend.startswith(PLUGIN):
        from skillopt_sleep.models.others import model_plugin

        return model_plugin(backend.removeprefix(PLUGIN)).made(part.named)
    if backend == LOCAL:
        from skillopt_sleep.models.local import LocalModel
        from skillopt_sleep.models.pinned import model_file

        return LocalModel(model_file(part.model, home.models, part.role))
    if backend == HANDOFF:
        from skillopt_sleep.models.handoff import Handoff

        return Handoff(home.handoff, part.model or HANDOFF, part.role)
    if backend == "anthropic":
        from skillopt_sleep.models.anthropic import AnthropicCompleter

        return AnthropicCompleter(part.named, base_url=part.base_url, key=part.key, effort=part.effort, environ=environ)
    from skillopt_sleep.models.openai import OpenAICompleter
    from skillopt_sleep.models.presets import PRESETS

    return OpenAICompleter(
        part.named, base_url=part.base_url, preset=PRESETS[backend], key=part.key, effort=part.effort, environ=environ
    )


def check_backend(backend: str, further: Iterable[str] = ()) -> str:
    """The backend itself. Raises `ConfigError` for one that this version does not have: none is taken for another."""
    if backend not in BUILT and not backend.startswith(PLUGIN):
        raise ConfigError(
            f"this version has no backend {backend!r}",
            where="models.backend",
            remedy=f"There are {', '.join((*BUILT, *further))}, and {PLUGIN}NAME",
        )
    return backend
