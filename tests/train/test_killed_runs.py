"""A run that was killed anywhere goes on to the run that was not: the same log, skills and report, byte for byte."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from skillopt_core.types import Missing, Skill, Task, Trajectory
from skillopt_sleep import casting
from skillopt_sleep.config import Config
from skillopt_sleep.errors import StoreError, UsageError
from skillopt_sleep.paths import Home
from skillopt_sleep.train.lines import append_line, read_lines
from tests.train.runs import RECIPE, trained

CHECKOUT = Path(__file__).parent.parent.parent
SEED = 11
NOT_COMPARED = ("journal.db", "run.lock")
"""What says when and how often something was done, not what came of it."""


def run(folder: Path, deadly: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.train.runs", str(folder), str(deadly)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=120)


def left(folder: Path) -> dict[str, bytes]:
    """Every file of a run by its path, without the journal."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "run").rglob("*"))
        if path.is_file() and not path.name.startswith(NOT_COMPARED)
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, bytes]]:
    """How many points a whole run passes, and what it leaves."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run(folder)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {"accept", "reject", "no_change"} <= set(said["verdicts"]), "a run in which little happens shows little"
    return int(said["points"]), left(folder)


def killed_and_resumed(folder: Path, points: Sequence[int], whole: dict[str, bytes]) -> None:
    """Kill a run at these points one after the other, then let it finish."""
    for deadly in points:
        died = run(folder, deadly)
        assert died.returncode == -signal.SIGKILL, died.stderr
    went_on = run(folder)
    assert went_on.returncode == 0, went_on.stderr
    assert left(folder) == whole
    attempts = Counter((folder / "attempts").read_text().split())
    assert max(attempts.values()) <= 1 + len(points), "a finished attempt was made again"


def test_a_run_killed_at_a_few_points_is_the_run_that_was_not(
    tmp_path: Path, undisturbed: tuple[int, dict[str, bytes]]
) -> None:
    total, whole = undisturbed
    for deadly in [1, *random.Random(SEED).sample(range(2, total), 3), total]:
        folder = tmp_path / str(deadly)
        folder.mkdir()
        killed_and_resumed(folder, [deadly], whole)


@pytest.mark.slow
def test_a_run_killed_at_every_sixth_point_is_the_run_that_was_not(
    tmp_path: Path, undisturbed: tuple[int, dict[str, bytes]]
) -> None:
    total, whole = undisturbed
    for deadly in range(1, total + 1, 6):
        folder = tmp_path / str(deadly)
        folder.mkdir()
        killed_and_resumed(folder, [deadly], whole)


def test_a_run_killed_again_and_again_is_the_run_that_was_not(
    tmp_path: Path, undisturbed: tuple[int, dict[str, bytes]]
) -> None:
    _, whole = undisturbed
    killed_and_resumed(tmp_path, [12, 9, 20], whole)


def test_a_finished_run_that_is_called_again_attempts_nothing_and_changes_nothing(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 0
    attempts, files = (tmp_path / "attempts").read_bytes(), left(tmp_path)
    assert run(tmp_path).returncode == 0
    assert (tmp_path / "attempts").read_bytes() == attempts
    assert left(tmp_path) == files


class Faulty:
    """An agent whose attempts at one task fail until it is mended; at a chosen call it dies."""

    def __init__(self, *, broken: bool, dies_at: int = 0) -> None:
        config = Config.model_validate({"models": {"backend": "simulated"}})
        self._inner = casting.attempter(config, RECIPE, home=Home(Path("nowhere"))).environment
        self._broken = broken
        self._left = dies_at

    deterministic = False

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt
        answers = self._inner.attempt(tasks, skill, draws)
        return [
            Missing("no answer") if self._broken and task.id in {"t1", "t5"} else answer
            for task, answer in zip(tasks, answers, strict=True)
        ]


def test_what_failed_before_the_restart_stays_failed_in_the_steps_that_were_done(tmp_path: Path) -> None:
    """Asked anew it would succeed, and the finished steps would not be what the log says."""
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path, environment=Faulty(broken=True, dies_at=8))
    log = tmp_path / "run" / "training_log.jsonl"
    before = read_lines(log)
    assert before
    assert before[0]["evidence"]["coverage"] < 1
    done = trained(tmp_path, environment=Faulty(broken=False))
    assert read_lines(log)[: len(before)] == before
    assert done.audit is not None
    assert done.audit.coverage == 1


def test_an_agent_that_is_another_one_now_is_noticed(tmp_path: Path) -> None:
    trained(tmp_path)
    (tmp_path / "run" / "journal.db").unlink()
    with pytest.raises(StoreError, match="came out differently"):
        trained(tmp_path, environment=Faulty(broken=True))


def test_a_line_that_a_kill_cut_short_is_taken_off(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    append_line(path, {"n": 1})
    with path.open("a") as file:
        file.write('{"n": 2, "te')
    assert read_lines(path) == [{"n": 1}]
    append_line(path, {"n": 3})
    assert read_lines(path) == [{"n": 1}, {"n": 3}]


def test_a_damaged_log_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"n": 1}\nnothing\n{"n": 3}\n')
    with pytest.raises(StoreError, match=r"log\.jsonl:2"):
        read_lines(path)


def test_a_folder_of_another_run_is_refused_by_what_differs(tmp_path: Path) -> None:
    trained(tmp_path)
    manifest = tmp_path / "run" / "run.json"
    manifest.write_text('{"of": "something else"}')
    with pytest.raises(UsageError, match=r'another of \("something else", now "test"\)'):
        trained(tmp_path)


def test_what_a_run_leaves_is_its_owners_alone(tmp_path: Path) -> None:
    trained(tmp_path)
    for path in [tmp_path / "run", *(tmp_path / "run").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("name", ["training_log.jsonl", "misses.jsonl", "skills", "best_skill.md"])
def test_a_link_in_a_run_folder_leads_nobody_out_of_it(tmp_path: Path, name: str) -> None:
    """A folder that came with a repository could otherwise have a file of yours cut or written over."""
    trained(tmp_path)
    mine = tmp_path / "mine"
    mine.write_text("not a line of ours")
    place = tmp_path / "run" / name
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    place.symlink_to(mine)
    with pytest.raises(UsageError, match="is a link"):
        trained(tmp_path)
    assert mine.read_text() == "not a line of ours"
