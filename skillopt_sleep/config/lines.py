"""On which line of a TOML text a key stands. `tomllib` does not say; so the text is cut into its statements.

A statement (a table's head, or `key = value` over however many lines) is the shortest run of lines that is valid TOML.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping

PATIENCE = 300
"""Lines that one statement may have. A longer one is not cut further: what follows gets its first line."""

Path = tuple[str, ...]


def key_lines(text: str) -> dict[Path, int]:
    """The line (from 1) of every key of a valid TOML text, by its path. `[a.b]` gives ("a",) and ("a", "b")."""
    found: dict[Path, int] = {}
    table: Path = ()
    for number, statement, parsed in _statements(text):
        is_head = statement.lstrip().startswith("[")
        for path in _paths(parsed):
            found.setdefault(path if is_head else table + path, number)
            if is_head:
                table = path
    return found


def line_of(path: Path, found: Mapping[Path, int]) -> int | None:
    """The line of a key, or of the nearest that holds it."""
    while path:
        if path in found:
            return found[path]
        path = path[:-1]
    return None


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, object]]]:
    lines, first = text.split("\n"), 0
    for last in range(len(lines)):
        if last - first > PATIENCE:
            return
        statement = "\n".join(lines[first : last + 1])
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if parsed:
            yield first + 1, statement, parsed
        first = last + 1


def _paths(parsed: Mapping[str, object]) -> Iterator[Path]:
    """Outer keys before inner ones."""
    for key, value in parsed.items():
        yield (key,)
        inner = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else value
        if isinstance(inner, dict):
            yield from ((key, *path) for path in _paths(inner))
