"""A target and an optimizer that do what they are told: for tests, and for trying the loop without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from skillopt_core.aggregate import join
from skillopt_core.memory import Memory
from skillopt_core.protocols import Exhausted
from skillopt_core.types import Edit, Missing, Patch, Score, Skill, Task, Trajectory

Play = Callable[[Task, Skill, int], Score | Trajectory | Missing]


@dataclass
class ScriptedEnvironment:
    """Answers each attempt with `play(task, skill, draw)`.

    `limit` attempts are paid for, then it is `Exhausted` before the first attempt of a call that it cannot pay whole.
    `asked` keeps what was attempted: task id, skill digest, draw.
    """

    play: Play
    deterministic: bool = True
    limit: int | None = None
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One answer a pair, in order."""
        if self.limit is not None and len(self.asked) + len(tasks) > self.limit:
            raise Exhausted(f"{self.limit} attempts were paid for")
        self.asked += [(task.id, skill.digest, draw) for task, draw in zip(tasks, draws, strict=True)]
        return [self._one(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def _one(self, task: Task, skill: Skill, draw: int) -> Trajectory | Missing:
        said = self.play(task, skill, draw)
        return Trajectory(task.id, draw, skill.digest, said) if isinstance(said, Score) else said


@dataclass
class ScriptedCritic:
    """Proposes the given edits, a list for each reflection in turn, then nothing. `asked` counts its calls by name."""

    proposals: Sequence[Sequence[Edit] | Missing]
    asked: dict[str, int] = field(default_factory=dict)

    def reflect(
        self, skill: Skill, seen: Sequence[Trajectory], edit_budget: int, memory: Memory
    ) -> Sequence[Patch | Missing]:
        """The next list of edits as one patch."""
        turn = self._count("reflect")
        if turn >= len(self.proposals):
            return []
        proposed = self.proposals[turn]
        return [proposed if isinstance(proposed, Missing) else Patch(tuple(proposed))]

    def merge(self, patches: Sequence[Patch], memory: Memory) -> Patch | Missing:
        """What can be joined without a model."""
        self._count("merge")
        return join(patches)

    def rank(self, edits: Sequence[Edit], keep: int, memory: Memory) -> Sequence[int] | Missing:
        """The first ones."""
        self._count("rank")
        return range(keep)

    def _count(self, name: str) -> int:
        self.asked[name] = self.asked.get(name, 0) + 1
        return self.asked[name] - 1
