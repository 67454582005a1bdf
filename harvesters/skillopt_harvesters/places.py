"""Where a session worked, if its transcript does not say so: of all folders that its calls name, the one that a
digest or a name which the agent gave the project proves to be the project's.

Nothing on disk is looked at: a path in a transcript is only compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import msgspec

from skillopt_harvesters.jsonl import REFUSED

CANDIDATES = 4096
"""Folders of a session that are tried at most."""
LONGEST = 1024
_ABSOLUTE = re.compile(r"/[^\0\n]|[A-Za-z]:[\\/]")
_INSIDE = re.compile(r"(?:^|[\s=\"'(])((?:/|[A-Za-z]:[\\/])[^\s\"'`;|&<>()$*]+)")

_any = msgspec.json.Decoder()


def folder(home: Path, value: str) -> Path:
    """A folder that an environment variable names: `~` is the home, and a relative one counts from there."""
    if value == "~" or value.startswith("~/"):
        return home / value[2:]
    return home / value


def named(home: Path, environ: Mapping[str, str], variable: str, otherwise: str) -> Path:
    """The folder of an environment variable, or the one below the home that is meant without it."""
    return folder(home, environ.get(variable) or otherwise)


class Place:
    """Finds the folder of which a predicate is true, among those that calls name and all above them."""

    def __init__(self, proves: Callable[[str], bool]) -> None:
        self._proves = proves
        self._tried: set[str] = set()

    def look(self, arguments: str) -> str:
        """The folder if a call's arguments (JSON text) name it or something below it, else ""."""
        for path in paths_in(arguments):
            for candidate in upwards(path):
                if candidate in self._tried:
                    break
                if len(self._tried) >= CANDIDATES:
                    return ""
                self._tried.add(candidate)
                if self._proves(candidate):
                    return candidate
        return ""


def paths_in(arguments: str) -> Iterator[str]:
    """The absolute paths that a call's arguments name."""
    try:
        value = _any.decode(arguments)
    except REFUSED:
        return
    for text in strings_of(value):
        if len(text) <= LONGEST and _ABSOLUTE.match(text) and "\n" not in text:
            yield text
        for found in _INSIDE.finditer(text[: 4 * LONGEST]):
            yield found[1][:LONGEST]


def strings_of(value: Any) -> Iterator[str]:
    """The strings inside a decoded value, however deep."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            waiting.extend(reversed(item))
        elif isinstance(item, dict):
            waiting.extend(reversed(list(item.values())))


def upwards(path: str) -> Iterator[str]:
    """A path and the folders above it, without the root."""
    pure = PurePosixPath(path) if path.startswith("/") else PureWindowsPath(path)
    yield str(pure)
    for parent in pure.parents:
        if parent != parent.parent:
            yield str(parent)
