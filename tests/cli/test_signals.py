"""SIGTERM and SIGINT leave a night that can be resumed, wherever they come; the morning is then the same."""

from __future__ import annotations

import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.cli.demonstration import lay_out
from tests.cli.child import COMMAND, Child, Said, least

CHECKOUT = Path(__file__).parent.parent.parent
CODES = {"SIGTERM": 143, "SIGINT": 130}
SEED = 11


class Machine:
    """One HOME with the sample's transcripts; the state can be thrown away between nights."""

    def __init__(self, folder: Path) -> None:
        user_home, project = lay_out(folder)
        self.state = folder / "state"
        self.child = Child(project, {**least(folder, user_home), "PYTHONPATH": str(CHECKOUT)})

    def run(self, name: str, point: int, *arguments: str) -> Said:
        self.child.prefix = (sys.executable, "-m", "tests.cli.signalled", name, str(point))
        return self.child("run", "-q", *arguments)

    def __call__(self, *arguments: str) -> Any:
        self.child.prefix = COMMAND
        return self.child(*arguments)

    def morning(self) -> list[dict[str, Any]]:
        """What waits for the person."""
        found = self("review", "--json")
        return sorted((line["proposal"], line["state"], line["diff"]) for line in lines(found))

    def forget(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)


def lines(said: Said) -> list[dict[str, Any]]:
    import json

    return [json.loads(line) for line in said.out.splitlines()]


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """A shell that put these tests into the background has them ignore interrupts; their children would, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("signals"))


@pytest.fixture(scope="module")
def undisturbed(machine: Machine) -> tuple[int, list[dict[str, Any]]]:
    """How many transactions a night has, and what it leaves."""
    done = machine.run("SIGTERM", 0)
    assert done.code == 0, done.err
    return int(done.err.splitlines()[-1]), machine.morning()


def interrupted_and_resumed(machine: Machine, name: str, point: int, expected: list[dict[str, Any]]) -> None:
    machine.forget()
    ended = machine.run(name, point)
    assert ended.code == CODES[name], ended.err
    assert "Traceback" not in ended.err
    assert "`skillopt-sleep run` goes on where it was" in ended.line
    last = machine("status", "--json").document["last_night"]
    assert last is None or last["state"] == "interrupted"
    went_on = machine("run", "-q", *(["--resume"] if last else []))
    assert went_on.code == 0, went_on.err
    assert machine.morning() == expected
    assert [night["state"] for night in lines(machine("history", "--json"))] == ["done"]


Undisturbed = tuple[int, list[dict[str, Any]]]


def points(undisturbed: Undisturbed, n: int) -> list[int]:
    total = undisturbed[0]
    return [1, *sorted(random.Random(SEED).sample(range(2, total), n - 2)), total]


@pytest.mark.parametrize("name", CODES)
def test_a_signal_in_the_middle_of_a_night_leaves_it_resumable(
    name: str, machine: Machine, undisturbed: Undisturbed
) -> None:
    interrupted_and_resumed(machine, name, undisturbed[0] // 2, undisturbed[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", CODES)
def test_a_signal_at_several_points_leaves_a_resumable_night(
    name: str, machine: Machine, undisturbed: Undisturbed
) -> None:
    for point in points(undisturbed, 5)[:-1]:
        interrupted_and_resumed(machine, name, point, undisturbed[1])


def test_a_signal_that_comes_too_late_finds_the_night_done(machine: Machine, undisturbed: Undisturbed) -> None:
    machine.forget()
    ended = machine.run("SIGTERM", undisturbed[0])
    assert ended.code == CODES["SIGTERM"]
    assert machine("status", "--json").document["last_night"]["state"] == "done"
    assert machine.morning() == undisturbed[1]


def test_with_json_the_end_by_a_signal_is_an_error_document(machine: Machine) -> None:
    machine.forget()
    ended = machine.run("SIGTERM", 5, "--json")
    assert ended.document["error"]["code"] == "terminated"


def test_a_process_that_ignores_interrupts_goes_on_ignoring_them(machine: Machine) -> None:
    machine.forget()
    before: Callable[..., Any] | int | None = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:  # as a shell starts what it puts in the background
        assert machine.run("SIGINT", 5).code == 0
    finally:
        signal.signal(signal.SIGINT, before)
