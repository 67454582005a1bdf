"""Each test runs behind both walls, as whoever runs the tests, and once more as nobody where we are root."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.shut import Shut

NOBODY = 65534
WALLS = ("bubblewrap", "namespaces")


@pytest.fixture(params=WALLS)
def walls(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["me", pytest.param("nobody", marks=pytest.mark.root)])
def shut(request: pytest.FixtureRequest, walls: str) -> Iterator[Shut]:
    nobody = request.param == "nobody"
    python = request.getfixturevalue("unprivileged") if nobody else [sys.executable]
    with tempfile.TemporaryDirectory(prefix="skillopt-sleep-test-") as place:
        folder, outside = Path(place, "work"), Path(place, "home")
        Path(place).chmod(0o755)
        for made in (folder, outside):
            made.mkdir(mode=0o700)
            if nobody:
                os.chown(made, NOBODY, NOBODY)
        yield Shut(walls, python, folder, outside)
