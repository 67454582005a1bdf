"""Clones and worktrees of one code base, told by their names and by the files that were worked on.

What one of them teaches holds in all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Final

from skillopt_sleep.domain.episodes import ActionKind, ActionOutcome, Episode
from skillopt_sleep.mine.places import checkout_of

_ENOUGH: Final = ((3, 0.5), (4, 0.25))
"""Files that two folders must have in common, with the share of the files of the folder where fewer were touched."""
_DEPTH: Final = 2
"""Slashes in a path that is telling: a README or `src/index` is everywhere."""
_MOST_OWNERS: Final = 24
_TOUCHES: Final = frozenset({ActionKind.READ, ActionKind.EDIT, ActionKind.WRITE})


def one_codebase(episodes: Iterable[Episode]) -> Mapping[str, str]:
    """Each project's name and the name of the code base that it belongs to: that of its project seen first.

    Projects belong together where one is a worktree below the other by its name, and where they share files in nested
    folders: three and half of the smaller one's, or four and a quarter. Linear in the files, but for those that very
    many projects have, which tell nothing.
    """
    began: dict[str, int] = {}
    files: dict[str, set[str]] = defaultdict(set)
    for episode in episodes:
        began[episode.project] = min(episode.began_ms, began.get(episode.project, episode.began_ms))
        files[episode.project] |= set(_touched(episode))
    groups = {project: project for project in began}
    for (a, b), shared in sorted(_shared(files).items()):
        fewer = min(len(files[a]), len(files[b]))
        if any(shared >= max(fewest, share * fewer) for fewest, share in _ENOUGH):
            _join(groups, a, b, began)
    for project, checkout in _worktrees(began):
        _join(groups, project, checkout, began)
    return {project: _top(groups, project) for project in groups}


def _worktrees(projects: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Worktrees, each with its checkout, or with another worktree of that where the checkout itself is not known."""
    known = {project: project for project in sorted(projects)}
    for project in sorted(projects):
        if checkout := checkout_of(project):
            yield project, known.setdefault(checkout, project)


def _touched(episode: Episode) -> Iterable[str]:
    for action in episode.actions:
        if action.kind in _TOUCHES and action.outcome is ActionOutcome.OK:
            yield from (p for p in action.paths if p.count("/") >= _DEPTH and p[0] not in "/~.")


def _shared(files: Mapping[str, set[str]]) -> Counter[tuple[str, str]]:
    owners: dict[str, list[str]] = defaultdict(list)
    for project in sorted(files):
        for path in files[project]:
            owners[path].append(project)
    return Counter(pair for found in owners.values() if len(found) <= _MOST_OWNERS for pair in combinations(found, 2))


def _join(groups: dict[str, str], a: str, b: str, began: Mapping[str, int]) -> None:
    first, second = sorted((_top(groups, a), _top(groups, b)), key=lambda p: (began[p], p))
    groups[second] = first


def _top(groups: Mapping[str, str], project: str) -> str:
    while groups[project] != project:
        project = groups[project]
    return project
