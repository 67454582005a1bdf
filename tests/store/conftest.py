"""What the tests of the store share."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.store.engine import Store, open_store

NOON = 1_795_953_600_000  # 2026-11-29T12:00:00Z


def load(name: str) -> ModuleType:
    """A helper module of this folder: tests are no package, so it is found by its file."""
    spec = importlib.util.spec_from_file_location(f"store_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def freeze() -> ModuleType:
    return load("freeze")


@pytest.fixture(scope="session")
def filled() -> ModuleType:
    return load("filled")


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store: making one by migrations takes half a second, copying it none."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(path, FixedClock(NOON)).close()
    return path


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "store.db"


@pytest.fixture
def store(path: Path, empty: Path, clock: FixedClock) -> Iterator[Store]:
    path.parent.mkdir(mode=0o700)
    shutil.copy(empty, path)
    with open_store(path, clock) as opened:
        yield opened
