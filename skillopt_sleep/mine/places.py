"""Paths of a session as its project knows them: relative below the root, `~` below the home."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final

_HOME: Final = re.compile(r"(?:/(?:Users|home)/|(?:/[a-z]|[A-Za-z]:)/Users/)([^/]+)(?=/|\Z)|/root(?=/|\Z)")
_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_WORKTREE: Final = re.compile(r"/(?:\.[\w-]+/)?\.?worktrees?/")
_BOUNDARY: Final = r"(?=[/\s'\"`;:,()&|<>]|\Z)"


def owner(path: str) -> str:
    """Whose home a path lies in: the user's name, "root", or "" where it cannot be told."""
    if not (match := _HOME.match(slashed(path))):
        return ""
    return match[1] or "root"


def checkout_of(folder: str) -> str:
    """The checkout that a worktree lies in by its name (`x` of `x/.worktrees/y`), "" where the folder is none."""
    clean = posixpath.normpath(slashed(folder)) if folder else ""
    return clean[: match.start()] if (match := _WORKTREE.search(clean)) else ""


def slashed(path: str) -> str:
    """The path with forward slashes and without a `file:` scheme."""
    path = path.removeprefix("file://")
    return path.replace("\\", "/") if _WINDOWS.match(path) else path


def _roots(folders: Sequence[str]) -> Iterator[str]:
    """Each folder and the checkout that its worktree belongs to; folders below an earlier one say nothing new."""
    seen: list[str] = []
    for folder in filter(None, folders):
        clean = posixpath.normpath(slashed(folder))
        main = checkout_of(clean)
        if not any(clean == other or (clean.startswith(other + "/") and not main) for other in seen):
            seen.append(clean)
            yield from (clean, main)


class Places:
    """Makes paths of one session relative to its folders. A worktree below its checkout counts as that checkout."""

    def __init__(self, *folders: str) -> None:
        roots = {r for r in _roots(folders) if r not in {"", "/", "."}}
        self.roots = tuple(sorted(roots, key=lambda r: (-len(r), r)))
        self._text = re.compile("|".join(rf"(?<![\w./~-]){re.escape(r)}/?{_BOUNDARY}" for r in self.roots) or r"(?!)")

    def relative(self, path: str) -> str:
        """`a/b` for a path below the root, "." for the root itself, `~/x` below a home; others as they are."""
        plain = path.strip()
        if not plain or "://" in plain.removeprefix("file://") or "\n" in plain:
            return plain
        plain = posixpath.normpath(slashed(plain))
        for root in self.roots:
            if plain == root:
                return "."
            if plain.startswith(root + "/"):
                return plain[len(root) + 1 :]
        home = _HOME.match(plain)
        return "~" + plain[home.end() :] if home else plain

    def shell(self, command: str) -> str:
        """A shell text with the root's own path taken away, so that it reads alike in every checkout."""
        if not any(root in command for root in self.roots):
            return command
        return self._text.sub(".", self._below(command))

    def _below(self, command: str) -> str:
        for root in self.roots:
            command = re.sub(rf"(?<![\w./~-]){re.escape(root)}/(?=[\w.@~-])", "", command)
        return command
