"""Where things are. A user's HOME and the environment are arguments; nothing here creates or reads a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP = "skillopt-sleep"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of our state (vocabulary: home; a user's HOME is called so)."""

    root: Path

    @property
    def store(self) -> Path:
        return self.root / "store.db"

    @property
    def lock(self) -> Path:
        return self.root / "night.lock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def reports(self) -> Path:
        return self.root / "reports"


def home(option: Path | None, environ: Mapping[str, str] = os.environ) -> Home:
    """`--home`, else SKILLOPT_HOME, else the platform's data folder (cli.md)."""
    if option is not None:
        return Home(option.expanduser().absolute())
    if named := environ.get("SKILLOPT_HOME"):
        return Home(Path(named).expanduser().absolute())
    return Home(platformdirs.user_data_path(APP, appauthor=False))


def user_config(option: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """`--config`, else SKILLOPT_CONFIG, else sleep.toml in the platform's configuration folder."""
    if option is not None:
        return option.expanduser().absolute()
    if named := environ.get("SKILLOPT_CONFIG"):
        return Path(named).expanduser().absolute()
    return platformdirs.user_config_path(APP, appauthor=False) / "sleep.toml"
