"""The one mutable object of the optimizer: a run as it goes, whose frozen result is an `Evolution`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, Literal

from skillopt_core.memory import Memory
from skillopt_core.protocols import Critic, Mender, Observer, Screen
from skillopt_core.rollout import Seen
from skillopt_core.schedule import PlannedStep, Schedule
from skillopt_core.types import KEPT, Evolution, Missing, Outcome, Patch, Skill, Step, Task, Verdict
from skillopt_core.update import Candidate, update

REMEMBERED: Final = frozenset({Outcome.REJECT, Outcome.ABSTAIN, Outcome.NO_EXPOSURE})
"""Outcomes after which the same edit on the same text is not tried again in this run."""

Stage = Literal["step", "prior", "slow_update"]
Stopped = Literal["done", "budget", "patience", "no_headroom", "nothing_to_do"]


class Run:
    """The current skill, the memory, and what happened so far. Made by `evolve`, which freezes it at the end.

    `skill` is the best text so far: it moves only when the gate lets it. `epoch_skills` are the texts at the epochs'
    ends, the base first. `unanswered` says that the critic was asked in this step and gave nothing usable.
    """

    def __init__(self, skill: Skill, memory: Memory, observer: Observer) -> None:
        self.base = skill
        self.skill = skill
        self.memory = memory
        self.steps: list[Step] = []
        self.epoch_skills: list[Skill] = [skill]
        self.unanswered = False
        self._observer = observer
        self._events: Counter[str] = Counter()
        self._stopped: Stopped | None = None
        self._headroom = False

    def planned(self, schedule: Schedule, train: Sequence[Task]) -> Iterator[PlannedStep]:
        """The schedule's steps over the train tasks, until its patience is out."""
        for step in schedule.steps(len(train)):
            if schedule.patience is not None and self._fruitless() >= schedule.patience:
                self.stop("patience")
                return
            self.unanswered = False
            yield step

    def count(self, event: str, n: int = 1) -> None:
        """Note something that was lost on the way; it is reported with the step."""
        self._events[event] += n

    def admit(self, screen: Screen, patch: Patch) -> Patch:
        """What of the patch may be tried: the memory and the screen cost nothing."""
        return screen.admit(self.memory.admit(patch, self.skill), self.skill)

    def mend(self, critic: Critic, screen: Screen, candidate: Candidate) -> Candidate:
        """Edits that found no place go back to the optimizer once, where it can be asked."""
        if not candidate.missed or not isinstance(critic, Mender):
            return candidate
        reply = critic.mend(self.skill, candidate.missed, self.memory)
        if isinstance(reply, Missing):
            self.count(f"critic: {reply.reason}")
            return candidate
        known = frozenset[str]().union(*(missed.edit.support for missed in candidate.missed))
        again = tuple(replace(edit, support=edit.support & known) for edit in reply.edits[: len(candidate.missed)])
        admitted = self.admit(screen, replace(candidate.patch, edits=again))
        return update(self.skill, replace(admitted, edits=candidate.patch.edits + admitted.edits))

    def record(
        self, step: PlannedStep, seen: Seen, candidate: Candidate, verdict: Verdict, stage: Stage = "step"
    ) -> None:
        """Go on with the candidate if the gate said so, remember its edits if it did not, and tell the observer."""
        verdict = self._told_apart(verdict, seen)
        kept = verdict.outcome in KEPT and candidate.skill.digest != self.skill.digest
        self._headroom = self._headroom or seen.headroom
        for reason, n in seen.missing.items():
            self.count(f"attempt: {reason}", n)
        done = Step(
            epoch=step.epoch,
            number=step.number,
            edit_budget=step.edit_budget,
            proposed=len(candidate.patch.edits) + len(candidate.patch.refused),
            patch=candidate.patch,
            candidate=candidate.skill if candidate.skill.digest != self.skill.digest else None,
            verdict=verdict,
            train=seen.mean,
            kept=kept,
            stage=stage,
            events=dict(self._events),
        )
        self._events.clear()
        self._move(candidate, verdict, kept=kept)
        self.steps.append(done)
        self._observer.step(done)

    def stop(self, why: Stopped) -> None:
        """Say why the run ended before its schedule did."""
        self._stopped = why

    def freeze(self) -> Evolution:
        """The result as a fact. The observer is told."""
        evolution = Evolution(self.base, self.skill, tuple(self.steps), self._why(), self.memory.meta)
        self._observer.done(evolution)
        return evolution

    def _move(self, candidate: Candidate, verdict: Verdict, *, kept: bool) -> None:
        if kept:
            self.skill = candidate.skill
        elif verdict.outcome in REMEMBERED:
            for edit in candidate.patch.edits:
                self.memory.remember(edit, self.skill.digest, verdict.why, verdict.outcome)

    def _told_apart(self, verdict: Verdict, seen: Seen) -> Verdict:
        """An outage is never called "no change": neither the target's nor the optimizer's."""
        if verdict.outcome is not Outcome.NO_CHANGE or not (seen.silent or self.unanswered):
            return verdict
        who = "attempt of the target" if seen.silent else "reply of the optimizer"
        needs = "a working target" if seen.silent else "a working optimizer"
        return replace(verdict, outcome=Outcome.INFRA_ERROR, why=f"no usable {who} came back", needs=needs)

    def _fruitless(self) -> int:
        """How many steps in a row kept nothing."""
        return sum(1 for _ in takewhile(lambda step: not step.kept, reversed(self.steps)))

    def _why(self) -> Stopped:
        if self._stopped:
            return self._stopped
        if not self.steps:
            return "nothing_to_do"
        measured = any(step.train is not None for step in self.steps)
        return "no_headroom" if measured and not self._headroom else "done"
