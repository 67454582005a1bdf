"""The gates that replay a candidate: strict, off, look, evidence, proof (gate.md). All are `Gate` protocol objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.gate.evidence import BETS, HARM, NOISY_BETS, projected
from skillopt_core.gate.exact import sign_flip_p
from skillopt_core.gate.looks import Boundaries, boundaries, least_units, more_units, proven, settled
from skillopt_core.gate.metric import HARD, Metric
from skillopt_core.gate.pairing import BLOCK, Stop, compare
from skillopt_core.gate.protection import protect
from skillopt_core.gate.table import (
    TINY,
    Evidence,
    Table,
    report,
    shorter_tie,
    tabulate,
    unit_of,
    unmeasured,
    unusable,
)
from skillopt_core.protocols import Draws, Environment, Exhausted
from skillopt_core.types import Comparison, Outcome, Skill, Task, UnitScore, Verdict

CUT: Final = "cut_short"
"""Among a verdict's counts where the budget ended its comparison."""
LOOK_FROM: Final = 30
"""Gate tasks from which a night also looks."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question to a gate: its arguments, kept together."""

    environment: Environment
    live: Skill
    candidate: Skill
    tasks: Sequence[Task]
    draws: Draws
    keep_cut: bool = True
    block: int = BLOCK

    def compare(self, repeats: int, stop: Stop | None = None) -> Comparison:
        """Fresh pairs; a deterministic agent is asked once."""
        arms = (self.environment, self.live, self.candidate)
        return compare(*arms, self.tasks, self.draws, repeats, stop, self.block, keep_cut=self.keep_cut)

    def repeats(self, wanted: int) -> int:
        """Repeats that say anything new."""
        return 1 if self.environment.deterministic else wanted


@dataclass(frozen=True, slots=True)
class OffGate:
    """`gate.mode = "off"`: greedy. The verdict is `ungated`; nothing is run and nothing is adopted by itself."""

    evidence: Evidence = "replayed"

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """`ungated`, or `no_change` for an identical text."""
        if live.digest == candidate.digest:
            return Verdict(Outcome.NO_CHANGE, "the texts are identical", evidence=self.evidence)
        why = "the gate is off: nothing was measured"
        return Verdict(Outcome.UNGATED, why, evidence=self.evidence, needs="a gate")


@dataclass(frozen=True, slots=True)
class StrictGate:
    """The rule of the published method: accept only if the held-out mean is strictly higher.

    Close to a coin toss on small noisy sets; `p` says beside it what a look would have said. `keep_cut`: the pairs that
    are finished when the budget ends a comparison are judged; without it `Exhausted` is raised, for a run that goes on.
    `block`: tasks that both arms run before the next begin; few where attempts cost.
    """

    repeats: int = 3
    metric: Metric = HARD
    seed: int = 0
    evidence: Evidence = "replayed"
    keep_cut: bool = False
    block: int = BLOCK

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """Fresh pairs on all tasks, and the comparison of two means."""
        early = unmeasured(live, candidate, tasks, self.evidence)
        if early:
            return early
        asked = _Asked(environment, live, candidate, tasks, draws, self.keep_cut, self.block)
        comparison = asked.compare(asked.repeats(self.repeats))
        table = tabulate(comparison, self.metric)
        verdict = _measured(table, comparison, (), self.metric, self.evidence, environment)
        broken = unusable(table)
        if broken:
            return _answer(verdict, *broken)
        verdict = replace(verdict, p=sign_flip_p(table.ds, self.seed))
        if _better(verdict):
            return _answer(verdict, Outcome.ACCEPT, "the held-out mean is strictly higher")
        return _not_better(verdict, live, candidate)


@dataclass(frozen=True, slots=True)
class LookGate:
    """One look at a fixed set of tasks: `train` and benchmarks (gate.md, look).

    `alpha` is shared over the `planned` looks of one run. `protected` are tasks that must not break, beside those of
    the gate's own that say so. `per_night` is how many new tasks a night brings, for the forecast. `keep_cut` as in
    `StrictGate`: the finished pairs then have the last look, at the last repeat's boundary.
    """

    alpha: float = 0.05
    planned: int = 1
    repeats: int = 3
    metric: Metric = HARD
    seed: int = 0
    early: bool = True
    protected: tuple[Task, ...] = ()
    per_night: float | None = None
    evidence: Evidence = "replayed"
    keep_cut: bool = False

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """Proven: `accept`. Not proven with mean d > 0: `abstain`. Mean d <= 0, or evidence of harm: `reject`."""
        early = unmeasured(live, candidate, tasks, self.evidence)
        if early:
            return early
        alpha = self.alpha / max(self.planned, 1)
        asked = _Asked(environment, live, candidate, tasks, draws, self.keep_cut)
        plan = boundaries(asked.repeats(self.repeats), alpha, early=self.early)
        short = least_units(plan.last) - len({unit_of(task) for task in tasks})
        if short > 0:
            return self._too_few(short, alpha)
        comparison = asked.compare(len(plan.success), self._stop(plan))
        table = tabulate(comparison, self.metric)
        verdict = _measured(table, comparison, (), self.metric, self.evidence, environment)
        verdict = self._without_bets(replace(verdict, alpha=alpha), plan)
        broken = unusable(table)
        return _answer(verdict, *broken) if broken else self._judge(verdict, table, plan, asked)

    def _judge(self, verdict: Verdict, table: Table, plan: Boundaries, asked: _Asked) -> Verdict:
        p = sign_flip_p(table.ds, self.seed)
        verdict = replace(verdict, p=p)
        done = len(plan.success) if verdict.counts.get(CUT) else verdict.repeats
        if proven(table.ds, done, plan, self.seed) and table.won > -TINY:
            verdict = _answer(verdict, Outcome.ACCEPT, f"better: p = {p:.2g} at alpha = {verdict.alpha:.2g}")
            return _protected(verdict, asked, self.protected, self.repeats)
        if _better(verdict) and (verdict.e_reverse or 0.0) < HARM:
            needs = _forecast(more_units(table.ds, plan.last), self.per_night)
            return _answer(verdict, Outcome.ABSTAIN, f"not proven: p = {p:.2g}", needs)
        return _not_better(verdict, asked.live, asked.candidate)

    def _without_bets(self, verdict: Verdict, plan: Boundaries) -> Verdict:
        """A look that may stop when it pleases is no fair bet: its E is not reported."""
        stopped = {"stopped_early": float(verdict.repeats < len(plan.success))}
        fair = not self.early or len(plan.success) == 1
        return replace(verdict, e=verdict.e if fair else None, counts={**verdict.counts, **stopped})

    def _stop(self, plan: Boundaries) -> _Stop:
        return _Stop(plan if self.early else None, self.metric, self.seed)

    def _too_few(self, short: int, alpha: float) -> Verdict:
        why = "too few tasks: even if all of them went better, it would not be proven"
        needs = _forecast(short, self.per_night)
        return Verdict(Outcome.ABSTAIN, why, self.metric.kind, alpha=alpha, evidence=self.evidence, needs=needs)


@dataclass(frozen=True, slots=True)
class EvidenceGate:
    """Forward evidence over nights: a trial, a backtest (gate.md, evidence).

    `prior` are the units of earlier nights since the candidate's cut; each unit counts once, so those are not run
    again. The verdict's `units` are the prior of the next night. Accept at E >= 1/alpha.
    """

    alpha: float = 0.01
    repeats: int = 3
    metric: Metric = HARD
    prior: tuple[UnitScore, ...] = ()
    protected: tuple[Task, ...] = ()
    per_night: float | None = None
    evidence: Evidence = "replayed"
    block: int = BLOCK

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """`accept`, `reject` on evidence of harm, or `abstain` with what is missing; the trial goes on."""
        early = unmeasured(live, candidate, [*tasks, *self.prior], self.evidence)
        if early:
            return early
        seen = {unit.unit for unit in self.prior}
        new = [task for task in tasks if unit_of(task) not in seen]
        asked = _Asked(environment, live, candidate, new, draws, block=self.block)
        comparison = asked.compare(asked.repeats(self.repeats))
        table = tabulate(comparison, self.metric)
        verdict = _measured(table, comparison, self.prior, self.metric, self.evidence, environment)
        verdict = replace(verdict, alpha=self.alpha)
        broken = unusable(table) if new else None
        if broken:
            earlier = replace(table, units=())
            verdict = _measured(earlier, comparison, self.prior, self.metric, self.evidence, environment)
            return _answer(replace(verdict, alpha=self.alpha), *broken)
        verdict = _weighed(verdict, 1 / self.alpha, self.per_night)
        return _protected(verdict, replace(asked, tasks=tasks), self.protected, self.repeats)


@dataclass(frozen=True, slots=True)
class ProofGate:
    """`gate.mode = "proof"`: a night (gate.md).

    All of alpha on evidence; from `look_from` gate tasks on, half of it on a look at the night's own tasks: look at
    alpha/2, evidence at E >= 2/alpha. Such a night runs every repeat: a difference from a comparison that stopped when
    it pleased would be no fair bet.
    """

    alpha: float = 0.01
    repeats: int = 3
    metric: Metric = HARD
    prior: tuple[UnitScore, ...] = ()
    protected: tuple[Task, ...] = ()
    per_night: float | None = None
    look_from: int = LOOK_FROM
    seed: int = 0
    evidence: Evidence = "replayed"
    block: int = BLOCK

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """As `EvidenceGate`, and on a large night the better of the two instruments at half of alpha each."""
        if len({unit_of(task) for task in tasks}) < self.look_from:
            return self._evidence(self.alpha)(environment, live, candidate, tasks, draws)
        early = unmeasured(live, candidate, tasks, self.evidence)
        if early:
            return early
        asked = _Asked(environment, live, candidate, tasks, draws, block=self.block)
        comparison = asked.compare(asked.repeats(self.repeats))
        table = tabulate(comparison, self.metric)
        broken = unusable(table)
        if broken:
            verdict = _measured(table, comparison, (), self.metric, self.evidence, environment)
            return _answer(replace(verdict, alpha=self.alpha), *broken)
        return _protected(self._both(table, comparison, environment), asked, self.protected, self.repeats)

    def _both(self, table: Table, comparison: Comparison, environment: Environment) -> Verdict:
        seen = {unit.unit for unit in self.prior}
        fresh = replace(table, units=tuple(unit for unit in table.units if unit.unit not in seen))
        verdict = _measured(fresh, comparison, self.prior, self.metric, self.evidence, environment)
        p = sign_flip_p(table.ds, self.seed)
        verdict = replace(verdict, alpha=self.alpha, p=p)
        if p <= self.alpha / 2 and table.won > -TINY and (verdict.e_reverse or 0.0) < HARM:
            return _answer(verdict, Outcome.ACCEPT, f"better: p = {p:.2g} at alpha = {self.alpha / 2:.2g}")
        return _weighed(verdict, 2 / self.alpha, self.per_night)

    def _evidence(self, alpha: float) -> EvidenceGate:
        own = (self.repeats, self.metric, self.prior, self.protected, self.per_night, self.evidence, self.block)
        return EvidenceGate(alpha, *own)


@dataclass(frozen=True, slots=True)
class _Stop:
    """Whether a look may stop after the repeats so far."""

    plan: Boundaries | None
    metric: Metric
    seed: int

    def __call__(self, comparison: Comparison) -> bool:
        if self.plan is None:
            return False
        table = tabulate(comparison, self.metric)
        return settled(table.ds, comparison.repeats, self.plan, self.seed)


def _measured(
    table: Table,
    comparison: Comparison,
    prior: Sequence[UnitScore],
    metric: Metric,
    evidence: Evidence,
    environment: Environment,
) -> Verdict:
    noisy_once = (comparison.planned or comparison.repeats) == 1 and not environment.deterministic
    verdict = report(table, prior, metric, evidence, NOISY_BETS if noisy_once else BETS)
    counts = dict(verdict.counts)
    if environment.deterministic:
        counts["cache_fault"] = 0.0
    if comparison.cut:
        counts[CUT] = 1.0
    return replace(verdict, deterministic=environment.deterministic, repeats=comparison.repeats, counts=counts)


def _weighed(verdict: Verdict, threshold: float, per_night: float | None) -> Verdict:
    """What the evidence so far says."""
    e, reverse = verdict.e or 0.0, verdict.e_reverse or 0.0
    if reverse >= HARM:
        return _answer(verdict, Outcome.REJECT, f"evidence of harm: reverse E = {reverse:.3g}")
    won = sum(unit.after - unit.before for unit in verdict.units)
    if e >= threshold and won > -TINY:
        return _answer(verdict, Outcome.ACCEPT, f"better: E = {e:.3g} at {threshold:.3g}")
    more = projected([unit.d for unit in verdict.units], threshold, verdict.bets)
    return _answer(
        verdict, Outcome.ABSTAIN, f"not proven yet: E = {e:.3g} of {threshold:.3g}", _forecast(more, per_night)
    )


def _protected(verdict: Verdict, asked: _Asked, named: Sequence[Task], repeats: int) -> Verdict:
    """The last word on an `accept`: nothing that worked may break."""
    guarded = (*named, *(task for task in asked.tasks if task.protected))
    tasks = list({task.id: task for task in guarded}.values())
    if verdict.outcome is not Outcome.ACCEPT or not tasks:
        return verdict
    if repeats < 2 and not asked.environment.deterministic:
        why = "better, but one repeat of a noisy agent cannot protect what works"
        return _answer(verdict, Outcome.ABSTAIN, why, "two repeats or more")
    try:
        found = protect(asked.environment, asked.live, asked.candidate, tasks, asked.draws, repeats, asked.block)
    except Exhausted:
        if not asked.keep_cut:
            raise
        why = "better, but the budget ended before what works was seen to go on working"
        return _answer(verdict, Outcome.ABSTAIN, why, "a larger budget")
    counts = {**verdict.counts, "protected": float(len(tasks)), "protected_pairs": float(found.pairs)}
    verdict = replace(verdict, counts=counts)
    if found.broken:
        return _answer(verdict, Outcome.REJECT, f"it breaks what worked: {', '.join(found.broken)}")
    if found.unmeasured:
        why = f"protected tasks could not be run: {', '.join(found.unmeasured)}"
        return _answer(verdict, Outcome.ABSTAIN, why, "attempts that do not fail")
    return verdict


def _better(verdict: Verdict) -> bool:
    """A mean difference above zero by more than rounding."""
    return verdict.effect is not None and verdict.effect > TINY


def _not_better(verdict: Verdict, live: Skill, candidate: Skill) -> Verdict:
    """Worse, or no better; a tie with less text is left to a person."""
    saved = shorter_tie(live, candidate, verdict.effect or 0.0)
    if saved and (verdict.e_reverse or 0.0) < HARM:
        why = f"a tie, with {saved} characters less"
        return _answer(verdict, Outcome.ABSTAIN, why, "a person's decision: same scores, shorter text")
    return _answer(verdict, Outcome.REJECT, f"not better: mean difference {verdict.effect or 0.0:+.3f}")


_CUT_SHORT: Final = "; the budget ended the comparison, these are the pairs that were finished"


def _answer(verdict: Verdict, outcome: Outcome, why: str, needs: str = "") -> Verdict:
    if verdict.counts.get("cache_fault"):
        why += "; repeats are identical to the byte, which points to a cache"
    if verdict.counts.get(CUT) and _CUT_SHORT not in why:
        why += _CUT_SHORT
    return replace(verdict, outcome=outcome, why=why, needs=needs)


def _forecast(more: int | None, per_night: float | None) -> str:
    if more is None:
        return "more than tasks: at the difference seen so far it would never be proven"
    if not per_night:
        return _count(more, "more task")
    return f"{_count(more, 'more task')}, about {_count(max(round(more / per_night), 1), 'more night')}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
