"""The seams of the optimizer. It asks the world two questions, `attempt` and `complete`; the rest is policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from skillopt_core.memory import Memory
    from skillopt_core.rollout import Seen
    from skillopt_core.run import Run
    from skillopt_core.schedule import PlannedStep
    from skillopt_core.types import Edit, Evolution, Missing, Patch, Refused, Skill, Step, Task, Trajectory, Verdict
    from skillopt_core.update import Candidate


class Exhausted(Exception):
    """The budget is out. `evolve` answers with what it has, `stopped = "budget"`.

    `finished` are the first answers of the call that it ended, as far as an environment has them and they count;
    `doubtful` are earlier attempts (task, digest of the text, draw) that do not: those after which the budget was not
    asked again and had enough (docs/gate.md, cut short).
    """

    def __init__(
        self,
        *said: object,
        finished: Sequence[Trajectory | Missing] = (),
        doubtful: Collection[tuple[str, str, int]] = (),
    ) -> None:
        super().__init__(*said)
        self.finished = tuple(finished)
        self.doubtful = frozenset(doubtful)


class Environment(Protocol):
    """Who attempts tasks. `deterministic`: the same question has the same answer by its settings."""

    @property
    def deterministic(self) -> bool: ...

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One attempt for each (task, draw) pair, `len(tasks) == len(draws)`, answers in the same order.

        A failed call is `Missing(reason)`. Raises `Exhausted` when the budget is out.
        """
        ...


Asked = tuple["Task", "Skill", int]
"""One attempt that is wanted: a task, the text, a draw."""


@runtime_checkable
class Wide(Protocol):
    """An environment whose attempts mostly wait: `width` of them at a time, also with different texts."""

    @property
    def width(self) -> int: ...

    def attempt_each(self, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
        """One attempt for each, as `attempt`. Where the budget ends it none of them counts."""
        ...


class Critic(Protocol):
    """Who proposes edits. It sees train tasks only, and descriptions of failed checks, never their patterns."""

    def reflect(
        self, skill: Skill, seen: Sequence[Trajectory], edit_budget: int, memory: Memory
    ) -> Sequence[Patch | Missing]:
        """Patches of at most `edit_budget` edits each, one a minibatch, in a fixed order."""
        ...

    def merge(self, patches: Sequence[Patch], memory: Memory) -> Patch | Missing:
        """One patch out of a group of similar ones (failures before successes)."""
        ...

    def rank(self, edits: Sequence[Edit], keep: int, memory: Memory) -> Sequence[int] | Missing:
        """Indices of the `keep` best edits, best first."""
        ...


@runtime_checkable
class Mender(Protocol):
    """A critic that can be told once which of its edits found no place (method.md, update)."""

    def mend(self, skill: Skill, missed: Sequence[Refused], memory: Memory) -> Patch | Missing:
        """New anchors for the missed edits; at most as many edits as were missed."""
        ...


@runtime_checkable
class Rewriter(Protocol):
    """A critic that can write the whole document anew (method.md, update: the alternative modes)."""

    def rewrite(
        self, skill: Skill, suggestions: Sequence[Edit], failed: Sequence[Trajectory], memory: Memory
    ) -> str | Missing:
        """The document with the suggestions worked in; made from the failed attempts as well, where there are any."""
        ...


@runtime_checkable
class Dreamer(Protocol):
    """A critic that can make up variants of train tasks (method.md, experience replay)."""

    def dream(self, tasks: Sequence[Task], factor: int) -> Sequence[Sequence[str] | Missing]:
        """Up to `factor` other wordings of each task's request, in the order of the tasks."""
        ...


class Updater(Protocol):
    """How a selected patch becomes a candidate: by its edits (the published way), or by a rewrite (rewrite.py)."""

    def __call__(
        self, critic: Critic, run: Run, screen: Screen, patch: Patch, step: PlannedStep, seen: Seen
    ) -> Candidate: ...


@runtime_checkable
class Pacer(Protocol):
    """A critic that can name a step's edit budget (method.md, schedule: autonomous)."""

    def pace(self, edits: Sequence[Edit], most: int, memory: Memory) -> tuple[int, str] | Missing:
        """How many of the edits to keep, and why. The answer is clamped to [0, most]."""
        ...


@runtime_checkable
class Guide(Protocol):
    """A critic that can look back at the end of an epoch (method.md, slow update and meta skill)."""

    def guidance(self, skill: Skill, drift: Mapping[str, Sequence[Trajectory]], memory: Memory) -> str | Missing:
        """Text for the skill's protected block. `drift` maps improved, regressed, persistent_failure and stable_success
        to attempts under the current skill; empty text means no change."""
        ...

    def notes(self, steps: Sequence[Step], memory: Memory) -> str | Missing:
        """The meta skill: which kinds of edit worked. Shown to the optimizer later, never part of the skill."""
        ...


class Gate(Protocol):
    """Who decides whether candidate is better than live on tasks that neither was made from."""

    def __call__(
        self, environment: Environment, live: Skill, candidate: Skill, tasks: Sequence[Task], draws: Draws
    ) -> Verdict: ...


class Screen(Protocol):
    """What may not be tried at all: lint, leak guard, preferences, memory of rejections. Costs nothing."""

    def admit(self, patch: Patch, skill: Skill) -> Patch:
        """The patch with refused edits moved to `patch.refused`."""
        ...


class Observer(Protocol):
    """Who is told what happened: journal, log, progress bar."""

    def step(self, step: Step) -> None: ...

    def done(self, evolution: Evolution) -> None: ...


class Draws(Protocol):
    """Where draw numbers come from: never used twice in different comparisons."""

    def take(self, n: int) -> Sequence[int]: ...
