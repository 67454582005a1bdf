"""From how an action fared and what is seen of the alternative to what following the rule comes to."""

from __future__ import annotations

from itertools import takewhile

from skillopt_sleep.agents.recorded.effects import Effect, Occurrence
from skillopt_sleep.agents.recorded.history import Moment
from skillopt_sleep.agents.recorded.outcomes import UNSEEN, Seen
from skillopt_sleep.agents.recorded.parts import Part, Standing
from skillopt_sleep.domain.episodes import ActionOutcome


def fared(moment: Moment, part: Part) -> Standing | None:
    """How the action fared as far as this part goes; None where a failure cannot be laid to any part.

    A refusal is one of the whole action, so each of its parts was refused. A part that `||` stands behind may have
    failed without a trace: that says nothing.
    """
    if moment.action.outcome is ActionOutcome.REFUSED:
        return moment.standing
    if moment.standing is not Standing.WASTED:
        return Standing.NEITHER if _is_caught(moment, part) else moment.standing
    if part.standing is Standing.WASTED:
        return Standing.WASTED
    return Standing.NEITHER if any(p.standing is Standing.WASTED for p in moment.parts) else None


def _is_caught(moment: Moment, part: Part) -> bool:
    after = (other.simple.joint for other in moment.parts[moment.parts.index(part) + 1 :])
    return "||" in takewhile(lambda joint: joint not in {";", "&"}, after)


def altered(moment: Moment, standing: Standing | None, seen: Seen, instead: str) -> Occurrence:
    """Something else is done in the action's place."""
    effect = _altered(standing, seen)
    saved = _SAVED[effect]
    return Occurrence(
        moment.action, moment.order, effect, instead, seen.actions, actions=saved, tokens=saved * moment.action.tokens
    )


def _altered(standing: Standing | None, seen: Seen) -> Effect:
    if standing is Standing.NEITHER:
        return Effect.NEUTRAL
    if seen.answer == "unknown" or standing is None:
        return Effect.UNKNOWN
    if standing is Standing.WORKED:
        return Effect.BROKEN if seen.answer == "fails" else Effect.NEUTRAL
    return {"better": Effect.PREVENTED, "works": Effect.UNKNOWN, "fails": Effect.NEUTRAL}[seen.answer]


_SAVED = {Effect.PREVENTED: 1, Effect.BROKEN: -1, Effect.UNKNOWN: 0, Effect.NEUTRAL: 0}
_LEFT_OUT = {
    Standing.WASTED: Effect.PREVENTED,
    Standing.WORKED: Effect.BROKEN,
    Standing.NEITHER: Effect.NEUTRAL,
    None: Effect.UNKNOWN,
}


def left_out(moment: Moment, standing: Standing | None) -> Occurrence:
    """The action is not taken."""
    effect = _LEFT_OUT[standing]
    saved = _SAVED[effect]
    return Occurrence(
        moment.action, moment.order, effect, left_out=True, actions=saved, tokens=saved * moment.action.tokens
    )


def asked(moment: Moment) -> Occurrence | None:
    """The person is asked first. None where it cannot be told what they would have said."""
    match moment.action.outcome:
        case ActionOutcome.REFUSED:
            return left_out(moment, Standing.WASTED)
        case ActionOutcome.OK | ActionOutcome.ERROR:
            return Occurrence(moment.action, moment.order, Effect.BROKEN, actions=-1, left_out=True)
        case _:
            return None


def preceded(moment: Moment, standing: Standing | None, after: Seen, first: Seen, before: str) -> Occurrence:
    """`before` is run first. `after` is what is seen of such actions behind it, `first` what is seen of it itself."""
    if standing is Standing.WORKED:
        effect = {"fails": Effect.BROKEN, "unknown": Effect.UNKNOWN}.get(first.answer, Effect.NEUTRAL)
        return Occurrence(moment.action, moment.order, effect, before, first.actions, actions=-1)
    seen = {"fails": Seen("fails", first.actions), "unknown": UNSEEN}.get(first.answer, after)
    return altered(moment, standing, seen, before)
