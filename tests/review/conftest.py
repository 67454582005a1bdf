"""What the tests of the morning share."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_sleep.clock import FixedClock
from skillopt_sleep.review.ledgers import MemoryLedger


def load(name: str) -> ModuleType:
    """A helper module of this folder: tests are no package, so it is found by its file."""
    spec = importlib.util.spec_from_file_location(f"review_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def made() -> ModuleType:
    return load("made")


@pytest.fixture(scope="session")
def file_ledger() -> ModuleType:
    return load("file_ledger")


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    return load("sample")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def ledger(root: Path) -> MemoryLedger:
    return MemoryLedger([str(root)])


@pytest.fixture
def clock(made: ModuleType) -> FixedClock:
    return FixedClock(made.JAN_5)
