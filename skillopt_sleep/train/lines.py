"""A file of JSON lines that survives a kill: each line is whole or is not there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillopt_sleep.errors import StoreError


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of the file, none where there is no file. A last line that a kill cut short is taken off.

    Raises `StoreError` for a line that is no JSON object.
    """
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    return [_object(line, path, number) for number, line in enumerate(whole.splitlines(), 1)]


def append_line(path: Path, document: Mapping[str, object]) -> None:
    """Add one line and see it on the disk. The file is the owner's alone."""
    line = json.dumps(document, ensure_ascii=True, allow_nan=False) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="ascii") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise StoreError("is damaged", where=f"{path}:{number}", remedy="Begin a new run with another --out")
    return document
