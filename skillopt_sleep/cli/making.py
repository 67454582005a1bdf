"""From a command's options to a World: configuration, home, store. Heavy; imported by commands when they run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from skillopt_sleep.cli.common import Call
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.config import Config, override
from skillopt_sleep.domain.journal import Trigger
from skillopt_sleep.domain.world import Progress
from skillopt_sleep.paths import person
from skillopt_sleep.review.adopt import recover
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.world import LocalWorld, local_zone

TRIGGERS: Mapping[str, Trigger] = {"scheduled": "scheduled", "caught_up": "caught_up"}


@contextmanager
def the_store(call: Call, *, read_only: bool = False) -> Iterator[Store]:
    """The store of this call. Opened to write, it first finishes or undoes adoptions that a kill left half-way."""
    with open_store(call.home.store, SystemClock(), read_only=read_only) as store:
        for warning in store.warnings:
            call.view.warn(warning)
        if not read_only:
            for adoption in recover(Adoptions(store)):
                call.view.note(f"an adoption that was interrupted is now {adoption.state}: {adoption.id}")
        yield store


def configured(call: Call, options: Mapping[str, tuple[object, str]]) -> Config:
    """The configuration with the command line's own values on top; options that were not given change nothing."""
    given = {key: value for key, value in options.items() if value[0] is not None and value[0] != ()}
    return override(call.loaded, given).config if given else call.loaded.config


def user_home() -> Path:
    """The person's HOME. ConfigError where the environment has none."""
    return person()


def make_world(call: Call, config: Config, store: Store, progress: Progress, **parts: object) -> LocalWorld:
    """The World of this machine with some parts given."""
    trigger = TRIGGERS.get(os.environ.get("SKILLOPT_TRIGGER", ""), "manual")
    zone = config.schedule.zone or local_zone()
    return LocalWorld(
        call.home,
        config,
        store,
        call.home.root if parts.get("loose") else user_home(),  # loose transcripts are read without a HOME
        progress=progress,
        trigger=trigger,
        zone=zone,
        **parts,  # type: ignore[arg-type]
    )
