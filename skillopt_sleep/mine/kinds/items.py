"""What a person said of what an agent did: the items that a model is shown, each with its place in the history."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from skillopt_core.recall import Similar
from skillopt_sleep.clock import end_of_day
from skillopt_sleep.domain import commands
from skillopt_sleep.domain.episodes import Action, ActionKind, Episode
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.mine import Mined
from skillopt_sleep.mine.trace import CHANGES, said_by_person
from skillopt_sleep.mine.wording import clipped, ending

FIRST_SHARE: Final = 0.6
"""Of the sessions of a first night, in order of time: what a model is shown; the later ones are evidence."""
MOST_ITEMS: Final = 240
BATCH_ITEMS: Final = 12
BATCH_CHARACTERS: Final = 5000
"""Of one prompt: small enough for a weak model."""
LONGEST_SAID: Final = 400
LONGEST_DONE: Final = 240
LONGEST_FOLLOWED: Final = 500
SHORTEST_FOLLOWED: Final = 12
"""Characters of a later prompt that may be a correction: longer ones are new work, shorter ones say yes or go on."""
_MOST_DONE: Final = 2
_FROM_HOME: Final = re.compile(r"(?:/home|/Users)/[^/\s'\"`:]+|[A-Za-z]:\\Users\\[^\\\s'\"`]+")

Sort = Literal["refused", "interrupted", "corrected", "followed"]
_SORTS: Final[Mapping[FrictionKind, Sort]] = {
    FrictionKind.REFUSAL: "refused",
    FrictionKind.INTERRUPT: "interrupted",
    FrictionKind.CORRECTION: "corrected",
}
_ORDER: Final[Mapping[Sort, int]] = {"refused": 0, "interrupted": 1, "corrected": 2, "followed": 3}


@dataclass(frozen=True, slots=True)
class Item:
    """Words of a person (`said`, at the row `event`) with what was done before them (`did`), as both are shown.

    `frictions` are what the miner made of the words; `topic` is what kind of action they are about, for the order.
    """

    event: int
    session: str
    at_ms: int
    sort: Sort
    said: str
    did: tuple[str, ...]
    topic: str
    frictions: tuple[Friction, ...]

    @property
    def stopped(self) -> bool:
        """Whether what was done is what the person did not want done."""
        return self.sort in {"refused", "interrupted"}

    @property
    def words(self) -> str:
        """All that is shown of it."""
        return "\n".join((self.said, *self.did))

    @property
    def length(self) -> int:
        return len(self.said) + sum(map(len, self.did)) + 40


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of history from which a model is shown items: what was said before `until_ms`, in these sessions.

    `cut_ms` is None where the cut follows from what is shown; a backtest sets it.
    """

    until_ms: int
    sessions: frozenset[str] | None = None
    cut_ms: int | None = None

    @classmethod
    def first(cls, episodes: Iterable[Episode], until_ms: int) -> Window:
        """Of a first night: the first 60 % of the sessions, so that the later days are evidence."""
        began: dict[str, int] = {}
        for episode in episodes:
            began[episode.session] = min(episode.began_ms, began.get(episode.session, episode.began_ms))
        ordered = sorted(began, key=lambda session: (began[session], session))
        return cls(until_ms, frozenset(ordered[: int(len(ordered) * FIRST_SHARE)]))

    def holds(self, item: Item) -> bool:
        return item.at_ms < self.until_ms and (self.sessions is None or item.session in self.sessions)

    def cut(self, shown: Sequence[Item]) -> int:
        """The end (UTC) of the last day of any item shown: what began later may be evidence."""
        return self.cut_ms if self.cut_ms is not None else end_of_day(max(item.at_ms for item in shown))


def shown_of(items: Iterable[Item], window: Window, known: Collection[int] = (), recall: int = 0) -> list[Item]:
    """The items that a model is shown: at most `MOST_ITEMS`, refusals before the rest, newer ones before older ones.

    With `recall`, what it has read before (`known`, by row) is shown again only as far as it is among the `recall` most
    similar of something new. None where fewer than two sessions are among them: nothing could be said to come back.
    """
    held = sorted((item for item in items if window.holds(item)), key=lambda i: (_ORDER[i.sort], -i.at_ms, i.event))
    chosen = (_recalled(held, known, recall) if recall and known else held)[:MOST_ITEMS]
    return chosen if len({item.session for item in chosen}) >= 2 else []


def _recalled(held: Sequence[Item], known: Collection[int], k: int) -> list[Item]:
    """What is new, and of the rest what is most similar to it, in their order."""
    read = [item for item in held if item.event in known]
    similar = Similar([item.words for item in read])
    again = {read[n].event for item in held if item.event not in known for n in similar.to(item.words, k)}
    return [item for item in held if item.event not in known or item.event in again]


def batches(items: Iterable[Item]) -> list[list[Item]]:
    """Items in the batches of one prompt each; those about one kind of action stand together."""
    found: list[list[Item]] = []
    size = 0
    for item in sorted(items, key=lambda i: (i.topic, i.at_ms, i.event)):
        if not found or len(found[-1]) == BATCH_ITEMS or size + item.length > BATCH_CHARACTERS:
            found.append([])
            size = 0
        found[-1].append(item)
        size += item.length
    return found


def items_of(found: Mined) -> tuple[Item, ...]:
    """All that persons said of actions, in order of time: reasons of refusals, what followed an interruption,
    corrections, and later prompts that may be one."""
    scene = _Scene(found.episodes)
    groups: dict[int, list[tuple[Friction, str]]] = defaultdict(list)
    for friction in found.frictions:
        if friction.kind in _SORTS:
            for quote in friction.quotes:
                if quote.author == "person" and quote.text:
                    groups[quote.event].append((friction, quote.text))
    items = [scene.item(event, rows) for event, rows in groups.items()]
    items += [scene.followed(before, after) for before, after in scene.pairs if _may_correct(before, after, groups)]
    return tuple(sorted(items, key=lambda item: (item.at_ms, item.event)))


def _may_correct(before: Episode, after: Episode, known: Mapping[int, object]) -> bool:
    length = len(after.prompt.strip())
    if after.prompt_event in known or not SHORTEST_FOLLOWED <= length <= LONGEST_FOLLOWED or after.prompt[0] == "/":
        return False
    return any(_is_doing(action) for action in before.actions)


class _Scene:
    """Who did what when: actions by id, and the episodes of each session in order."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self._actions = {action.id: (episode, action) for episode in episodes for action in episode.actions}
        self._typed = {episode.prompt_event: episode for episode in episodes}
        self._owner = {episode.id: episode for episode in episodes}
        self.pairs = list(_neighbours(episodes))
        self._before = {after.prompt_event: before for before, after in self.pairs}

    def item(self, event: int, rows: Sequence[tuple[Friction, str]]) -> Item:
        """An item of all that was made of one row of a person's words."""
        frictions = tuple(sorted((friction for friction, _ in rows), key=lambda f: _ORDER[_SORTS[f.kind]]))
        first = frictions[0]
        typed = self._typed.get(event)
        at_ms = max(first.at_ms, typed.began_ms if typed else 0)
        said = max((text for _, text in rows), key=len)
        actions = self._stopped(first) or self._last(event, first)
        return _item(event, first.session, at_ms, _SORTS[first.kind], said, actions, frictions, first.project)

    def followed(self, before: Episode, after: Episode) -> Item:
        """A later prompt of a session, with what had been done: whether it corrects that is for the model to say."""
        friction = Friction(
            signature=f"followed:{after.prompt_event}",
            kind=FrictionKind.CORRECTION,
            episode=before.id,
            session=before.session,
            at_ms=after.began_ms,
            failing=None,
            resolving=None,
            wasted=1,
            tokens=0,
            quotes=(said_by_person(after.prompt_event, after.session, after.began_ms, after.prompt),),
            person=after.person,
            project=after.project,
        )
        done = _doing(before.actions)
        place = (after.prompt_event, after.session, after.began_ms)
        return _item(*place, "followed", after.prompt, done, (friction,), after.project)

    def _stopped(self, friction: Friction) -> list[Action]:
        found = self._actions.get(friction.failing) if friction.failing is not None else None
        return [found[1]] if found else []

    def _last(self, event: int, friction: Friction) -> list[Action]:
        """What was done before words that name no action: in the episode before, or so far in the same one."""
        episode = self._before.get(event) or self._owner.get(friction.episode)
        return _doing([a for a in episode.actions if a.id < event]) if episode else []


def _neighbours(episodes: Sequence[Episode]) -> Iterator[tuple[Episode, Episode]]:
    sessions: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        sessions[episode.session].append(episode)
    for own in sessions.values():
        yield from pairwise(sorted(own, key=lambda e: (e.prompt_event, e.id)))


def _is_doing(action: Action) -> bool:
    return action.kind is ActionKind.COMMAND or action.kind in CHANGES


def _doing(actions: Iterable[Action]) -> list[Action]:
    return [action for action in actions if _is_doing(action)][-_MOST_DONE:]


def _item(
    event: int,
    session: str,
    at_ms: int,
    sort: Sort,
    said: str,
    actions: Sequence[Action],
    frictions: tuple[Friction, ...],
    project: str,
) -> Item:
    done = tuple(near(_shown(action), project, LONGEST_DONE) for action in actions)
    topic = _topic(actions[-1]) if actions else ""
    return Item(event, session, at_ms, sort, near(said, project, LONGEST_SAID), done, topic, frictions)


def near(text: str, project: str, longest: int) -> str:
    """One line of the text, in which the project is `.` and a home folder `~`: whose they are is nobody's business."""
    head = text[: 4 * longest]
    if len(project) > 1:
        head = re.sub(rf"{re.escape(project.rstrip('/'))}(?![\w.-])", ".", head)
    return clipped(_FROM_HOME.sub("~", head), longest)


def _shown(action: Action) -> str:
    """A command as it is; an edit as the path and what was written."""
    if action.kind is ActionKind.COMMAND:
        return f"run: {action.command}"
    named = " ".join(action.paths[:1])
    if action.kind in CHANGES:
        return f"{action.kind.value} {named}: {action.new}"
    return f"{action.tool} {named} {action.pattern}".strip()


def _topic(action: Action) -> str:
    if action.kind is ActionKind.COMMAND:
        parts = [part for part in commands.split(action.command) if not part.inside and not part.moves]
        return "run " + " ".join(commands.head(parts[0].words) if parts else ())
    return f"{action.kind.value} {ending(action.paths[0])}" if action.paths else action.tool
