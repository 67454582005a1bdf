"""From pairs to units, and from units to the figures that every verdict carries (gate.md, verdicts)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from skillopt_core.gate.evidence import BETS, e_reverse, e_value, interval
from skillopt_core.gate.metric import Metric
from skillopt_core.types import Comparison, Outcome, Pair, Skill, Task, UnitScore, Verdict

TINY: Final = 1e-9
"""Differences of means below this are rounding."""

LEAST_COVERAGE: Final = 0.8
WIDEST_GAP: Final = 0.1
LEAST_ANSWERED: Final = 0.5
"""Below this share of complete pairs the night's calls failed: `infra_error`, not `abstain`."""
LEAST_OPENED: Final = 0.5

Evidence = Literal["recorded", "replayed", "observed", "simulated"]


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of a comparison. `gap` is the difference of the arms' coverage; `won` the mean difference of the
    metric alone, without what costs add to a tie."""

    units: tuple[UnitScore, ...]
    coverage: float
    gap: float
    opened: float | None
    won: float
    counts: Mapping[str, float]

    @property
    def ds(self) -> list[float]:
        """One difference a unit."""
        return [unit.d for unit in self.units]


def unit_of(task: Task) -> str:
    """The name of the task's twin group; a task without one is its own."""
    return task.unit or task.id


def tabulate(comparison: Comparison, metric: Metric) -> Table:
    """Units in the order of their first pair, each with the mean over all pairs of its tasks."""
    groups: dict[str, list[Pair]] = {}
    for pair in comparison.pairs:
        groups.setdefault(unit_of(pair.task), []).append(pair)
    units = tuple(_unit(name, pairs, metric) for name, pairs in groups.items())
    wanted = max(comparison.wanted, 1)
    live, candidate = comparison.answered
    return Table(
        units=units,
        coverage=len(comparison.pairs) / wanted if comparison.wanted else 1.0,
        gap=abs(live - candidate) / wanted,
        opened=_opened(comparison.pairs),
        won=_mean([unit.after - unit.before for unit in units]),
        counts=_counts(comparison, units),
    )


def report(
    table: Table, prior: Sequence[UnitScore], metric: Metric, evidence: Evidence, bets: Sequence[float] = BETS
) -> Verdict:
    """A verdict with every figure filled in, over tonight's units and those of earlier nights, still without an answer.

    Evidence is included: it is as cheap as the mean, and its reverse says `reject` whatever the mode.
    """
    units = (*prior, *table.units)
    ds = [unit.d for unit in units]
    return Verdict(
        outcome=Outcome.ABSTAIN,
        why="",
        metric=metric.kind,
        before=_mean([unit.before for unit in units]) if units else None,
        after=_mean([unit.after for unit in units]) if units else None,
        effect=_mean(ds) if units else None,
        interval=interval(ds),
        e=e_value(ds, bets) if units else None,
        e_reverse=e_reverse(ds, bets) if units else None,
        pairs=sum(unit.pairs for unit in units),
        coverage=table.coverage,
        opened=table.opened,
        evidence=evidence,
        units=units,
        counts=table.counts,
        bets=tuple(bets),
    )


def unusable(table: Table) -> tuple[Outcome, str, str] | None:
    """Why these pairs cannot be judged: outcome, reason, and what is needed; None if they can."""
    if not table.units or table.coverage < LEAST_ANSWERED:
        return Outcome.INFRA_ERROR, f"{table.coverage:.0%} of the pairs came back", "attempts that do not fail"
    if table.coverage < LEAST_COVERAGE:
        return Outcome.ABSTAIN, f"coverage {table.coverage:.2f} is below {LEAST_COVERAGE}", "attempts that do not fail"
    if table.gap > WIDEST_GAP:
        why = f"one arm failed more often than the other by {table.gap:.2f}"
        return Outcome.ABSTAIN, why, "attempts that fail alike, or not at all"
    if table.opened is not None and table.opened < LEAST_OPENED:
        why = f"the candidate was opened in {table.opened:.0%} of its attempts"
        return Outcome.NO_EXPOSURE, why, "a description that makes the agent open it"
    return None


def unmeasured(live: Skill, candidate: Skill, tasks: Sequence[object], evidence: Evidence) -> Verdict | None:
    """The verdict where nothing is to be run: identical texts, or no task that the candidate was not made from."""
    if live.digest == candidate.digest:
        return Verdict(Outcome.NO_CHANGE, "the texts are identical", evidence=evidence)
    if not tasks:
        why = "there is no task that the candidate was not made from"
        return Verdict(Outcome.UNVERIFIED, why, evidence=evidence, needs="held-out tasks")
    return None


def shorter_tie(live: Skill, candidate: Skill, effect: float) -> int:
    """By how many characters a candidate that scores exactly alike is shorter; 0 otherwise."""
    return max(len(live.text) - len(candidate.text), 0) if abs(effect) < TINY else 0


def _unit(name: str, pairs: Sequence[Pair], metric: Metric) -> UnitScore:
    return UnitScore(
        unit=name,
        before=_mean([metric.of(pair.live.score) for pair in pairs]),
        after=_mean([metric.of(pair.candidate.score) for pair in pairs]),
        d=_mean([metric.difference(pair.live.score, pair.candidate.score) for pair in pairs]),
        pairs=len(pairs),
        began=min(pair.task.began for pair in pairs),
        tasks=tuple(dict.fromkeys(pair.task.id for pair in pairs)),
    )


def _opened(pairs: Sequence[Pair]) -> float | None:
    known = [pair.candidate.opened for pair in pairs if pair.candidate.opened is not None]
    return sum(known) / len(known) if known else None


def _counts(comparison: Comparison, units: Sequence[UnitScore]) -> dict[str, float]:
    """Wins, losses and ties by unit, failed attempts by reason, and both arms' mean of each objective."""
    counts = {
        "units": float(len(units)),
        "wins": float(sum(unit.d > 0 for unit in units)),
        "losses": float(sum(unit.d < 0 for unit in units)),
        "cache_fault": float(_frozen(comparison)),
    }
    counts |= {f"missing: {reason}": float(n) for reason, n in comparison.missing.items()}
    names = {name for pair in comparison.pairs for name in pair.live.score.objectives}
    for name in sorted(names):
        counts[f"{name}: before"] = _mean([pair.live.score.objectives.get(name, 0.0) for pair in comparison.pairs])
        counts[f"{name}: after"] = _mean([pair.candidate.score.objectives.get(name, 0.0) for pair in comparison.pairs])
    return counts


def _frozen(comparison: Comparison) -> bool:
    """True if every task's repeats read alike to the byte: from a noisy agent that is a cache at work."""
    said: dict[str, set[str]] = {}
    for pair in comparison.pairs:
        said.setdefault(pair.task.id, set()).add(pair.live.transcript)
    spoken = all(pair.live.transcript for pair in comparison.pairs)
    return comparison.repeats > 1 and bool(said) and spoken and all(len(texts) == 1 for texts in said.values())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
