"""Starting states of recorded sessions, read out of the project's own repository with git, which writes nothing."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from skillopt_sleep.replay.workspace import QUIET, has_commit

SECONDS: Final = 20.0
LARGEST: Final = 1 << 20
"""Bytes of a file that is looked at."""
MOST_MOVES: Final = 20_000
"""Entries of the log of where HEAD stood that are read, the newest ones."""
_STOOD: Final = re.compile(r"([0-9a-f]{40,64}) HEAD@\{(\d+)\}")


class GitStarts:
    """Implements `domain.starts.Starts` for one project. `path` is where git is found.

    A folder that is no repository has no starts. A commit counts only if it is there, whole, on this machine.
    """

    def __init__(self, project: str, path: str = os.defpath) -> None:
        self._path = path
        self._folder = Path(project)
        self._there = self._folder.is_absolute() and (self._folder / ".git").exists()
        self._found: dict[str, GitStart | None] = {}

    def at(self, commit: str, at_ms: int) -> GitStart | None:
        """The commit that an agent recorded; with "" the one on which HEAD stood then, by git's own log of it."""
        if not self._there:
            return None
        wanted = commit or self._stood(at_ms)
        if wanted not in self._found:
            there = has_commit(self._folder, wanted, self._path)
            self._found[wanted] = GitStart(self._folder, wanted, self._path) if there else None
        return self._found[wanted]

    def _stood(self, at_ms: int) -> str:
        """ "" for a time before the log begins: git keeps it for about 90 days."""
        return next((commit for seconds, commit in self._moves if seconds * 1000 <= at_ms), "")

    @cached_property
    def _moves(self) -> list[tuple[int, str]]:
        """When HEAD came to stand where, the newest first."""
        asked = (
            "log",
            "-g",
            "--no-show-signature",
            "--date=unix",
            f"--max-count={MOST_MOVES}",
            "--format=%H %gd",
            "HEAD",
        )
        told = (_git(self._path, self._folder, *asked) or b"").decode("utf-8", "replace")
        return [(int(found[2]), found[1]) for found in map(_STOOD.fullmatch, told.splitlines()) if found]


class GitStart:
    """Implements `domain.starts.Start`: one commit of a repository."""

    def __init__(self, folder: Path, commit: str, path: str) -> None:
        self.commit = commit
        self._folder = folder
        self._path = path
        self._read = cache(self._content)

    def file(self, path: str) -> bytes | None:
        """The file as it was committed; None where there is none, or it is larger than a megabyte."""
        return self._read(path)

    def _content(self, path: str) -> bytes | None:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith(("/", ":", "-")) or ".." in parts or not path.isprintable():
            return None
        content = _git(self._path, self._folder, "cat-file", "blob", f"{self.commit}:{'/'.join(parts)}")
        return content if content is not None and len(content) <= LARGEST else None


def _git(path: str, folder: Path, *arguments: str) -> bytes | None:
    """What git says, None where it fails. None of the person's configuration is read but the repository's own."""
    environment = {"PATH": path, "HOME": os.devnull, **QUIET, "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "--no-pager", "--no-replace-objects", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return done.stdout if done.returncode == 0 else None
