"""What other distributions add, found by entry points (`importlib.metadata`). A bad one is reported, never fatal.

Nothing is imported but what a group names, and only when the group is asked for. A plugin runs with all rights of the
user: installing it is the decision to trust it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Generic, TypeVar

from skillopt_sleep.log import one_line

CHECKS: Final = "skillopt_sleep.checks"
SCORERS: Final = "skillopt_sleep.scorers"
AGENTS: Final = "skillopt_sleep.agents"
MODELS: Final = "skillopt_sleep.models"
HARVESTERS: Final = "skillopt_sleep.harvesters"
GROUPS: Final = (CHECKS, SCORERS, AGENTS, MODELS, HARVESTERS)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
log = logging.getLogger(__name__)


class NotFit(Exception):
    """What an entry point names is not what its group asks for. The message says what is missing."""


@dataclass(frozen=True, slots=True)
class BadPlugin:
    """An entry point that was left out, and why. `distribution` is "" where nobody says who brought it."""

    group: str
    name: str
    distribution: str
    why: str

    def __str__(self) -> str:
        who = f" of {self.distribution}" if self.distribution else ""
        return f"the plugin {self.name}{who} ({self.group}) was left out: {self.why}"


@dataclass(frozen=True, slots=True)
class Plugins(Generic[T_co]):
    """What a group brought, by name, and what was left out."""

    found: Mapping[str, T_co]
    bad: tuple[BadPlugin, ...] = ()


def plugins(
    group: str,
    fit: Callable[[str, object], T],
    taken: Iterable[str] = (),
    entries: Iterable[EntryPoint] | None = None,
) -> Plugins[T]:
    """Load a group. `fit(name, loaded)` makes of what was loaded what the group is for; it raises `NotFit`.

    Names of `taken` are ours and cannot be replaced; of two plugins with one name neither is used, for whichever came
    first would depend on the machine. `entries` are the installed ones unless they are given.
    """
    found: dict[str, T] = {}
    bad: list[BadPlugin] = []
    known = sorted(entry_points(group=group) if entries is None else entries, key=lambda e: (e.name, e.value))
    names = [entry.name for entry in known]
    for entry in known:
        try:
            if entry.name in taken or names.count(entry.name) > 1:
                raise NotFit("its name is taken already")
            found[entry.name] = fit(entry.name, entry.load())
        except NotFit as error:
            bad.append(_bad(group, entry, str(error)))
        except (Exception, SystemExit) as error:  # one plugin, whatever it does, must not end the work
            log.warning(
                "A plugin could not be loaded", exc_info=True, extra={"action": "plugin_failed", "group": group}
            )
            bad.append(_bad(group, entry, f"{type(error).__name__}: {error}"))
    return Plugins(found, tuple(bad))


def _bad(group: str, entry: EntryPoint, why: str) -> BadPlugin:
    distribution = entry.dist.name if entry.dist else ""
    return BadPlugin(group, one_line(entry.name), one_line(distribution), one_line(why)[:500])
