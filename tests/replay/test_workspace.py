"""The folder in which an attempt works: the repository as it was at a commit, and no way back to it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skillopt_sleep.replay.workspace import NoStart, Start, lay_out


def git(folder: Path, *arguments: str) -> str:
    named = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=trunk")
    done = subprocess.run(["git", "-C", str(folder), *named, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits; a hook and a filter that would tell if they ran."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.txt").write_text("before\n")
    (folder / ".gitattributes").write_text("* filter=told\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "a.txt").write_text("the solution\n")
    git(folder, "commit", "-qam", "second")
    git(folder, "config", "filter.told.smudge", f"touch {tmp_path}/told")
    hook = folder / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/told\n")
    hook.chmod(0o755)
    return folder


def test_a_commit_is_copied_without_what_came_after_it(repository: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    lay_out(Start(repository, git(repository, "rev-parse", "HEAD~1"), {"b/c.txt": b"laid over"}), work)
    assert (work / "a.txt").read_text() == "before\n"
    assert (work / "b/c.txt").read_bytes() == b"laid over"
    assert git(work, "log", "--all", "--format=%s") == "first"
    assert git(work, "remote") == ""
    assert git(repository, "rev-parse", "HEAD") not in git(work, "cat-file", "--batch-all-objects", "--batch-check")
    assert not (tmp_path / "told").exists()


def test_what_happens_in_the_copy_does_not_reach_the_repository(repository: Path, tmp_path: Path) -> None:
    work, before = tmp_path / "work", git(repository, "for-each-ref")
    work.mkdir()
    lay_out(Start(repository, git(repository, "rev-parse", "HEAD")), work)
    (work / "a.txt").write_text("spoilt")
    git(work, "commit", "-qam", "spoilt")
    git(work, "branch", "-f", "trunk")
    assert git(repository, "for-each-ref") == before
    assert git(repository, "worktree", "list").count("\n") == 0


def test_a_commit_that_is_gone_cannot_be_had(repository: Path, tmp_path: Path) -> None:
    for commit in ("0" * 40, "HEAD", "--upload-pack=x", ""):
        with pytest.raises(NoStart):
            lay_out(Start(repository, commit), tmp_path / "work")


def test_without_a_repository_there_are_files_or_nothing(tmp_path: Path) -> None:
    lay_out(Start(), tmp_path)
    assert list(tmp_path.iterdir()) == []
    lay_out(Start(files={"x/y": b"1"}), tmp_path)
    assert (tmp_path / "x/y").read_bytes() == b"1"


def test_a_starting_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    work.mkdir()
    (work / "out").symlink_to(outside)
    with pytest.raises(NoStart):
        lay_out(Start(files={"out/x": b"1"}), work)
    assert list(outside.iterdir()) == []
