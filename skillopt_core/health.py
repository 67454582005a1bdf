"""Health signals of a run: the field's rules of thumb, as facts beside the report (method.md, ablations)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.types import Evolution, Step


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where a signal is raised: the field's rules of thumb.

    `acceptance` (share of candidates kept) and `baseline` (success before training) are too low below; `flat` is the
    move of a score that counts as none, `rising` that of the train score that counts as one; `tokens` are the
    optimizer's in an epoch; `patterns` on one skill and `shift` (share of the task mix) are too many above.
    """

    acceptance: float = 0.20
    flat: float = 0.01
    rising: float = 0.05
    tokens: int = 100_000
    baseline: float = 0.40
    gate_tasks: int = 50
    patterns: int = 5
    shift: float = 0.30


RULES_OF_THUMB: Final = Thresholds()


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing to look at: a stable name, what was measured, and what it usually means."""

    name: str
    finding: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.finding}: {self.meaning}"


def health(
    evolution: Evolution | None,
    gate_tasks: int | None,
    *,
    tokens_per_epoch: float | None = None,
    patterns: int | None = None,
    mix_before: Mapping[str, int] | None = None,
    mix_now: Mapping[str, int] | None = None,
    thresholds: Thresholds | None = None,
) -> tuple[Signal, ...]:
    """The signals that a run raises. What is not given (None) is not judged.

    `mix_before` and `mix_now` count tasks by pattern when the skill was trained and today.
    """
    at = thresholds or RULES_OF_THUMB
    steps = evolution.steps if evolution is not None else ()
    found = [*_acceptance(steps, at), *_overfitting(steps, at), *_baseline(steps, at)]
    if gate_tasks is not None and gate_tasks < at.gate_tasks:
        found.append(Signal("gate_tasks", f"{gate_tasks} gate tasks", "small effects cannot be seen"))
    if tokens_per_epoch is not None and tokens_per_epoch > at.tokens:
        found.append(Signal("tokens", f"{tokens_per_epoch:.0f} optimizer tokens an epoch", "fewer or shorter attempts"))
    if patterns is not None and patterns > at.patterns:
        found.append(Signal("patterns", f"{patterns} distinct patterns on one skill", "split the skill"))
    moved = shift(mix_before, mix_now) if mix_before and mix_now else 0.0
    if moved > at.shift + 1e-9:
        found.append(Signal("shift", f"{moved:.0%} of the task mix has shifted since training", "train again"))
    return tuple(found)


def shift(before: Mapping[str, int], now: Mapping[str, int]) -> float:
    """Total variation distance of two task mixes: the share of tasks that would have to change pattern."""
    all_before, all_now = sum(before.values()), sum(now.values())
    if not all_before or not all_now:
        return 0.0
    names = set(before) | set(now)
    return sum(abs(before.get(name, 0) / all_before - now.get(name, 0) / all_now) for name in names) / 2


def _acceptance(steps: Sequence[Step], at: Thresholds) -> list[Signal]:
    tried = [step for step in steps if step.candidate is not None and step.verdict is not None]
    if not tried:
        return []
    rate = sum(step.kept for step in tried) / len(tried)
    if rate >= at.acceptance:
        return []
    found = [Signal("acceptance", f"{rate:.0%} of {len(tried)} candidates were kept", "weak edits, or a hard gate")]
    effects = [step.verdict.effect for step in tried if step.verdict and step.verdict.effect is not None]
    if effects and max(abs(effect) for effect in effects) <= at.flat:
        found.append(
            Signal(
                "contamination", "no candidate moved the held-out score", "tasks or checks do not depend on the skill"
            )
        )
    return found


def _overfitting(steps: Sequence[Step], at: Thresholds) -> list[Signal]:
    train = [step.train for step in steps if step.train is not None and step.stage == "step"]
    gate = [step.verdict.before for step in steps if step.verdict and step.verdict.before is not None]
    if len(train) < 2 or len(gate) < 2:
        return []
    rise, held_out = train[-1] - train[0], gate[-1] - gate[0]
    if rise < at.rising or held_out > at.flat:
        return []
    finding = f"train score rose by {rise:.2f}, held-out score by {held_out:.2f}"
    return [Signal("overfitting", finding, "edits that fit the train tasks alone")]


def _baseline(steps: Sequence[Step], at: Thresholds) -> list[Signal]:
    first = next((step.train for step in steps if step.train is not None), None)
    if first is None or first >= at.baseline:
        return []
    return [Signal("baseline", f"baseline success is {first:.0%}", "tasks too hard for the target, or broken")]
