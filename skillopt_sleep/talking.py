"""Any model put together as who attempts tasks of one's own: how it is asked, with which tools, and who pays."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillopt_core.types import Task
from skillopt_sleep.agents.chat import OURS, ChatAgent, ChatSettings, Offer, Workshop
from skillopt_sleep.checks import Need
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.models.base import Paying
from skillopt_sleep.models.choice import LOCAL, RECORDED, part_of
from skillopt_sleep.models.conversing import Conversing
from skillopt_sleep.models.local import HEAT
from skillopt_sleep.models.making import COMPLETERS, HANDOFF, completer_of
from skillopt_sleep.paths import Home
from skillopt_sleep.playing import in_words, runs, the_walls, walls_of
from skillopt_sleep.prices import THIS_MACHINE
from skillopt_sleep.sandbox.find import REMEDY
from skillopt_sleep.train.cast import Attempter
from skillopt_sleep.train.judging import Judging
from skillopt_sleep.train.rows import LoadedTask

if TYPE_CHECKING:
    from skillopt_sleep.config import Config
    from skillopt_sleep.train.recipe import Recipe
    from skillopt_sleep.world import LocalWorld

VERSION: Final = "2"
"""Of the chat agent: attempts of another one count for nothing."""
TALKING: Final = tuple(name for name in COMPLETERS if name != HANDOFF)
"""Backends whose models can be talked to."""
_TOOL_CHECKS: Final = frozenset({"tool_called", "tool_not_called"})


def talker(config: Config, recipe: Recipe, home: Home, lay_out: Callable[[Task, Path], None]) -> Attempter:
    """A model that is talked to, with tools in the sandbox where a task needs them.

    Raises `ConfigError` for a backend that cannot be talked to, and what `completer_of` raises.
    """
    part = part_of(config.models, "target", home.models, os.environ)
    model: object = None if part.backend in {RECORDED, HANDOFF} else completer_of(part, home, os.environ)
    if not isinstance(model, Conversing):
        raise ConfigError(
            f"nobody attempts tasks with the backend {part.backend}" + (f" ({part.why})" if part.why else ""),
            where="models.target_backend" if config.models.target_backend else "models.backend",
            remedy=f"Take --target-backend simulated, {', '.join(TALKING)}, claude, codex, copilot or a plugin",
        )
    local = part.backend == LOCAL
    asked = _asked(config, recipe, local=local)
    walls = None if recipe.tools == "never" or the_walls() is None else walls_of(config)
    offer = partial(_offer, recipe.tools)
    settings = {
        "backend": part.backend, "at": model.where, "temperature": asked.temperature, "tokens": asked.max_output,
        "effort": part.effort, "seed": asked.seed if local else None, "tools": recipe.tools,
        "in": f"{in_words(walls)}, {asked.turns} turns, {asked.seconds:g} s" if walls else None,
    }  # fmt: skip
    judging = Judging(partial(runs, config) if walls else None)
    shut_out = "" if walls or recipe.tools == "never" else "no sandbox works here: the model has words alone, no tools"
    return Attempter(
        ChatAgent(model, judging, asked, workshop=Workshop(walls, lay_out, offer) if walls else None),
        {"name": "chat", "version": VERSION, "model": model.model, "settings": _told(settings)},
        offers=frozenset({Need.TOOLS, Need.FILES, Need.SANDBOX}) if walls else frozenset(),
        open=shut_out,
        judging=judging,
        remedy=REMEDY if shut_out else "",
    )


def paid_talker(player: Attempter, agent: ChatAgent, world: LocalWorld, run: str) -> Attempter:
    """The same, each call paid for out of the budget of the run, and all that is sent redacted."""
    model = agent.model
    world.priced(model.model, model.where)
    pool = world.pool(model.where)
    paying = Paying(world.budget(run), pool, role="target", model=model.model, sleep=time.sleep)
    return replace(
        player,
        environment=agent.paid_from(paying, world.redactor.redact),
        pool=None if model.where == THIS_MACHINE else pool,  # a model in this process answers one at a time
    )


def _asked(config: Config, recipe: Recipe, *, local: bool) -> ChatSettings:
    """How a model is asked. A small one on this machine is asked for less, and judged as far as it got."""
    settings = ChatSettings(
        seed=recipe.seed, turns=config.agents.turns, seconds=config.agents.timeout_minutes * 60,
        temperature=config.models.target_temperature,
    )  # fmt: skip
    if not local:
        return replace(settings, max_output=config.models.max_output, cut_counts=False)
    return settings if settings.temperature is not None else replace(settings, temperature=HEAT)


def _offer(tools: str, task: Task) -> Offer:
    """What attempts at a task are given beside words. A tool that a check names and we have not has its name alone."""
    loaded = task.payload
    if not isinstance(loaded, LoadedTask):
        return Offer(folder=tools == "always")
    ours = {tool.name for tool in OURS}
    named = {str(one.argument).strip() for one in loaded.checks if one.kind in _TOOL_CHECKS}
    wanted = loaded.files or loaded.commit or loaded.needs & {Need.FILES, Need.SANDBOX} or named & ours
    folder = tools == "always" or bool(wanted)
    return Offer(folder, tuple(sorted(named - ours)))


def _told(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
