"""What a critic may read of a replayed episode: its actions one by one, clipped, on printable lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from skillopt_sleep.agents.recorded.effects import Effect, Occurrence
from skillopt_sleep.agents.recorded.history import Moment
from skillopt_sleep.domain.episodes import Action, ActionOutcome

LINE: Final = 200
"""Characters of an action or of what its tool said."""
MOST: Final = 60
"""Actions of an excerpt; of a longer episode the first and last halves."""
_MOST_FAILURES: Final = 8


def failures(wasted: Sequence[Moment], taken: Mapping[int, Occurrence]) -> tuple[str, ...]:
    """Each wasted action as an example with a word on why."""
    return tuple(f"{_named(m.action)} {_why(m.action, taken.get(m.order))}" for m in wasted[:_MOST_FAILURES])


def excerpt(moments: Sequence[Moment], taken: Mapping[int, Occurrence]) -> str:
    """One line an action, with what the rules make of it."""
    lines = [_line(moment.action, taken.get(moment.order)) for moment in _ends(moments)]
    if len(moments) > MOST:
        lines.insert(MOST // 2, f"… {len(moments) - MOST} actions …")
    return "\n".join(lines)


def _ends(moments: Sequence[Moment]) -> Sequence[Moment]:
    return moments if len(moments) <= MOST else [*moments[: MOST // 2], *moments[-MOST // 2 :]]


def _line(action: Action, taken: Occurrence | None) -> str:
    ran = f"{action.outcome.value} {_named(action)}"
    said = "" if action.outcome is ActionOutcome.OK else f": {printable(action.said or action.output)}"
    return f"{ran}{said}{_rule(taken)}"


def _rule(taken: Occurrence | None) -> str:
    if taken is None:
        return ""
    instead = "not taken" if taken.left_out or not taken.instead else f"instead {printable(taken.instead)}"
    result = {Effect.NEUTRAL: "no other outcome", Effect.UNKNOWN: "outcome unknown"}.get(
        taken.effect, taken.effect.value
    )
    return f" [by the skill: {instead}; {result}]"


def _named(action: Action) -> str:
    what = action.command or " ".join((action.pattern, *action.paths)).strip()
    return f"{action.kind.value} {printable(what)}".rstrip()


def _why(action: Action, taken: Occurrence | None) -> str:
    if taken is not None and taken.effect is Effect.BROKEN:
        return "worked, and does not as the skill has it"
    if action.outcome is ActionOutcome.REFUSED:
        return f"was refused: {printable(action.said)}" if action.said else "was refused"
    if action.empty:
        return "found nothing"
    if action.outcome is ActionOutcome.OK:
        return "was taken back after a check had failed"
    return f"failed: {printable(action.output)}"


def printable(text: str) -> str:
    """The first characters on one line, without what cannot be seen."""
    clipped = text[:LINE]
    if not clipped.isprintable():
        clipped = "".join(char if char.isprintable() else " " for char in clipped)
    return clipped.strip()
