"""The learning-rate schedule: how many edits a step may make, and which tasks it sees (method.md, loop)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from skillopt_core.seeded import Seeded
from skillopt_core.types import Task

Kind = Literal["constant", "linear", "cosine", "autonomous"]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step before it is taken. `number` counts from 0 over the whole run, `epoch` from 0.

    `first` and `size` cut the step's tasks out of the epoch's seeded order; `rollouts` is k independent samples a task.
    `look_back` is how many tasks the slow update compares at this step's end, `notes` whether the meta skill is kept,
    `recall` how many similar past tasks are added to each of its own.
    """

    epoch: int
    number: int
    edit_budget: int
    first: int
    size: int
    rollouts: int = 1
    seed: int = 0
    ends_epoch: bool = False
    autonomous: bool = False
    look_back: int = 0
    notes: bool = False
    recall: int = 0

    def batch(self, train: Sequence[Task]) -> list[Task]:
        """This step's tasks: a slice of the epoch's order, which depends on the seed and the epoch alone."""
        order = Seeded(self.seed).split(self.epoch).shuffled(train) if self.size < len(train) else list(train)
        return order[self.first : self.first + self.size]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Epochs, steps and edit budgets: the learning rate and its four schedules (method.md, loop and select).

    A step sees `batch * accumulation` tasks: accumulation makes a step's gradient from several batches. The edit
    budget goes from `most` to `least` with x = t/T over the T steps of the run: constant, linear
    `most + (least - most) x`, cosine `least + (most - least)(1 + cos pi x)/2`, rounded, never below `least`;
    autonomous leaves the number to the optimizer, at most `most`. `patience` stops after so many steps in a row that
    kept nothing, None never. `slow_update` is the number of tasks that the end of an epoch looks back at, 0 for none;
    `meta` keeps notes; `recall` adds so many similar past tasks to each train task of a step, `dreams` so many other
    wordings of it, made up by the optimizer.
    """

    kind: Kind = "cosine"
    epochs: int = 4
    batch: int = 40
    accumulation: int = 1
    most: int = 4
    least: int = 2
    rollouts: int = 1
    patience: int | None = None
    seed: int = 0
    slow_update: int = 20
    meta: bool = True
    recall: int = 0
    dreams: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.least, self.most) < 0 or min(self.batch, self.accumulation, self.rollouts) < 1:
            raise ValueError("a schedule needs epochs and budgets >= 0, batch, accumulation and rollouts >= 1")

    @classmethod
    def night(cls, edit_budget: int = 4, rollouts: int = 1, seed: int = 0) -> Schedule:
        """One epoch of one step over all of tonight's train tasks."""
        return cls("constant", 1, 1 << 30, 1, edit_budget, 0, rollouts, None, seed, slow_update=0, meta=False)

    def steps_per_epoch(self, train: int) -> int:
        """ceil(train / (batch x accumulation)); none without train tasks."""
        return -(-train // (self.batch * self.accumulation))

    def looks(self, train: int) -> int:
        """How often the gate is asked in one run, slow updates included: what alpha is shared over (gate.md)."""
        slow = max(self.epochs - 1, 0) if self.slow_update and train else 0
        return self.epochs * self.steps_per_epoch(train) + slow

    def steps(self, train: int) -> Iterator[PlannedStep]:
        """The planned steps of a run over `train` tasks, in order."""
        per_epoch = self.steps_per_epoch(train)
        size = min(self.batch * self.accumulation, train)
        for number in range(self.epochs * per_epoch):
            epoch, position = divmod(number, per_epoch)
            yield PlannedStep(
                epoch=epoch,
                number=number,
                edit_budget=self.edit_budget(number, self.epochs * per_epoch),
                first=position * size,
                size=size,
                rollouts=self.rollouts,
                seed=self.seed,
                ends_epoch=position == per_epoch - 1,
                autonomous=self.kind == "autonomous",
                look_back=self.slow_update if position == per_epoch - 1 and epoch else 0,
                notes=self.meta and position == per_epoch - 1,
                recall=self.recall,
            )

    def edit_budget(self, t: int, total: int) -> int:
        """The edit budget of step t of `total`, t from 0: the first step has `most`."""
        x = t / total if total else 0.0
        if self.kind == "linear":
            budget = self.most + (self.least - self.most) * x
        elif self.kind == "cosine":
            budget = self.least + (self.most - self.least) * (1 + math.cos(math.pi * x)) / 2
        else:
            return self.most
        return max(math.floor(budget + 0.5), min(self.least, self.most))
