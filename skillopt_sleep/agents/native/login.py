"""What of a person goes into an attempt's HOME so that the agent is signed in, and what never does.

A token that renews a login stays where it is: an agent that used it in an attempt would sign the person out elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

LARGEST: Final = 1 << 20
"""Bytes of a file of an agent that is read."""
_RENEWING: Final = frozenset({"refreshToken", "refresh_token"})


@dataclass(frozen=True, slots=True)
class Theirs:
    """The person's HOME and environment, where their agents are signed in."""

    home: Path
    environ: Mapping[str, str]

    def named(self, names: Iterable[str]) -> dict[str, str]:
        """The variables of these names that are set."""
        return {name: self.environ[name] for name in names if self.environ.get(name)}

    def folder(self, variable: str, usual: str) -> Path:
        """An agent's own folder: where a variable moved it to, else where it usually is."""
        moved = self.environ.get(variable, "")
        return Path(moved).expanduser() if moved else self.home / usual


def text_of(path: Path) -> str:
    """A small text file, "" where there is none that can be read."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def object_of(text: str) -> dict[str, Any]:
    """A JSON object, empty where the text is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def without_renewal(value: Any) -> Any:
    """The same with the tokens that renew a login emptied."""
    if isinstance(value, dict):
        return {key: "" if key in _RENEWING else without_renewal(inner) for key, inner in value.items()}
    return [without_renewal(inner) for inner in value] if isinstance(value, list) else value


def keep(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    with path.open("w", encoding="utf-8") as file:
        file.write(text)


def host(url: str, otherwise: str) -> str:
    """`host` or `host:port` of an address."""
    parts = urlsplit(url)
    return (f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "") if url else otherwise


def objects(out: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects among the lines of what was said."""
    for line in out.decode("utf-8", "replace").splitlines():
        if line.startswith("{") and (found := object_of(line)):
            yield found
