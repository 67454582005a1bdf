"""Agents that other distributions bring: entry points of the group `skillopt_sleep.agents`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import cast

from skillopt_sleep.agents.answering import Answering
from skillopt_sleep.domain.answers import Need
from skillopt_sleep.errors import UsageError
from skillopt_sleep.log import one_line
from skillopt_sleep.plugins import AGENTS, NotFit, Plugins, plugins


@dataclass(frozen=True, slots=True)
class AgentPlugin:
    """Makes agents of one kind. `make` may raise anything; `made` says so in one line."""

    name: str
    make: Callable[[str | None, int], object]

    def made(self, model: str | None, seed: int) -> Answering:
        """An agent for a model (None: its own default) and a seed. `UsageError` for one that is none."""
        where = f"plugin {self.name}"
        try:
            agent = self.make(model, seed)
        except Exception as error:
            why = one_line(f"the agent could not be made: {type(error).__name__}: {error}")
            raise UsageError(why, where=where, remedy="See the plugin's own documentation") from error
        if wrong := _lacks(agent):
            raise UsageError(wrong, where=where, remedy="See docs/plugins.md for what an agent is")
        return cast("Answering", agent)


def further_agents(entries: Iterable[EntryPoint] | None = None) -> Plugins[AgentPlugin]:
    """The agents of others, by the name that stands behind `plugin:`."""
    return plugins(AGENTS, as_agent, (), entries)


def as_agent(name: str, loaded: object) -> AgentPlugin:
    """An agent as a plugin brings it: a function of (model, seed) that makes an `Answering`."""
    if not callable(loaded):
        raise NotFit("it is no function of (model, seed) that makes an agent")
    return AgentPlugin(name, loaded)


def _lacks(agent: object) -> str:
    """What an object lacks to be an `Answering`, "" where it is one."""
    if not callable(getattr(agent, "answer", None)):
        return "what it makes cannot answer"
    if not isinstance(getattr(agent, "version", None), str) or not isinstance(
        getattr(agent, "deterministic", None), bool
    ):
        return "what it makes has no version (text) or does not say whether it is deterministic (true, false)"
    offers = getattr(agent, "offers", None)
    if not isinstance(offers, (set, frozenset)) or not offers <= {Need.TOOLS, Need.FILES}:
        return "what it makes does not say what it offers (a set of tools, files)"
    return ""
