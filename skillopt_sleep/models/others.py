"""Models that other distributions bring: entry points of the group `skillopt_sleep.models`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Final, cast

from skillopt_sleep.errors import ConfigError, SleepError, UsageError
from skillopt_sleep.log import one_line
from skillopt_sleep.models.base import CallFailed, Completer, Reply
from skillopt_sleep.plugins import MODELS, NotFit, Plugins, plugins

if TYPE_CHECKING:
    from skillopt_sleep.redact import Redacted

LONGEST_WHY: Final = 200


@dataclass(frozen=True, slots=True)
class ModelPlugin:
    """Makes completers of one kind."""

    name: str
    make: Callable[[str], object]

    def made(self, model: str) -> Completer:
        """A completer for a model by name. `UsageError` for one that is none or could not be made."""
        where = f"plugin {self.name}"
        try:
            completer = self.make(model)
        except Exception as error:
            why = one_line(f"the model could not be made: {type(error).__name__}: {error}")
            raise UsageError(why, where=where, remedy="See the plugin's own documentation") from error
        told = (getattr(completer, "model", None), getattr(completer, "where", None))
        if not callable(getattr(completer, "complete", None)) or not all(isinstance(one, str) and one for one in told):
            wrong = "what it makes has no complete(prompt, max_output), no model or no where"
            raise UsageError(wrong, where=where, remedy="See docs/plugins.md for what a model is")
        return Guarded(cast("Completer", completer))


class Guarded:
    """A completer of others: an error that is none of ours is a call that failed, and may have cost all the same."""

    def __init__(self, inner: Completer) -> None:
        self._inner = inner
        self.model = inner.model
        self.where = inner.where

    def complete(self, prompt: Redacted, max_output: int) -> Reply:
        """One request. Raises `CallFailed`, and what else our own completers raise."""
        try:
            reply = self._inner.complete(prompt, max_output)
        except (CallFailed, SleepError):
            raise
        except Exception as error:
            why = one_line(f"{type(error).__name__} in the plugin: {error}")
            raise CallFailed(why[:LONGEST_WHY], "all") from error
        if not isinstance(reply, Reply):
            raise CallFailed("the plugin gave no reply", "all")
        return reply


def further_models(entries: Iterable[EntryPoint] | None = None) -> Plugins[ModelPlugin]:
    """The models of others, by the name that stands behind `plugin:`."""
    return plugins(MODELS, as_model, (), entries)


def model_plugin(name: str) -> ModelPlugin:
    """The model plugin of a name. Raises `ConfigError` where there is none."""
    found = further_models()
    if name not in found.found:
        why = "; ".join(bad.why for bad in found.bad if bad.name == name) or "none of this name is installed"
        there = ", ".join(found.found) or "none"
        raise ConfigError(f"no model plugin {name!r}: {why}", where="models.backend", remedy=f"There are {there}")
    return found.found[name]


def as_model(name: str, loaded: object) -> ModelPlugin:
    """A model as a plugin brings it: a function of a model's name that makes a `Completer`."""
    if not callable(loaded):
        raise NotFit("it is no function of a model's name that makes a completer")
    return ModelPlugin(name, loaded)
