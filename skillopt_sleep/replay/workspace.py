"""The folder in which an attempt works: a copy of a repository at one commit, files, or nothing.

A copy, and no worktree of the person's repository: what an agent commits, fetches or deletes there stays there. It has
the history before the commit and nothing that came after it, and no remote to which something could be pushed.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

HISTORY: Final = 50
"""Commits that are copied."""
SECONDS: Final = 120.0
COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
QUIET: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
_UPLOAD: Final = "git -c uploadpack.allowAnySHA1InWant=true -c safe.directory=* upload-pack"


@dataclass(frozen=True, slots=True)
class Start:
    """What a task starts from. `commit` is a full id in `repository`; `files` are laid over it, by relative path."""

    repository: Path | None = None
    commit: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


class NoStart(OSError):
    """A starting state that cannot be had any more."""


def lay_out(start: Start, folder: Path, path: str = os.defpath) -> None:
    """Put it into an empty folder. `path` is where git is found. Raises OSError (`NoStart`)."""
    if start.repository is not None:
        _copy(start.repository, start.commit, folder, path)
    for name, content in start.files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(folder.resolve()) or place.is_symlink():
            raise NoStart("a starting file would be written through a link")
        place.write_bytes(content)


def has_commit(repository: Path, commit: str, path: str = os.defpath) -> bool:
    """Whether the commit (a full id) can be copied out of the repository. Nothing is fetched for that."""
    if not COMMIT.fullmatch(commit) or not repository.is_absolute() or not (repository / ".git").exists():
        return False
    try:
        _git(path, repository, "-c", "safe.directory=*", "cat-file", "-e", f"{commit}^{{commit}}")
    except OSError:
        return False
    return True


def _copy(repository: Path, commit: str, folder: Path, path: str) -> None:
    if not COMMIT.fullmatch(commit):
        raise NoStart("the commit is no full id")
    _git(path, folder, "init", "--quiet", "--template=")
    fetch = ("fetch", "--quiet", "--no-tags", f"--depth={HISTORY}", f"--upload-pack={_UPLOAD}")
    _git(path, folder, *fetch, repository.absolute().as_uri(), commit)
    _git(path, folder, "checkout", "--quiet", "-B", "main", "FETCH_HEAD")
    (folder / ".git/FETCH_HEAD").unlink(missing_ok=True)


def _git(path: str, folder: Path, *arguments: str) -> None:
    """Git with nothing of the person's: no hooks, no filters, no configuration but the copy's own."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *arguments],
            env={"PATH": path, "HOME": str(folder), **QUIET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NoStart("git took too long") from error
    if done.returncode:
        raise NoStart("the commit cannot be copied from its repository")
