"""`gate aa`: the gate asked about a text and itself, out of the repeats that past nights have paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from skillopt_core.gate import (
    HARD,
    Calibration,
    Metric,
    ProofGate,
    StrictGate,
    against_repeats,
    cache_fault,
    pseudo_pairs,
    trial_over,
)
from skillopt_core.gate.aa import accepted
from skillopt_core.types import Outcome, Skill, Task, Trajectory, UnitScore, Verdict


@dataclass(frozen=True, slots=True)
class Repeats:
    """What a night attempted with its live text: finished attempts, several a task, each with its draw."""

    night: str
    skill: str
    runs: tuple[Trajectory, ...]


@dataclass(frozen=True, slots=True)
class Itself:
    """What a night's real A/A said: a text against itself in fresh attempts."""

    night: str
    accepted: bool


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The A/A process over past nights; `faults` are nights whose repeats were identical to the byte."""

    state: Calibration
    faults: tuple[str, ...] = ()


def nightly(
    nights: Sequence[Repeats | Itself], mode: Literal["proof", "strict"], alpha: float, metric: Metric = HARD
) -> Calibrated:
    """One comparison after another, in order of time, under the gate that decides at night: its level is `alpha`.

    `proof` gathers evidence over nights as a trial does, and begins anew where a trial would end.
    """
    state, faults = Calibration(alpha), []
    trial = _PseudoTrial(mode, alpha, metric)
    for night in nights:
        if isinstance(night, Itself):
            state = state.after(accepted=night.accepted)
            continue
        if cache_fault(night.runs):
            faults.append(night.night)
        if (yes := trial.next(night)) is not None:
            state = state.after(accepted=yes)
    return Calibrated(state, tuple(faults))


class _PseudoTrial:
    """The evidence of pseudo-arms since the last one ended."""

    def __init__(self, mode: Literal["proof", "strict"], alpha: float, metric: Metric) -> None:
        self._mode, self._alpha, self._metric = mode, alpha, metric
        self._prior: tuple[UnitScore, ...] = ()
        self._nights = 0

    def next(self, night: Repeats) -> bool | None:
        """Whether the gate accepts tonight; None where there was nothing to compare."""
        repeats = pseudo_pairs(night.runs)
        if not repeats:
            return None
        names = dict.fromkeys(run.task for run in night.runs)
        tasks = [Task(name, "", unit=f"{night.night} {night.skill} {name}") for name in names]
        verdict = against_repeats(self._gate(repeats), Skill(night.skill), tasks, night.runs)
        yes = accepted(verdict)
        if yes is not None:
            self._go_on(verdict)
        return yes

    def _gate(self, repeats: int) -> StrictGate | ProofGate:
        if self._mode == "strict":
            return StrictGate(repeats, self._metric)
        return ProofGate(self._alpha, repeats, self._metric, self._prior)

    def _go_on(self, verdict: Verdict) -> None:
        self._nights += 1
        over = trial_over(verdict.e or 0.0, verdict.e_reverse or 0.0, self._nights, others_wait=False)
        if over or verdict.outcome in {Outcome.ACCEPT, Outcome.REJECT}:
            self._prior, self._nights = (), 0
        else:
            self._prior = verdict.units
