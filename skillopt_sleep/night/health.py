"""Health of a night: what a look at the whole shows that no single rule does (skillopt_core.health).

Judged are what the optimizer spent, how many different rules stand in one learned skill, and how far the mix of what
goes wrong has moved since a skill was adopted. Recorded evidence refuses most rules by nature, so shares of what was
kept say nothing here; `train` judges those.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from skillopt_core.health import Signal, health
from skillopt_sleep.critics.grammar import parse, subject
from skillopt_sleep.domain.frictions import Pattern
from skillopt_sleep.domain.health import thresholds
from skillopt_sleep.domain.world import World
from skillopt_sleep.store.ledgers import total

log: Final = logging.getLogger(__name__)

LEAST: Final = 10
"""Occurrences on either side of an adoption from which a mix is one."""


def spent_much(world: World, night: str) -> Sequence[str]:
    """Whether the optimizer spent more tokens than a night should."""
    attempts = total(world.store, night, role="target")[1].tokens
    spent = (world.spending(night).tokens.spent or 0) - attempts
    return _said("", health(None, None, tokens_per_epoch=spent, thresholds=thresholds(world.config.health)))


def skill_is_sound(
    world: World, name: str, text: str, adopted_ms: int | None, patterns: Sequence[Pattern]
) -> Sequence[str]:
    """Whether a learned skill says too many different things, or stands for work that is no longer done."""
    before, now = _mixes(patterns, adopted_ms) if adopted_ms is not None else (None, None)
    rules = len({subject(sentence) for sentence in parse(text)})
    at = thresholds(world.config.health)
    found = health(None, None, patterns=rules, mix_before=before, mix_now=now, thresholds=at)
    return _said(f"{name}: ", found)


def _mixes(patterns: Sequence[Pattern], adopted_ms: int) -> tuple[Mapping[str, int] | None, Mapping[str, int] | None]:
    """Occurrences by pattern before and after the adoption; None where either side has too few to be a mix."""
    before, now = Counter[str](), Counter[str]()
    for pattern in patterns:
        for friction in pattern.members:
            (before if friction.at_ms < adopted_ms else now)[pattern.key] += 1
    enough = min(before.total(), now.total()) >= LEAST
    return (before, now) if enough else (None, None)


def _said(where: str, found: Sequence[Signal]) -> Sequence[str]:
    for signal in found:
        log.warning("A health signal was raised", extra={"action": "health", "signal": signal.name})
    return [f"health: {where}{signal}" for signal in found]
