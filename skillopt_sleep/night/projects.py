"""The code bases that a night works on: clones and worktrees of one are one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.mine.projects import one_codebase
from skillopt_sleep.night.plan import base_name


@dataclass(frozen=True, slots=True)
class Project:
    """One code base: its name is the path of the project seen first; its episodes are in order of time."""

    name: str
    episodes: tuple[Episode, ...]

    @property
    def shown(self) -> str:
        return base_name(self.name)

    @property
    def last_ms(self) -> int:
        return max(episode.began_ms for episode in self.episodes)


def in_code_bases(episodes: Sequence[Episode], chosen: Sequence[str]) -> tuple[Project, ...]:
    """Episodes by code base, those with the newest sessions first; `chosen` folders only, where any are named."""
    bases = one_codebase(episodes)
    groups: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        base = bases[episode.project]
        if _wanted(base, chosen) or _wanted(episode.project, chosen):
            groups[base].append(replace(episode, project=base))
    projects = [
        Project(base, tuple(sorted(found, key=lambda e: (e.began_ms, e.session, e.prompt_event))))
        for base, found in groups.items()
    ]
    return tuple(sorted(projects, key=lambda project: (-project.last_ms, project.name)))


def _wanted(project: str, chosen: Sequence[str]) -> bool:
    below = [folder.rstrip("/") for folder in chosen]
    return not chosen or any(project == folder or project.startswith(folder + "/") for folder in below)
