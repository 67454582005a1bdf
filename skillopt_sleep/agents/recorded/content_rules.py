"""Rules about what is written, followed over a project's history.

A breach is an edit or write that went in and adds the unwanted. It had trouble if, within the next twenty actions of
its session, a failing command names the diagnostic, an edit of the same file takes the addition back (and puts what
is advised in its place, where something is), or the person objects in words that hold it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from skillopt_sleep.agents.recorded.effects import Effect, Occurrence
from skillopt_sleep.agents.recorded.history import Moment, Project
from skillopt_sleep.agents.recorded.judging import WINDOW
from skillopt_sleep.agents.recorded.outcomes import Outcomes, Seen
from skillopt_sleep.agents.recorded.parts import Standing
from skillopt_sleep.critics.meaning import ending
from skillopt_sleep.domain.episodes import ActionKind, ActionOutcome
from skillopt_sleep.domain.sentences import AlwaysWrite, DoNotWrite

_OBJECTS: Final = re.compile(
    r"\b(?:don'?t|do not|never|no|not|stop|why|wrong|instead|rather|remove|revert|undo|shouldn'?t|should not|without|"
    r"replace|use|must|always|missing|forgot|need(?:s|ed)?)\b",
    re.IGNORECASE,
)
_CHANGES: Final = frozenset({ActionKind.EDIT, ActionKind.WRITE})


@dataclass(frozen=True, slots=True)
class Trouble:
    """What an addition cost afterwards: actions, their tokens, and their ids."""

    actions: int
    tokens: int
    seen: tuple[int, ...]


@cache
def _pattern(identifier: str) -> re.Pattern[str]:
    before = r"(?<!\w)" if identifier[:1].isalnum() or identifier[:1] == "_" else ""
    after = r"(?!\w)" if identifier[-1:].isalnum() or identifier[-1:] == "_" else ""
    return re.compile(before + re.escape(identifier) + after)


def holds(content: str, identifier: str) -> int:
    """How often an identifier stands in a content, as a whole where it begins or ends as a word."""
    return len(_pattern(identifier).findall(content)) if identifier in content else 0


def adds(moment: Moment, identifier: str) -> bool:
    """Whether new content went in that holds the identifier more often than the old."""
    action = moment.action
    if action.outcome not in {ActionOutcome.OK, ActionOutcome.REFUSED}:
        return False
    return holds(action.new, identifier) > holds(action.old, identifier)


def changes_of(project: Project, g: str) -> Iterator[Moment]:
    """Edits and writes of files whose path ends so."""
    end = ending(g)
    return (moment for moment in project.changes if moment.path.endswith(end))


def do_not_write(project: Project, rule: DoNotWrite) -> Iterator[Occurrence]:
    """Left out, or something else written. Asked is what is seen of that being written in such files."""

    def trouble(moment: Moment, identifier: str, written: str) -> Trouble | None:
        def mends(m: Moment) -> bool:
            return _removes(m, identifier) and (not written or _puts(m, written, identifier))

        return _trouble(project, moment, rule.code, mends, identifier)

    advised = [m for m in changes_of(project, rule.g) if rule.instead and adds(m, rule.instead)]
    instead = Outcomes((m, _stood(m, trouble(m, rule.instead, ""))) for m in advised) if rule.instead else None
    for moment in changes_of(project, rule.g):
        if adds(moment, rule.x):
            found = trouble(moment, rule.x, rule.instead)
            if _stood(moment, found) is not Standing.NEITHER:
                yield _occurrence(moment, found, instead.near(moment) if instead else None, rule.instead)


def always_write(project: Project, rule: AlwaysWrite) -> Iterator[Occurrence]:
    """Something written along. Asked is what is seen of both being written in such files."""

    def lacked(moment: Moment) -> Trouble | None:
        return _trouble(project, moment, "", lambda m: _completes(m, rule), rule.y)

    def taken_out(moment: Moment) -> Trouble | None:
        return _trouble(project, moment, "", lambda m: _removes(m, rule.y), "")

    written = [moment for moment in changes_of(project, rule.g) if adds(moment, rule.x)]
    along = Outcomes((m, _stood(m, taken_out(m))) for m in written if holds(m.action.new, rule.y))
    for moment in written:
        if not holds(moment.action.new, rule.y):
            found = lacked(moment)
            if _stood(moment, found) is not Standing.NEITHER:
                yield _occurrence(moment, found, along.near(moment), rule.y)


def _completes(moment: Moment, rule: AlwaysWrite) -> bool:
    """An edit that adds what was missing where the other already stood."""
    return went_in(moment) and adds(moment, rule.y) and holds(moment.action.old, rule.x) > 0


def went_in(moment: Moment) -> bool:
    """Whether the change was made."""
    return moment.action.outcome is ActionOutcome.OK


def _stood(moment: Moment, trouble: Trouble | None) -> Standing:
    """How an addition fared. A refused one that was not refused for this says nothing."""
    if trouble:
        return Standing.WASTED
    return Standing.WORKED if went_in(moment) else Standing.NEITHER


def _occurrence(moment: Moment, trouble: Trouble | None, seen: Seen | None, instead: str) -> Occurrence:
    """`seen` is None where nothing is advised instead: then what is not written is left out."""
    effect = _effect(trouble is not None, seen)
    named = (*(trouble.seen if trouble else ()), *(seen.actions if seen else ()))
    actions, tokens = 0, 0
    if effect is Effect.PREVENTED and trouble:
        actions, tokens = trouble.actions, trouble.tokens
    elif effect is Effect.BROKEN:
        actions, tokens = -1, -moment.action.tokens
    return Occurrence(moment.action, moment.order, effect, instead, named, actions=actions, tokens=tokens)


def _effect(troubled: bool, seen: Seen | None) -> Effect:
    if seen is None:
        return Effect.PREVENTED if troubled else Effect.BROKEN
    if seen.answer == "unknown":
        return Effect.UNKNOWN
    if troubled:
        return Effect.PREVENTED if seen.answer == "works" else Effect.NEUTRAL
    return Effect.NEUTRAL if seen.answer == "works" else Effect.BROKEN


def _trouble(
    project: Project, moment: Moment, code: str, mends: Callable[[Moment], bool], identifier: str
) -> Trouble | None:
    """The first complaint of each kind after an addition. None where there is none."""
    window = project.sessions[moment.session][moment.at + 1 : moment.at + 1 + WINDOW]
    mending = next((m for m in window if m.path == moment.path and m.action.kind in _CHANGES and mends(m)), None)
    failing = next((m for m in window if _names(m, code, moment.path)), None) if code else None
    objected = bool(identifier) and _objected(project, moment, window, identifier)
    if not (mending or failing or objected):
        return None
    cost = [m for m in (mending, failing) if m] or [moment]
    return Trouble(len(cost), sum(m.action.tokens for m in cost), tuple(m.action.id for m in cost))


def _removes(moment: Moment, identifier: str) -> bool:
    action = moment.action
    taken = holds(action.old, identifier) > holds(action.new, identifier)
    return action.outcome is ActionOutcome.OK and action.kind is ActionKind.EDIT and taken


def _puts(moment: Moment, written: str, identifier: str) -> bool:
    """Whether an edit writes the one where the other stood: behind the same beginning of a line."""
    gone, come = moment.action.old.split("\n"), moment.action.new.split("\n")
    begins = {line.partition(identifier)[0].strip() for line in gone if holds(line, identifier)}
    return any(line.partition(written)[0].strip() in begins for line in come if holds(line, written))


def _names(moment: Moment, code: str, path: str) -> bool:
    """A check's complaint: a command that failed, or whose exit a pipe hid, with the diagnostic in its output.

    Where the output names files of this kind, the changed file must be among them.
    """
    action = moment.action
    if action.kind is not ActionKind.COMMAND or not holds(action.output, code):
        return False
    failed = action.outcome is ActionOutcome.ERROR or len(moment.parts) > 1
    kind = posixpath.splitext(path)[1]
    return failed and (posixpath.basename(path) in action.output or not (kind and holds(action.output, kind)))


def _objected(project: Project, moment: Moment, window: Sequence[Moment], identifier: str) -> bool:
    """Whether the person refused this or one of the next actions, or wrote after it, in words that hold it."""
    refused = (m for m in (moment, *window) if m.action.outcome is ActionOutcome.REFUSED)
    if any(holds(m.action.said, identifier) for m in refused):
        return True
    episode = project.episodes[moment.episode]
    ends = project.of_episode[moment.episode][-1].at
    near = ends - moment.at <= WINDOW
    return near and bool(holds(episode.correction, identifier)) and bool(_OBJECTS.search(episode.correction))
