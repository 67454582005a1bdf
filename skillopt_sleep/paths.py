"""Where things are. A user's HOME and the environment are arguments; nothing here creates or reads a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from skillopt_sleep.errors import ConfigError

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
    def daemon_lock(self) -> Path:
        return self.root / "daemon.lock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def reports(self) -> Path:
        return self.root / "reports"

    @property
    def models(self) -> Path:
        return self.root / "models"

    @property
    def handoff(self) -> Path:
        return self.root / "handoff"


def home(option: Path | None, environ: Mapping[str, str] = os.environ) -> Home:
    """`--home`, else SKILLOPT_HOME, else the platform's data folder (cli.md). ConfigError where nobody has a HOME."""
    with _somebodys():
        if option is not None:
            return Home(option.expanduser().absolute())
        if named := environ.get("SKILLOPT_HOME"):
            return Home(Path(named).expanduser().absolute())
        return Home(platformdirs.user_data_path(APP, appauthor=False))


def user_config(option: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """`--config`, else SKILLOPT_CONFIG, else sleep.toml in the platform's configuration folder. As `home`."""
    with _somebodys():
        if option is not None:
            return option.expanduser().absolute()
        if named := environ.get("SKILLOPT_CONFIG"):
            return Path(named).expanduser().absolute()
        return platformdirs.user_config_path(APP, appauthor=False) / "sleep.toml"


def person() -> Path:
    """The person's own HOME, where agents keep their transcripts. As `home`."""
    with _somebodys():
        return Path.home()


@contextmanager
def _somebodys() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        remedy = "Set HOME, or name --home, --config and --from"
        raise ConfigError("no HOME is set, and this user has none", where="HOME", remedy=remedy) from error


def replace_file(path: Path, content: bytes) -> None:
    """Write a file of ours in one step, durable and 0600 (mkstemp makes it so): whole or as it was."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
