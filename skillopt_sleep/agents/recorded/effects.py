"""What following a rule would have changed about one recorded action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from skillopt_sleep.domain.episodes import Action


class Effect(StrEnum):
    """PREVENTED: it was wasted and the alternative is seen to work. BROKEN: it worked and the alternative does not.

    UNKNOWN: the alternative was never seen, which is not a success. NEUTRAL: the rule applies and changes no outcome.
    """

    PREVENTED = "prevented"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One action to which a rule applies.

    `order` is its place in the project's time, unique in the project. `instead` says what is done in its place, `seen`
    holds ids of the actions on whose outcome the effect rests. `left_out` is True where the action is not taken at all.
    `actions` and `tokens` (output) are what following the rule saves, below zero what it costs.
    """

    action: Action
    order: int
    effect: Effect
    instead: str = ""
    seen: tuple[int, ...] = ()
    left_out: bool = False
    actions: int = 0
    tokens: int = 0


_WORST_FIRST: Final = (Effect.BROKEN, Effect.UNKNOWN, Effect.PREVENTED, Effect.NEUTRAL)


def together(occurrences: Sequence[Occurrence]) -> Occurrence:
    """What several rules that apply to one action come to.

    A rule that leaves the action out decides alone, whatever the others would change about it; else the worst effect
    holds: what is unknown under one of two changes is unknown. Costs without effect (a run before) add up.
    """
    deciding = [o for o in occurrences if o.left_out] or list(occurrences)
    return min(deciding, key=lambda o: _WORST_FIRST.index(o.effect))
