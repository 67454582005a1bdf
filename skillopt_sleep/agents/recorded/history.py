"""A project's recorded actions, by session in order, indexed by what a rule can speak of."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.agents.recorded.judging import judged
from skillopt_sleep.agents.recorded.parts import Part, Standing, parts_of
from skillopt_sleep.domain.commands import paths as paths_in
from skillopt_sleep.domain.episodes import Action, ActionKind, Episode

_LOOKING_NAMES: Final = "ls cat head tail grep egrep rg ag find fd tree wc stat less more bat file sed awk"
LOOKING: Final = frozenset(_LOOKING_NAMES.split())
"""Programs that read, search or list what they are given."""
_LOOKS: Final = frozenset({ActionKind.READ, ActionKind.SEARCH, ActionKind.LIST})
_CHANGES: Final = frozenset({ActionKind.EDIT, ActionKind.WRITE})


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """One action at its place: `at` in its session, `order` in the project's time. Compared by identity."""

    action: Action
    episode: int
    session: int
    at: int
    order: int
    standing: Standing
    parts: tuple[Part, ...]
    paths: tuple[str, ...]
    looks: tuple[str, ...]

    @property
    def path(self) -> str:
        """The file that an edit or write changes, "" where none is named."""
        return self.paths[0] if self.paths else ""


class Project:
    """The recorded actions of one project. Built once, then only read."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self.episodes = tuple(episodes)
        self.sessions: list[list[Moment]] = []
        self.of_episode: list[list[Moment]] = [[] for _ in episodes]
        self.by_word: dict[str, list[Moment]] = defaultdict(list)
        self.by_path: dict[str, list[Moment]] = defaultdict(list)
        self.by_look: dict[str, list[Moment]] = defaultdict(list)
        self.checks: list[Moment] = []
        self.changes: list[Moment] = []
        self.edits: list[Moment] = []
        self.by_order: list[Moment] = []
        self._build()

    def _build(self) -> None:
        by_session: dict[str, list[tuple[Action, int]]] = defaultdict(list)
        for index, episode in enumerate(self.episodes):
            by_session[episode.session].extend((action, index) for action in episode.actions)
        sessions = [sorted(rows, key=lambda row: (row[0].seq, row[1])) for rows in by_session.values()]
        timed = sorted(
            (self._when(action, index), session, at)
            for session, rows in enumerate(sessions)
            for at, (action, index) in enumerate(rows)
        )
        order = {(session, at): n for n, (_, session, at) in enumerate(timed)}
        for session, rows in enumerate(sessions):
            self.sessions.append(list(self._moments(session, rows, order)))
        for _, session, at in timed:
            self._index(self.sessions[session][at])

    def _when(self, action: Action, episode: int) -> int:
        return self.episodes[episode].began_ms if action.at_ms is None else action.at_ms

    def _moments(
        self, session: int, rows: Sequence[tuple[Action, int]], order: dict[tuple[int, int], int]
    ) -> Iterator[Moment]:
        actions = [action for action, _ in rows]
        parsed = [parts_of(action.command) if action.kind is ActionKind.COMMAND else () for action in actions]
        for at, (standing, parts) in enumerate(judged(actions, parsed)):
            action, episode = rows[at]
            paths = tuple(dict.fromkeys(map(normal, action.paths)))
            looks = paths if action.kind in _LOOKS else tuple(path for part in parts for path in looked(part))
            yield Moment(action, episode, session, at, order[session, at], standing, parts, paths, looks)

    def _index(self, moment: Moment) -> None:
        self.by_order.append(moment)
        self.of_episode[moment.episode].append(moment)
        words = {word for part in moment.parts for word in (*part.simple.words, part.words[0])}
        for word in words:
            self.by_word[word].append(moment)
        for path in moment.paths:
            self.by_path[path].append(moment)
        for folder in {above for path in moment.looks for above in ancestors(path)}:
            self.by_look[folder].append(moment)
        if any(part.check for part in moment.parts):
            self.checks.append(moment)
        if moment.action.kind in _CHANGES and moment.path:
            self.changes.append(moment)
            if moment.action.kind is ActionKind.EDIT:
                self.edits.append(moment)

    def with_words(self, words: Sequence[str]) -> Sequence[Moment]:
        """The commands that hold the rarest of these words, in order of time."""
        return min((self.by_word.get(word, []) for word in words), key=len, default=[])


class History:
    """Every project's recorded actions. `of` takes episodes in any order; one that comes twice counts once."""

    def __init__(self, projects: dict[str, Project], places: dict[str, tuple[str, int]]) -> None:
        self.projects = projects
        self._places = places

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> History:
        """Index episodes by project. Linear in their actions."""
        unique = {episode.id: episode for episode in episodes}
        grouped: dict[str, list[Episode]] = defaultdict(list)
        for episode in sorted(unique.values(), key=lambda e: (e.began_ms, e.session, e.prompt_event, e.id)):
            grouped[episode.project].append(episode)
        projects = {name: Project(rows) for name, rows in grouped.items()}
        places = {e.id: (name, index) for name, rows in grouped.items() for index, e in enumerate(rows)}
        return cls(projects, places)

    def place(self, episode: Episode) -> tuple[Project, int] | None:
        """The project and the number of an episode in it; None for one that was not indexed."""
        place = self._places.get(episode.id)
        return (self.projects[place[0]], place[1]) if place else None


def normal(path: str) -> str:
    """A path in one spelling: no `./`, no trailing slash."""
    return posixpath.normpath(path) if path else path


def ancestors(path: str) -> Iterator[str]:
    """The path itself and every folder above it but the root."""
    while path and path not in {"/", "."}:
        yield path
        path = posixpath.dirname(path)


def looked(part: Part) -> tuple[str, ...]:
    """The paths that a reading, searching or listing command is given, below the folder that `cd` led to."""
    if part.words[0] not in LOOKING:
        return ()
    return tuple(normal(posixpath.join(part.simple.cwd, path)) for path in paths_in(part.simple.words))
