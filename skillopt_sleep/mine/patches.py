"""Patch texts of the `*** Begin Patch` kind, which Codex and others hand to one tool for several files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

_FILE: Final = re.compile(r"\*\*\* (Update|Add|Delete) File: (.+?)\s*\Z")
BEGIN: Final = "*** Begin Patch"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a patch. `old` and `new` hold its hunks with their context, as an edit's two strings do."""

    path: str
    change: Literal["Update", "Add", "Delete"]
    old: str
    new: str


def changes(patch: str) -> Iterator[FileChange]:
    """The files that a patch changes, in order; nothing where the text is no patch."""
    path, change = "", ""
    old: list[str] = []
    new: list[str] = []
    for line in patch.split("\n"):
        if header := _FILE.match(line):
            yield from _closed(path, change, old, new)
            path, change, old, new = header[2], header[1], [], []
        elif path and not line.startswith("***"):
            _take(line, old, new)
    yield from _closed(path, change, old, new)


def _take(line: str, old: list[str], new: list[str]) -> None:
    if line.startswith("@@"):
        return
    if not line.startswith("+"):
        old.append(line[1:])
    if not line.startswith("-"):
        new.append(line[1:])


def _closed(path: str, change: str, old: list[str], new: list[str]) -> Iterator[FileChange]:
    if path and change == "Update":
        yield FileChange(path, "Update", "\n".join(old), "\n".join(new))
    elif path and change == "Add":
        yield FileChange(path, "Add", "", "\n".join(new))
    elif path:
        yield FileChange(path, "Delete", "\n".join(old), "")
