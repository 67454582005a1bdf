"""One check that a model proposed, held against the recording: did it hold at the end, does it fail at first?

The words that it looks for are the person's or stand in a final file, and a command is one that the session ran.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_sleep.checks import Check
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.starts import Start, text_at
from skillopt_sleep.mine.kinds.grounds import hazard, heard
from skillopt_sleep.mine.requested.asking import LONGEST_LITERAL, DraftCheck
from skillopt_sleep.mine.requested.outcomes import Outcome
from skillopt_sleep.mine.requested.sheets import Offer, Sheet

SHORTEST_LITERAL: Final = 3
SEEN: Final = "held at the end"
UNSEEN: Final = "not judged at the end"
FAILS_FIRST: Final = "fails on the starting state"
MAY_HOLD_FIRST: Final = "may hold on the starting state"
_TELLING: Final = re.compile(r"[^\W\d_]{4,}")
_DEFINES: Final = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|module)[ \t]+([A-Za-z_]\w{2,})"
)
"""How a line begins, in most languages, that defines something by name."""


class Refused(Exception):
    """A task that is not kept; its message is the reason, for the report."""


@dataclass(frozen=True, slots=True)
class Vetted:
    """A check with what vetting found: whether it held at the end of the recording, and whether it fails at first.

    `said` is the person's own word where it rests on one, `event` the row that it was made from.
    """

    check: Check
    held: bool
    fails_first: bool
    event: int | None = None
    said: bool = False

    @property
    def finding(self) -> str:
        """What is kept with the check."""
        return f"{SEEN if self.held else UNSEEN}; {FAILS_FIRST if self.fails_first else MAY_HOLD_FIRST}"

    @property
    def origin(self) -> str:
        """What it was made from, in one word."""
        return "said" if self.said else "outcome"


@dataclass(frozen=True, slots=True)
class Words:
    """What was said in a session, what of it after the first request of a stretch, and all that was said and done."""

    said: tuple[tuple[int, str], ...]
    later: tuple[str, ...]
    all: tuple[str, ...]

    @classmethod
    def of(cls, sheet: Sheet, stretch: Sequence[Episode]) -> Words:
        said = tuple(row for one in sheet.requests for row in spoken(one))
        first = {stretch[0].prompt_event}
        later = tuple(text for one in stretch for event, text in spoken(one) if event not in first)
        done = (text for one in sheet.requests for a in one.actions for text in (a.command, *a.paths, a.new, a.old))
        return cls(said, later, (*(text for _, text in said), *filter(None, done)))

    def saying(self, text: str) -> int | None:
        """The row in which the person said it, None where they did not."""
        return next((event for event, words in self.said if heard(text, words, fold=True)), None)


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a check is held against."""

    sheet: Sheet
    start: Start
    outcome: Outcome
    words: Words
    prompt: str
    is_secret: Callable[[str], bool]


def spoken(one: Episode) -> Iterable[tuple[int, str]]:
    yield one.prompt_event, one.prompt
    yield from zip(one.queued_events, one.queued, strict=False)
    yield from ((action.said_event or action.id, action.said) for action in one.actions if action.said)


def vetted_check(draft: DraftCheck, scene: Scene) -> Vetted:
    """The check that a draft makes, with what was found of it. Raises `Refused`."""
    if draft.test == "answer":
        return _of_answer(draft.text.strip(), scene)
    offer = scene.sheet.offers.get(draft.offer)
    if offer is None:
        raise Refused("a check names what was not on offer")
    if offer.path:
        return _of_file(offer.path, draft, scene)
    if draft.test:
        raise Refused("a check means nothing")
    return _of_command(offer, scene) if offer.argv else _of_tool(offer.tool, scene)


def defined(scene: Scene) -> Vetted | None:
    """A check of our own, for a task whose others may all hold at first: what its prompt names was newly defined."""
    for path, end in scene.outcome.files.items():
        before = text_at(scene.start, path)
        named = before is not None or _names(scene.prompt, path)
        text = (end.whole if end.whole is not None else "\n".join(end.pieces)) if end.known and named else ""
        for found in _DEFINES.finditer(text):
            literal = found.group()
            if literal not in (before or "") and heard(found[1], scene.prompt):
                return Vetted(Check("file_state", {"path": path, "contains": literal}), True, True, end.event)
    return None


def _of_command(offer: Offer, scene: Scene) -> Vetted:
    if offer.argv not in scene.outcome.passed:
        raise Refused("a check did not hold at the end")
    line = shlex.join(offer.argv)
    _free_of_secrets(line, scene)
    check = Check("command", {"run": list(offer.argv), "status": 0})
    return Vetted(check, True, offer.argv in scene.outcome.failed_first, scene.outcome.passed[offer.argv])


def _of_tool(tool: str, scene: Scene) -> Vetted:
    if tool not in scene.outcome.tools:
        raise Refused("a check did not hold at the end")
    return Vetted(Check("tool_called", tool), True, True, scene.words.saying(tool), said=True)


def _of_answer(text: str, scene: Scene) -> Vetted:
    event = _literal(text, scene)
    if event is None:
        raise Refused("a check looks for what nobody asked for")
    if text not in scene.outcome.answer:
        raise Refused("a check did not hold at the end")
    return Vetted(Check("contains", text), True, True, event, said=True)


def _of_file(path: str, draft: DraftCheck, scene: Scene) -> Vetted:
    end, before = scene.outcome.files.get(path), text_at(scene.start, path)
    if end is None or not end.known:
        raise Refused("a check did not hold at the end")
    _free_of_secrets(path, scene)
    if before is None and not any(_names(text, path) for text in (scene.prompt, *scene.words.later)):
        raise Refused("its prompt does not name the file that a check looks for")
    if not draft.test:
        return Vetted(Check("file_state", {"path": path, "exists": True}), True, before is None, end.event)
    text = draft.text.strip()
    event = _literal(text, scene)
    if draft.test == "lacks":
        return _lacks(path, text, event, end.holds(text), before)
    if draft.test != "contains":
        raise Refused("a check means nothing")
    holds = end.holds(text)
    if holds is False or (holds is None and event is None):
        raise Refused("a check did not hold at the end")
    if event is None and not _asked_for(text, scene):
        raise Refused("a check looks for what nobody asked for")
    check = Check("file_state", {"path": path, "contains": text})
    fails_first = before is None or text not in before
    return Vetted(check, holds is True, fails_first, event or end.event, said=event is not None)


def _lacks(path: str, text: str, event: int | None, holds: bool | None, before: str | None) -> Vetted:
    if event is None:
        raise Refused("a check looks for what nobody asked for")
    if holds is not False:
        raise Refused("a check did not hold at the end")
    fails_first = before is None or text in before
    return Vetted(Check("file_state", {"path": path, "not_contains": text}), True, fails_first, event, said=True)


def _literal(text: str, scene: Scene) -> int | None:
    """The row in which the person said a literal, None where they did not. Raises `Refused` for one that tells nothing.

    That it is the person's or stands in a final file is for the check's own kind to see.
    """
    if not SHORTEST_LITERAL <= len(text) <= LONGEST_LITERAL or not text.isprintable():
        raise Refused("a check means nothing")
    if not any(map(str.isalnum, text)):
        raise Refused("a check means nothing")
    _free_of_secrets(text, scene)
    return scene.words.saying(text)


def _free_of_secrets(text: str, scene: Scene) -> None:
    if hazard(text) or scene.is_secret(text):
        raise Refused("a check quotes what looks like a secret or an address")


def _asked_for(text: str, scene: Scene) -> bool:
    """Whether what an agent wrote has a telling word in common with what was asked."""
    asked = " ".join((scene.prompt, *(words for _, words in scene.words.said))).casefold()
    return any(word in asked for word in _TELLING.findall(text.casefold()))


def _names(text: str, path: str) -> bool:
    return heard(path, text) or heard(path.rpartition("/")[2], text)
