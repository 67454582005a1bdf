"""Whether tonight's gate may be believed: it is asked about a text and itself (gate.md, calibration).

Only a noisy agent has anything to calibrate. Its repeats of past nights are dealt to two pseudo-arms for nothing; once
a week the live text is attempted against itself in fresh attempts, paid from what the night's work has left.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from typing import Final

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import Calibration, against_itself, unless_halted
from skillopt_core.types import Skill, Verdict
from skillopt_sleep.calibrate import Calibrated, so_far
from skillopt_sleep.clock import DAY_MS, day_of
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.world import Natively, Replays, World
from skillopt_sleep.night import records
from skillopt_sleep.replay.journal import Journal as Attempted
from skillopt_sleep.replay.practice import MakeGate, task_of
from skillopt_sleep.store.repeats import AGAINST_ITSELF
from skillopt_sleep.store.repeats import against_itself as weekly
from skillopt_sleep.store.verdicts import ComparisonFacts, save_comparison

log: Final = logging.getLogger(__name__)

WEEK_MS: Final = 7 * DAY_MS
NEWEST: Final = 12
"""Episodes on which a text is compared with itself: enough for a gate to accept, few enough to be paid every week."""


def of_gate(world: World, agent: Replays | Natively) -> Calibrated | None:
    """What is known of the gate by now; None for a deterministic agent, whose gate is asked nothing twice."""
    return None if agent.deterministic else so_far(world.store, world.config.gate)


def guarded(world: World, known: Calibrated | None) -> MakeGate:
    """Tonight's gates; where this one was found to accept too much, ones that accept nothing and say so."""
    state = known.state if known else Calibration(world.config.gate.alpha)
    return lambda recurrence, per_week: unless_halted(world.gate(recurrence, per_week), state)


def halted(known: Calibrated | None) -> bool:
    """Whether nothing can be accepted tonight."""
    return known is not None and known.state.halted_at is not None


def said(known: Calibrated | None) -> list[str]:
    """What the morning is warned of."""
    if known is None:
        return []
    lines = [f"{night}: repeats of a noisy agent are identical to the byte: a cache?" for night in known.faults[-1:]]
    if halted(known):
        state = known.state
        lines.append(
            f"the gate has halted and accepts nothing: {state.accepted} of {state.comparisons} comparisons of a text "
            f"with itself were accepted, more than alpha = {state.alpha:g} allows "
            "(`skillopt-sleep gate aa` shows it, and lets it go on)"
        )
    return lines


def due(world: World) -> bool:
    """Whether the last comparison of a text with itself is a week ago."""
    last = max((one.at_ms for one in weekly(world.store)), default=None)
    return last is None or world.clock.now_ms() - last >= WEEK_MS


def compare_with_itself(world: World, night: str, agent: Replays, live: Skill, episodes: Sequence[Episode]) -> Verdict:
    """What the gate says of the live text and itself on the newest episodes, in fresh attempts. Raises `Exhausted`.

    Kept, so that the process of later nights counts it once.
    """
    over = [one for one in episodes if day_of(one.began_ms) < day_of(world.clock.now_ms())][-NEWEST:]
    ledger = records.attempts(world.store, night, world.redactor)
    attempted = Attempted(agent, ledger, f"{AGAINST_ITSELF} {night}", world.attempter())
    tasks = [task_of(episode, AGAINST_ITSELF) for episode in over]
    verdict = against_itself(world.gate(None, None), attempted, live, tasks, CountedDraws())
    name = "c-" + hashlib.sha256(f"{night}\0{AGAINST_ITSELF}".encode()).hexdigest()[:16]
    mode, who = world.config.gate.mode, world.attempter()["name"]
    facts = ComparisonFacts(name, live.digest, live.digest, mode, night, family=AGAINST_ITSELF, agent=who)
    save_comparison(world.store, facts, verdict)
    log.info("The gate was asked about a text and itself", extra={"action": "a/a", "verdict": str(verdict.outcome)})
    return verdict
