"""The gate of the `recorded` agent: deterministic replays of what really happened (gate.md, recorded).

The only randomness is which sessions come. Two claims are needed for `supported`: precision (where the rule applies it
mends more than it breaks) and recurrence (the friction comes back more often than a random pattern of its kind). It
can never say `accept`: that an agent will obey the rule was not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.gate.evidence import BETS, HARM, e_bh, e_reverse, e_value, interval, needed
from skillopt_core.gate.exact import binomial_tail
from skillopt_core.gate.pairing import compare
from skillopt_core.gate.table import unit_of, unmeasured
from skillopt_core.protocols import Draws, Environment
from skillopt_core.types import Comparison, Outcome, Pair, Skill, Task, UnitScore, Verdict

SUMMED: Final = ("prevented", "broken", "unknown", "applied", "actions_saved", "output_saved")
"""Objectives of an attempt, as numbers: actions at which the rules of the text prevent a friction, break an action
that worked, or take an alternative without known outcome; all actions at which a rule applies (those three included);
actions and output tokens saved."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The friction came back in `k` of `n` later sessions; `background` is the measured rate at which random patterns
    of the same kind do."""

    k: int
    n: int
    background: float

    @property
    def p(self) -> float:
        """Exact binomial P(at least k of n at the background rate)."""
        return binomial_tail(self.k, self.n, self.background)


@dataclass(frozen=True, slots=True)
class RecordedGate:
    """Both texts on every later task, once; the difference of what they prevent and break, session by session.

    A session's net is sum(prevented - broken) over its tasks (`Task.source`). Sessions of one `Task.unit` (same day,
    person and pattern) are joined: the sign of their sum, but never above 0 if any of them is net broken. Units in
    which nothing applied, or nothing with a known outcome, do not count.

    `recurrence` None means that it was not measured, so the best verdict is `abstain`. `per_week` is the number of
    units a week in which the rule applies, for the forecast. The interval is that of `evidence.interval`.
    """

    recurrence: Recurrence | None = None
    per_week: float | None = None
    least_e: float = 20.0
    least_units: int = 5
    alpha: float = 0.05
    bets: tuple[float, ...] = BETS

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """`supported`, `reject`, `abstain` with what is missing, `no_exposure`, `unverified`, `no_change`, or
        `infra_error` where no replay came back."""
        early = unmeasured(live, candidate, tasks, "recorded")
        if early:
            return replace(early, metric="recorded", deterministic=True)
        comparison = compare(environment, live, candidate, tasks, draws, 1, block=len(tasks))
        verdict, exposure = self._figures(comparison)
        if not comparison.pairs:
            return replace(
                verdict, outcome=Outcome.INFRA_ERROR, why="no replay came back", needs="replays that do not fail"
            )
        outcome, why, needs = self._judge(verdict, exposure)
        return replace(verdict, outcome=outcome, why=why, needs=needs)

    def _figures(self, comparison: Comparison) -> tuple[Verdict, _Exposure]:
        units = _units(comparison.pairs)
        rows = tuple(unit.row() for unit in units if unit.known)
        ds = [row.d for row in rows]
        exposure = _Exposure(
            applied=any(unit.applied for unit in units),
            broken=sum(unit.broke for unit in units if unit.known),
        )
        verdict = Verdict(
            Outcome.ABSTAIN,
            "",
            metric="recorded",
            before=_mean([row.before for row in rows]),
            after=_mean([row.after for row in rows]),
            effect=_mean(ds),
            interval=interval(ds, bets=self.bets),
            e=e_value(ds, self.bets),
            e_reverse=e_reverse(ds, self.bets),
            alpha=self.alpha,
            pairs=len(comparison.pairs),
            coverage=len(comparison.pairs) / max(comparison.wanted, 1),
            evidence="recorded",
            deterministic=True,
            units=rows,
            counts=_counts(units, comparison.pairs) | self._recurrence_counts(),
            repeats=1,
            bets=self.bets,
        )
        return verdict, exposure

    def _judge(self, verdict: Verdict, exposure: _Exposure) -> tuple[Outcome, str, str]:
        units, e = len(verdict.units), verdict.e or 0.0
        if not exposure.applied:
            return (
                Outcome.NO_EXPOSURE,
                "there were later sessions, and it applied in none",
                "a session in which it applies",
            )
        if not units:
            why = f"it applied, but the outcome of the alternative is unknown each time ({verdict.counts['unknown']:g})"
            return Outcome.ABSTAIN, why, "an alternative whose outcome the history shows"
        if exposure.broken and (verdict.effect or 0.0) <= 0:
            return Outcome.REJECT, f"it breaks as much as it mends: {exposure.broken} of {units} units broke", ""
        if (verdict.e_reverse or 0.0) >= HARM:
            return Outcome.REJECT, f"evidence of harm: reverse E = {verdict.e_reverse:.3g}", ""
        missing = [*self._precision(verdict), *self._recurs()]
        if missing:
            return Outcome.ABSTAIN, f"not shown yet: E = {e:.3g} over {units} units", "; ".join(missing)
        return Outcome.SUPPORTED, f"it comes back and breaks nothing on balance: E = {e:.3g} over {units} units", ""

    def _precision(self, verdict: Verdict) -> list[str]:
        ds = [row.d for row in verdict.units]
        more = max(needed(ds, self.least_e, self.bets), self.least_units - len(ds))
        if more <= 0:
            return []
        weeks = f", about {max(round(more / self.per_week), 1)} more weeks at the rate seen" if self.per_week else ""
        return [f"{more} more {'session' if more == 1 else 'sessions'} in which it applies{weeks}"]

    def _recurs(self) -> list[str]:
        seen = self.recurrence
        if seen is None:
            return ["a measured rate at which the friction comes back"]
        if seen.p <= self.alpha:
            return []
        rate = f"background {seen.background:.3g}, p = {seen.p:.2g}"
        return [f"recurrence beyond chance: it came back in {seen.k} of {seen.n} later sessions ({rate})"]

    def _recurrence_counts(self) -> dict[str, float]:
        seen = self.recurrence
        if seen is None:
            return {}
        return {
            "recurred": float(seen.k),
            "later_sessions": float(seen.n),
            "background": seen.background,
            "recurrence_p": seen.p,
        }


def standing_out(verdicts: Mapping[str, Verdict], alpha: float = 0.05, least_units: int = 5) -> tuple[str, ...]:
    """Names of the rules that e-BH keeps at `alpha` out of a list, one rule a fact: information beside the verdicts.

    Rules with fewer than `least_units` applicable units are no part of the list.
    """
    listed = {name: v.e for name, v in verdicts.items() if v.e is not None and len(v.units) >= least_units}
    names = list(listed)
    return tuple(names[n] for n in e_bh(list(listed.values()), alpha))


@dataclass(frozen=True, slots=True)
class _Exposure:
    applied: bool
    broken: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """One joined unit: its pairs by session."""

    name: str
    sessions: Mapping[str, Sequence[Pair]]

    @property
    def pairs(self) -> list[Pair]:
        return [pair for pairs in self.sessions.values() for pair in pairs]

    @property
    def applied(self) -> bool:
        return any(_gained(self.pairs, name) for name in ("applied", "prevented", "broken", "unknown"))

    @property
    def known(self) -> bool:
        """True if the rule applied at least once with an outcome that the history shows."""
        return any(_known(pairs) for pairs in self.sessions.values())

    @property
    def broke(self) -> bool:
        return any(_net(pairs) < 0 for pairs in self.sessions.values())

    @property
    def d(self) -> float:
        total = sum(_net(pairs) for pairs in self.sessions.values())
        sign = float((total > 0) - (total < 0))
        return min(sign, 0.0) if self.broke else sign

    def row(self) -> UnitScore:
        """The unit as it is shown."""
        pairs = self.pairs
        shown = (f"{name} {_gained(pairs, name):g}" for name in ("prevented", "broken", "unknown"))
        return UnitScore(
            unit=self.name,
            before=_mean([pair.live.score.hard for pair in pairs]) or 0.0,
            after=_mean([pair.candidate.score.hard for pair in pairs]) or 0.0,
            d=self.d,
            pairs=len(pairs),
            began=min(pair.task.began for pair in pairs),
            tasks=tuple(pair.task.id for pair in pairs),
            note=", ".join(shown),
        )


def _units(pairs: Sequence[Pair]) -> list[_Unit]:
    groups: dict[str, dict[str, list[Pair]]] = {}
    for pair in pairs:
        sessions = groups.setdefault(unit_of(pair.task), {})
        sessions.setdefault(pair.task.source or pair.task.id, []).append(pair)
    return [_Unit(name, sessions) for name, sessions in groups.items()]


def _gained(pairs: Sequence[Pair], name: str) -> float:
    """What the candidate's text does beyond the live one, summed."""
    return sum(
        pair.candidate.score.objectives.get(name, 0.0) - pair.live.score.objectives.get(name, 0.0) for pair in pairs
    )


def _net(pairs: Sequence[Pair]) -> float:
    return _gained(pairs, "prevented") - _gained(pairs, "broken")


def _known(pairs: Sequence[Pair]) -> bool:
    if _gained(pairs, "prevented") or _gained(pairs, "broken"):
        return True
    return _gained(pairs, "applied") - _gained(pairs, "unknown") > 0


def _counts(units: Sequence[_Unit], pairs: Sequence[Pair]) -> dict[str, float]:
    ds = [unit.d for unit in units if unit.known]
    sessions = [pairs for unit in units for pairs in unit.sessions.values()]
    return {name: _gained(pairs, name) for name in SUMMED} | {
        "sessions": float(len(sessions)),
        "applied_sessions": float(sum(_known(pairs) for pairs in sessions)),
        "applicable": float(len(ds)),
        "wins": float(sum(d > 0 for d in ds)),
        "losses": float(sum(d < 0 for d in ds)),
        "ties": float(sum(d == 0 for d in ds)),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
