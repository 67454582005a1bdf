"""What a person's own sessions show of an adopted rule: observed evidence (gate.md, recorded and observed).

Each session of one side is compared with one of the other side that did the same kind of work, and the difference is
a unit of the same betting as everywhere: its reverse is the alarm for a rule that hurts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from skillopt_core.gate.evidence import HARM, e_reverse, e_value, interval


@dataclass(frozen=True, slots=True)
class Session:
    """A session, or a day of a randomised trial: the kind of its work, and the share of occasions (or yes and no) on
    which the rule's friction occurred, in [0, 1]."""

    kind: str
    friction: float


@dataclass(frozen=True, slots=True)
class Observed:
    """Friction without and with the rule, over the matched sessions alone.

    `effect` is the mean of without minus with, in [-1, 1], above zero where the rule helps, with its interval (valid
    whenever one looks) and evidence both ways. `unmatched` sessions found no counterpart of their kind.
    """

    pairs: int
    without: float | None
    with_rule: float | None
    effect: float | None
    interval: tuple[float, float] | None
    e: float
    e_reverse: float
    unmatched: int
    says: Literal["helps", "hurts", "too few sessions yet"]


def observed(without: Sequence[Session], with_rule: Sequence[Session], alpha: float = 0.01) -> Observed:
    """Sessions of the two sides matched by kind, each once: the latest without the rule with the first with it.

    Matching keeps the mix of tasks equal on both sides. It assumes that sessions of one kind would have fared alike
    on both sides without the rule; that is certain only where days were drawn at random.
    """
    left: dict[str, deque[Session]] = {}
    for session in without:
        left.setdefault(session.kind, deque()).append(session)
    pairs = [(left[after.kind].pop(), after) for after in with_rule if left.get(after.kind)]
    ds = [before.friction - after.friction for before, after in pairs]
    e, reverse = e_value(ds), e_reverse(ds)
    return Observed(
        pairs=len(pairs),
        without=_mean([before.friction for before, _ in pairs]),
        with_rule=_mean([after.friction for _, after in pairs]),
        effect=_mean(ds),
        interval=interval(ds),
        e=e,
        e_reverse=reverse,
        unmatched=len(without) + len(with_rule) - 2 * len(pairs),
        says="hurts" if reverse >= HARM else "helps" if e >= 1 / alpha else "too few sessions yet",
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
