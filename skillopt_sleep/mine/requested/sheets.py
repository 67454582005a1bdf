"""What a model is shown of one session: its requests with what was done for each, and the checks that are on offer.

A check can only be taken from what is on offer: a command that the session itself ran and that passed at the end, a
file that it wrote, a tool that it called and the person named. The model names it by its mark (`c1`), never in words.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome, Episode
from skillopt_sleep.mine.kinds.items import near
from skillopt_sleep.mine.requested.outcomes import Outcome, inside, outcome_of
from skillopt_sleep.mine.trace import CHANGES

MOST_REQUESTS: Final = 12
"""Requests of a session that are shown, the first ones."""
MOST_DONE: Final = 8
"""Things done for one request that are shown, the last ones."""
MOST_OFFERS: Final = 12
LONGEST_SAID: Final = 600
LONGEST_DONE: Final = 200
_PASSED_BEFORE: Final = " (it may have passed before the work: never the only check)"
_THERE_BEFORE: Final = " (it was there before the work: name a text in it that is new)"
_FEWEST_LETTERS: Final = 12
"""Letters and digits of a request that asks for something."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that a check may look at: exactly one of `argv`, `path` and `tool` is set.

    `alone`: it was not so before the work, as far as the recording tells, so that it can be a check by itself.
    """

    argv: tuple[str, ...] = ()
    path: str = ""
    tool: str = ""
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Sheet:
    """One session: its requests in order, and what its end offers by mark."""

    session: str
    project: str
    requests: tuple[Episode, ...]
    offers: Mapping[str, Offer]

    @property
    def began_ms(self) -> int:
        return self.requests[0].began_ms

    @property
    def ended_ms(self) -> int:
        """When the last thing was asked or done."""
        times = (action.at_ms for one in self.requests for action in one.actions if action.at_ms is not None)
        return max((*times, *(one.began_ms for one in self.requests)))

    @property
    def episodes(self) -> frozenset[str]:
        return frozenset(one.id for one in self.requests)

    def stretch(self, first: int, last: int) -> tuple[Episode, ...]:
        """The requests from the one with this number to that with the other, counted from 1."""
        return self.requests[first - 1 : last]

    def text(self) -> str:
        """As a model is shown it: the project is `.`, a home folder `~`, each thing said or done is one line."""
        return "\n".join(_lines(self))


def sheets_of(episodes: Iterable[Episode]) -> list[Sheet]:
    """The sessions in which something was asked for and done that could be checked, in order of time."""
    sessions: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        if episode.prompt:
            sessions[episode.session].append(episode)
    sheets = [_sheet(own) for own in sessions.values()]
    return sorted((sheet for sheet in sheets if sheet is not None), key=lambda s: (s.began_ms, s.session))


def _sheet(episodes: Sequence[Episode]) -> Sheet | None:
    requests = tuple(sorted(episodes, key=lambda e: (e.prompt_event, e.id)))[:MOST_REQUESTS]
    if not any(_asks(episode.prompt) for episode in requests):
        return None
    offers = _offers(outcome_of(requests), " ".join(_said(requests)))
    return Sheet(requests[0].session, requests[0].project, requests, offers) if offers else None


def _asks(prompt: str) -> bool:
    return sum(map(str.isalnum, prompt)) >= _FEWEST_LETTERS and not prompt.lstrip().startswith("/")


def _said(requests: Sequence[Episode]) -> Iterator[str]:
    for one in requests:
        yield from (one.prompt, *one.queued, *(action.said for action in one.actions if action.said))


def _offers(outcome: Outcome, said: str) -> dict[str, Offer]:
    ran = [Offer(argv=argv, alone=argv in outcome.failed_first) for argv in outcome.passed]
    left = [(path, end) for path, end in outcome.files.items() if end.known and inside(path)]
    files = [Offer(path=path, alone=end.born) for path, end in left]
    named = [tool for tool in outcome.tools if re.search(rf"(?<![\w-]){re.escape(tool)}(?![\w-])", said)]
    tools = [Offer(tool=tool) for tool in named]
    return {
        f"{letter}{n}": offer
        for letter, offers in (("c", ran), ("f", files), ("t", tools))
        for n, offer in enumerate(offers[:MOST_OFFERS], 1)
    }


def _lines(sheet: Sheet) -> Iterator[str]:
    for number, one in enumerate(sheet.requests, 1):
        yield f"{number}. said: {near(one.prompt, sheet.project, LONGEST_SAID)}"
        for action in _telling(one.actions):
            yield f"did: {near(_done(action), sheet.project, LONGEST_DONE)}"
            if action.said:
                yield f"refused, saying: {near(action.said, sheet.project, LONGEST_SAID)}"
        yield from (f"said meanwhile: {near(words, sheet.project, LONGEST_SAID)}" for words in one.queued)
    yield "checks on offer:"
    yield from (f"{mark}: {_offered(offer)}" for mark, offer in sheet.offers.items())


def _telling(actions: Sequence[Action]) -> list[Action]:
    """Changes, commands and refused calls; of edits of one file the last."""
    last = {action.paths[0]: action for action in actions if action.kind in CHANGES and action.paths}
    kept = [a for a in actions if a.kind is ActionKind.COMMAND or a.said or (a.paths and last.get(a.paths[0]) is a)]
    return kept[-MOST_DONE:]


def _done(action: Action) -> str:
    ended = {ActionOutcome.ERROR: " (failed)", ActionOutcome.REFUSED: " (refused)", ActionOutcome.DENIED: " (denied)"}
    if action.kind is ActionKind.COMMAND:
        return f"run{ended.get(action.outcome, '')}: {action.command}"
    return f"{action.kind.value}{ended.get(action.outcome, '')} {' '.join(action.paths[:1])}: {action.new}"


def _offered(offer: Offer) -> str:
    if offer.argv:
        return f"the command `{shlex.join(offer.argv)}` ends well" + ("" if offer.alone else _PASSED_BEFORE)
    if offer.path:
        return f"the file `{offer.path}`" + ("" if offer.alone else _THERE_BEFORE)
    return f"the tool `{offer.tool}` is called"
