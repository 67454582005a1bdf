"""The sample morning, shared with the tests of review."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SAMPLE = Path(__file__).parent.parent / "review" / "sample.py"


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    spec = importlib.util.spec_from_file_location("review_sample", SAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
