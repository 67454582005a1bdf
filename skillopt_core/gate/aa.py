"""A/A: the gate is asked about a text and itself, and halts where it says "better" too often (gate.md, calibration).

Two ways to have a second arm that is the same text: the live arm's own repeats, dealt to two pseudo-arms (free, every
night), or fresh attempts with draws of their own (paid, now and then).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.gate.evidence import aa_evidence
from skillopt_core.protocols import Draws, Environment, Gate
from skillopt_core.types import Missing, Outcome, Skill, Task, Trajectory, Verdict

HALT: Final = 20.0
"""Evidence of "accepts at a rate above alpha" from which the gate halts; a sound one ever gets there in at most 5 %."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often a gate of level `alpha` accepted a text against itself.

    `e` is the evidence now that it does so at a rate above alpha, `halted_at` the comparison (from 1) at which it first
    reached `HALT`, None where it never did.
    """

    alpha: float
    comparisons: int = 0
    accepted: int = 0
    e: float = 1.0
    halted_at: int | None = None

    def after(self, *, accepted: bool) -> Calibration:
        """One comparison later."""
        n, k = self.comparisons + 1, self.accepted + accepted
        e = aa_evidence(k, n, self.alpha)
        halted_at = n if self.halted_at is None and e >= HALT else self.halted_at
        return Calibration(self.alpha, n, k, e, halted_at)


def calibrated(accepted: Iterable[bool], alpha: float) -> Calibration:
    """The whole process over past comparisons in their order."""
    state = Calibration(alpha)
    for one in accepted:
        state = state.after(accepted=one)
    return state


def pseudo_pairs(runs: Sequence[Trajectory]) -> int:
    """How many pairs a task the repeats of `runs` can be dealt to: the least over tasks that have a pair at all."""
    return min((len(of) // 2 for of in _by_task(runs).values() if len(of) > 1), default=0)


def against_repeats(gate: Gate, live: Skill, tasks: Sequence[Task], runs: Sequence[Trajectory]) -> Verdict:
    """What `gate` says of two pseudo-arms made of the live text's own finished attempts; nothing is run.

    `gate` must ask for at most `pseudo_pairs(runs)` repeats. Tasks without two attempts are left out.
    """
    dealt = {name: of for name, of in _by_task(runs).items() if len(of) > 1}
    usable = [task for task in tasks if task.id in dealt]
    return gate(_Dealt(live, dealt), live, _twin(live), usable, _Unused())


def against_itself(gate: Gate, environment: Environment, live: Skill, tasks: Sequence[Task], draws: Draws) -> Verdict:
    """What `gate` says of `live` against itself, in fresh attempts with disjoint draws. Raises `Exhausted`."""
    return gate(_Twins(environment, live, draws), live, _twin(live), tasks, draws)


def accepted(verdict: Verdict) -> bool | None:
    """Whether an A/A comparison counts against the gate; None where it was no comparison at all."""
    if not verdict.pairs or verdict.outcome in {Outcome.INFRA_ERROR, Outcome.NO_EXPOSURE}:
        return None
    return verdict.outcome is Outcome.ACCEPT


def cache_fault(runs: Sequence[Trajectory]) -> bool:
    """True if a noisy agent's repeats read alike to the byte on every task that has any: a cache is at work."""
    repeated = [of for of in _by_task(runs).values() if len(of) > 1]
    return bool(repeated) and all(
        all(run.transcript for run in of) and len({run.transcript for run in of}) == 1 for of in repeated
    )


@dataclass(frozen=True, slots=True)
class HaltedGate:
    """A gate that was found to accept too much: it measures nothing and proves nothing until a person has looked."""

    state: Calibration

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict:
        """`abstain`, or `no_change` for an identical text."""
        if live.digest == candidate.digest:
            return Verdict(Outcome.NO_CHANGE, "the texts are identical")
        said = f"{self.state.accepted} of {self.state.comparisons} comparisons of a text with itself were accepted"
        why = f"the gate has halted: {said}, more than alpha = {self.state.alpha:g} allows"
        return Verdict(Outcome.ABSTAIN, why, alpha=self.state.alpha, needs="a cause for the false alarms")


def unless_halted(gate: Gate, state: Calibration) -> Gate:
    """The gate itself, or the halted one where the A/A process has reached `HALT`."""
    return gate if state.halted_at is None else HaltedGate(state)


class _Dealt:
    """An environment that answers with attempts that were made: one task's repeats go to the arms in turn."""

    deterministic = False

    def __init__(self, live: Skill, runs: Mapping[str, Sequence[Trajectory]]) -> None:
        self._left: dict[tuple[str, bool], list[Trajectory]] = {}
        for number, (task, of) in enumerate(runs.items()):
            for arm in (False, True):  # which arm has the earlier attempts changes from task to task
                self._left[task, arm] = list(of[(number + arm) % 2 :: 2])
        self._live = live

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """The arm's next repeat of each task."""
        return [self._next(task.id, draw, skill) for task, draw in zip(tasks, draws, strict=True)]

    def _next(self, task: str, draw: int, skill: Skill) -> Trajectory | Missing:
        left = self._left[task, skill.digest != self._live.digest]
        return replace(left.pop(0), draw=draw, skill=skill.digest) if left else Missing("no repeat is left")


class _Twins:
    """The environment itself, where a twin of the live text stands for the same bytes with other draws."""

    def __init__(self, environment: Environment, live: Skill, draws: Draws) -> None:
        self.deterministic = environment.deterministic
        self._environment, self._live, self._draws = environment, live, draws

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """Attempts of the live text; the twin's have draws that nobody else has."""
        if skill.digest == self._live.digest:
            return self._environment.attempt(tasks, self._live, draws)
        fresh = {draw: self._draws.take(1)[0] for draw in dict.fromkeys(draws)}
        answers = self._environment.attempt(tasks, self._live, [fresh[draw] for draw in draws])
        return [
            answer if isinstance(answer, Missing) else replace(answer, draw=draw, skill=skill.digest)
            for answer, draw in zip(answers, draws, strict=True)
        ]


class _Unused:
    """Draw numbers for attempts that were made already: they choose nothing."""

    def take(self, n: int) -> Sequence[int]:
        """Any numbers."""
        return range(n)


def _twin(live: Skill) -> Skill:
    """A text with another digest, so that a gate does not answer `no_change`. It is never shown to an agent."""
    return Skill(live.text + "\0", live.name)


def _by_task(runs: Sequence[Trajectory]) -> Mapping[str, Sequence[Trajectory]]:
    grouped: dict[str, list[Trajectory]] = {}
    for run in sorted(runs, key=lambda run: run.draw):
        grouped.setdefault(run.task, []).append(run)
    return grouped
