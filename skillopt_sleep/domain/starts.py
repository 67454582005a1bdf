"""What a recorded session started from: a commit of its project, or an empty folder."""

from __future__ import annotations

from typing import Protocol


class Start(Protocol):
    """The state from which a task starts: a commit of its project, or an empty folder (`commit` is "")."""

    @property
    def commit(self) -> str: ...

    def file(self, path: str) -> bytes | None:
        """The content of a file by its relative path, None where there is none."""
        ...


class Starts(Protocol):
    """Where the starting states of a project's sessions are found."""

    def at(self, commit: str, at_ms: int) -> Start | None:
        """The commit that an agent recorded, or with "" the one on which the project stood then; None: neither is
        to be had here."""
        ...


class Nothing:
    """An empty folder. Implements `Start`."""

    commit = ""

    def file(self, path: str) -> bytes | None:
        """There is none."""
        return None


def text_at(start: Start | None, path: str) -> str | None:
    """A file of the starting state as text, None where there is none or no start is known."""
    content = start.file(path) if start is not None else None
    return None if content is None else content.decode("utf-8", "replace")
