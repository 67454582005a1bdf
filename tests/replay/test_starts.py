"""Starting states read out of a real repository."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from skillopt_sleep.replay.starts import GitStarts
from tests.cli.requesting import BEGAN, WORDS, git, make_project

PATH = os.environ.get("PATH", os.defpath)


def ms(days: float) -> int:
    return int((BEGAN + timedelta(days=days)).timestamp() * 1000)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make_project(tmp_path / "words")
    return tmp_path / "words"


def commit(project: Path, day: int) -> str:
    (project / "words.py").write_text(f"# day {day}\n")
    git(project, "commit", "--quiet", "-am", f"Day {day}", at=BEGAN + timedelta(days=day))
    return git(project, "rev-parse", "HEAD")


def test_a_recorded_commit_is_read_as_it_was(project: Path) -> None:
    first = git(project, "rev-parse", "HEAD")
    commit(project, 2)
    start = GitStarts(str(project), PATH).at(first, ms(9))
    assert start is not None
    assert start.commit == first
    assert start.file("words.py") == WORDS.encode()
    assert start.file("absent.py") is None


def test_where_none_was_recorded_it_is_the_one_on_which_the_project_stood_then(project: Path) -> None:
    first = git(project, "rev-parse", "HEAD")
    second, third = commit(project, 2), commit(project, 4)
    starts = GitStarts(str(project), PATH)
    found = [starts.at("", ms(day)) for day in (1, 3, 5)]
    assert [one.commit if one else "" for one in found] == [first, second, third]
    assert starts.at("", ms(-1)) is None, "git's log of HEAD does not reach back so far"


def test_what_is_not_here_is_no_start(project: Path, tmp_path: Path) -> None:
    starts = GitStarts(str(project), PATH)
    for name in ("f" * 40, "main", "HEAD", "--help", "-x", "../x", "a" * 39):
        assert starts.at(name, ms(1)) is None, name
    assert GitStarts(str(tmp_path), PATH).at("", ms(1)) is None
    assert GitStarts("relative/words", PATH).at("", ms(1)) is None
    assert GitStarts(str(project), str(tmp_path)).at("", ms(1)) is None, "no git on the path"


def test_no_path_leads_out_and_none_is_taken_for_an_option(project: Path) -> None:
    start = GitStarts(str(project), PATH).at("", ms(1))
    assert start is not None
    for path in ("/etc/passwd", "../words/words.py", ":words.py", "-p", "", ".git/config", "words.py\n", "."):
        assert start.file(path) is None, path


def test_nothing_of_the_repository_is_run_and_nothing_is_written(project: Path) -> None:
    trap = project / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {project}/sprung\ncat\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "pager.log", "gpg.program", "core.sshCommand", "diff.x.textconv"):
        git(project, "config", key, str(trap))
    git(project, "config", "log.showSignature", "true")
    (project / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (project / ".git/hooks" / hook).write_text(trap.read_text())
        (project / ".git/hooks" / hook).chmod(0o755)
    before = {path: path.stat().st_mtime_ns for path in (project / ".git").rglob("*")}
    start = GitStarts(str(project), PATH).at("", ms(1))
    assert start is not None
    assert start.file("words.py") == WORDS.encode()
    assert not (project / "sprung").exists()
    assert {path: path.stat().st_mtime_ns for path in (project / ".git").rglob("*")} == before
