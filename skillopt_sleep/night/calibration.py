"""Whether tonight's gate may be believed: it is asked about a text and itself (gate.md, calibration).

Only a noisy agent has anything to calibrate. Its repeats of past nights are dealt to two pseudo-arms for nothing; once
a week the live text is attempted against itself in fresh attempts, paid from what the night's work has left.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from skillopt_core.defaults import CountedDraws
from skillopt_core.gate import Calibration, against_itself, unless_halted
from skillopt_core.protocols import Environment, Gate
from skillopt_core.types import Skill, Task, Verdict
from skillopt_sleep.calibrate import Calibrated, so_far
from skillopt_sleep.clock import DAY_MS, day_of
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.tasks import KeptTask
from skillopt_sleep.domain.world import Natively, Replays, World
from skillopt_sleep.night import records
from skillopt_sleep.replay.journal import Journal as Attempted
from skillopt_sleep.replay.native import as_task
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


@dataclass(frozen=True, slots=True)
class Itself:
    """How a text is compared with itself: who attempts what, under which gate."""

    environment: Environment
    gate: Gate
    tasks: tuple[Task, ...]
    agent: str


def on_recordings(world: World, night: str, agent: Replays, episodes: Sequence[Episode]) -> Itself:
    """On the newest episodes."""
    over = [one for one in episodes if day_of(one.began_ms) < day_of(world.clock.now_ms())][-NEWEST:]
    ledger = records.attempts(world.store, night, world.redactor)
    attempted = Attempted(agent, ledger, f"{AGAINST_ITSELF} {night}", world.attempter())
    tasks = tuple(task_of(episode, AGAINST_ITSELF) for episode in over)
    return Itself(attempted, world.gate(None, None), tasks, world.attempter()["name"])


def natively(world: World, night: str, player: Natively, kept: Sequence[KeptTask]) -> Itself | None:
    """On the newest tasks that can be judged; None where there are none, or the budget does not reach for all."""
    newest = sorted(kept, key=lambda task: (-task.began_ms, task.id))
    tasks = tuple(map(as_task, islice((task for task in newest if not player.unjudged(task)), NEWEST)))
    if not tasks or not player.affords(2 * world.config.gate.repeats * len(tasks)):
        return None
    environment = player.environment(night, f"{AGAINST_ITSELF} {night}")
    return Itself(environment, player.gate(world.config.gate.trial_alpha, ()), tasks, player.backend)


def compare_with_itself(world: World, night: str, itself: Itself, live: Skill) -> Verdict:
    """What the gate says of the live text and itself, in fresh attempts. Raises `Exhausted`.

    Kept, so that the process of later nights counts it once.
    """
    verdict = against_itself(itself.gate, itself.environment, live, itself.tasks, CountedDraws())
    name = "c-" + hashlib.sha256(f"{night}\0{AGAINST_ITSELF}".encode()).hexdigest()[:16]
    mode = world.config.gate.mode
    facts = ComparisonFacts(name, live.digest, live.digest, mode, night, family=AGAINST_ITSELF, agent=itself.agent)
    save_comparison(world.store, facts, verdict)
    log.info("The gate was asked about a text and itself", extra={"action": "a/a", "verdict": str(verdict.outcome)})
    return verdict
