"""Folders for a while: whoever is killed leaves one behind, and the next who makes one takes it away."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt_sleep.sandbox import folders

HOLDS = """
import sys, time
from skillopt_sleep.sandbox.folders import temporary
with temporary("attempt") as root:
    (root / "login").write_text("s3cret")
    print(root, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, in which nobody has looked yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders._sweep.cache_clear()
    yield tmp_path
    folders._sweep.cache_clear()


def holding(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that is in such a folder, and the folder."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )  # fmt: skip
    assert child.stdout is not None
    return child, Path(child.stdout.readline().strip())


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate()


def test_a_folder_goes_with_its_block(place: Path) -> None:
    with folders.temporary("attempt") as root:
        assert root.parent == place
        assert root.stat().st_mode & 0o777 == 0o700
        (root / "kept").mkdir(mode=0o000)
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_folder_and_what_a_living_one_has_stays(place: Path) -> None:
    killed, left = holding(place)
    alive, used = holding(place)
    try:
        end(killed)
        assert (left / "login").read_text() == "s3cret", "nobody was there to remove it"
        with folders.temporary("attempt"):
            assert not left.exists()
            assert (used / "login").read_text() == "s3cret"
    finally:
        end(alive)


def test_a_link_is_not_followed(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    theirs = tmp_path_factory.mktemp("theirs")
    (theirs / ".in-use").touch()
    (place / "skillopt-sleep-attempt-linked").symlink_to(theirs)
    with folders.temporary("attempt"):
        assert (theirs / ".in-use").exists()


def test_a_folder_without_a_lock_may_be_about_to_get_one(place: Path) -> None:
    new = place / "skillopt-sleep-attempt-new"
    new.mkdir()
    (new / ".in-use.new").touch()
    with folders.temporary("attempt"):
        assert new.exists()
