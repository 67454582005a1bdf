"""Places that gave nothing: an empty one is said, one that is not empty wants a person (cli.md, exit code 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_harvesters.model import Source, Trouble
from skillopt_sleep.domain.reports import ReadWarning
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.sources import Key, path_text, understood_of

SILENT: Final = "gave nothing"
"""How the reason of a place begins that is not empty and gave nothing."""
EMPTY: Final = ("empty",)
"""Reasons for which a file that is no transcript counts as empty."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where transcripts were looked for: an agent's folders, or one path of `--from`.

    `trouble` is what could not be looked at, `others` path and reason of files that are no transcripts.
    """

    name: str
    paths: tuple[str, ...]
    sources: Sequence[Source]
    trouble: Sequence[Trouble] = ()
    others: Sequence[tuple[str, str]] = ()


def silences(store: Store, places: Sequence[Place]) -> Iterator[ReadWarning]:
    """What to say of places without a result, after they were read. Where there is nothing anywhere: all of them."""
    known = understood_of(store)
    for place in places:
        if reason := _silent(place, known):
            yield ReadWarning(place.paths[0], None, f"{SILENT}: {reason}")
    if not any(place.sources or place.trouble or _not_empty(place) for place in places):
        for place in places:
            yield from (ReadWarning(path, None, f"no transcripts of {place.name} here") for path in place.paths)


def _silent(place: Place, known: Mapping[Key, tuple[str, int]]) -> str:
    """Why a place is silent; "" where it is not, or where that cannot be told yet: there is more to read."""
    found = [known.get((source.agent, path_text(source.path)), ("pending", 0)) for source in place.sources]
    if any(understood or state in {"pending", "excluded"} for state, understood in found):
        return ""
    mute = sum(state == "read" and source.size > 0 for source, (state, _) in zip(place.sources, found, strict=True))
    if mute:
        return f"no record in {_files(mute)} is of a kind that {place.name} is known to write"
    unread = len(place.trouble) + sum(state == "unreadable" for state, _ in found)
    if unread:
        return place.trouble[0].reason if place.trouble else f"{_files(unread)} cannot be read"
    others = _not_empty(place)
    return f"{others[0][1]} ({_files(len(others))})" if others else ""


def _not_empty(place: Place) -> list[tuple[str, str]]:
    return [other for other in place.others if other[1] not in EMPTY]


def _files(n: int) -> str:
    return "1 file" if n == 1 else f"{n} files"
