"""How each recorded action fared, before any rule is thought of.

Wasted is what failed, what the person refused, and a search that found nothing; also an edit that a failing command
names and a later edit takes back. A failing check that an edit mends did its work: it is not wasted.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from skillopt_sleep.agents.recorded.parts import Part, Standing, blamed
from skillopt_sleep.domain.episodes import Action, ActionKind, ActionOutcome

WINDOW: Final = 20
"""Actions within which trouble is laid to an edit."""
LATER: Final = 200
"""Actions within which a check that failed is looked for again."""
_CHANGES: Final = frozenset({ActionKind.EDIT, ActionKind.WRITE})
_MOST_LINES: Final = 400

Parsed = Sequence[tuple[Part, ...]]


def judged(actions: Sequence[Action], parsed: Parsed) -> Iterator[tuple[Standing, tuple[Part, ...]]]:
    """The standing of each action of one session, in order, and its parts with theirs."""
    for at, action in enumerate(actions):
        standing = _standing(actions, parsed, at)
        shares = blamed(parsed[at], standing, action.output)
        parts = (replace(part, standing=share) for part, share in zip(parsed[at], shares, strict=True))
        yield standing, tuple(parts)


def _standing(actions: Sequence[Action], parsed: Parsed, at: int) -> Standing:
    action = actions[at]
    match action.outcome:
        case ActionOutcome.REFUSED:
            return Standing.WASTED
        case ActionOutcome.ERROR:
            return _failing(actions, parsed, at)
        case ActionOutcome.OK:
            wasted = action.empty or (action.kind in _CHANGES and _taken_back(actions, at))
            return Standing.WASTED if wasted else Standing.WORKED
        case _:
            return Standing.NEITHER


def _failing(actions: Sequence[Action], parsed: Parsed, at: int) -> Standing:
    """A failure is waste, unless it is that of a check whose next run comes after an edit.

    Of a command that then passes it did its work. Of a known check that never passes in this session it cannot be told.
    The same words count for any command, the same head for what is known to be a check.
    """
    if not parsed[at]:
        return Standing.WASTED
    edited = False
    known = any(part.check for part in parsed[at])
    for later in range(at + 1, min(at + 1 + LATER, len(actions))):
        action = actions[later]
        if action.kind in _CHANGES and action.outcome is ActionOutcome.OK:
            edited = True
        elif parsed[later] and _same(parsed[at], parsed[later], by_head=known):
            if not edited:
                return Standing.WASTED
            if action.outcome is ActionOutcome.OK:
                return Standing.WORKED
    return Standing.NEITHER if known and edited else Standing.WASTED


def _same(parts: Sequence[Part], later: Sequence[Part], *, by_head: bool) -> bool:
    if by_head:
        heads = {part.head for part in parts if part.check}
        return any(part.head in heads for part in later)
    return [part.words for part in parts] == [part.words for part in later]


def _taken_back(actions: Sequence[Action], at: int) -> bool:
    """Whether a failing command names the file and then an edit takes out a line that this one brought."""
    edit = actions[at]
    path = edit.paths[0] if edit.paths else ""
    brought = lines_of(edit.new) - lines_of(edit.old) if path else set()
    named = False
    for later in actions[at + 1 : at + 1 + WINDOW]:
        if not brought:
            return False
        if later.kind is ActionKind.COMMAND and later.outcome is ActionOutcome.ERROR:
            named = named or posixpath.basename(path) in later.output
        elif named and path in later.paths and brought & _taken_out(later):
            return True
    return False


def _taken_out(action: Action) -> set[str]:
    """The lines that an edit takes out; none where it failed."""
    went_in = action.kind is ActionKind.EDIT and action.outcome is ActionOutcome.OK
    return lines_of(action.old) - lines_of(action.new) if went_in else set()


def lines_of(content: str) -> set[str]:
    """The lines of a piece of content that say something, without their indentation."""
    return {line.strip() for line in content.split("\n", _MOST_LINES)[:_MOST_LINES] if len(line.strip()) > 3}
