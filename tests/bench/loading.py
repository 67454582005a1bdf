"""Scripts of bench/ as modules: what they measure is tested on a small set."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

BENCH = Path(__file__).parents[2] / "bench"


def script(name: str) -> ModuleType:
    """`bench/NAME.py`, loaded once."""
    known = f"bench_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, BENCH / f"{name}.py")
        assert spec
        assert spec.loader
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]
