"""Asking what there is costs next to nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from skillopt_sleep.cli import overview
from tests.cli.child import COMMAND

HEAVY = ("anthropic", "openai", "sqlalchemy", "starlette", "alembic", "watchdog", "apscheduler", "rich", "pydantic")
MOST = 12
"""Starts of the bare interpreter that `--help` may take."""
TIMES = 9


def seconds(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_takes_at_most_twelve_starts_of_the_bare_interpreter(option: str) -> None:
    bare, ours = [], []
    for _ in range(TIMES):  # interleaved, so that both see the same machine
        bare.append(seconds([sys.executable, "-c", "pass"]))
        ours.append(seconds([*COMMAND, option]))
    assert min(ours) <= MOST * min(bare), f"{min(ours) / min(bare):.1f} starts"


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_nothing_heavy(option: str) -> None:
    code = (
        "import sys; from skillopt_sleep.cli.__main__ import main\n"
        f"try: main([{option!r}])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert "skillopt_sleep" in loaded
    assert not loaded & set(HEAVY)


def test_a_command_of_one_module_does_not_load_the_others() -> None:
    code = (
        "import sys; from skillopt_sleep.cli.__main__ import run\n"
        "assert run(['history', '--help']) == 0\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert "skillopt_sleep.cli.looking" in loaded
    assert not {"skillopt_sleep.cli.nights", "sqlalchemy", "anthropic", "openai", "apscheduler"} & set(loaded)


def test_the_overview_fits_a_terminal_and_an_ascii_one() -> None:
    said = overview.overview()
    assert said.isascii()
    assert max(map(len, said.splitlines())) <= 80
    assert all(f"  {name:<10}" in said for name in overview.COMMANDS)


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib import metadata

    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"skillopt-sleep {metadata.version('skillopt-sleep')}\n"
