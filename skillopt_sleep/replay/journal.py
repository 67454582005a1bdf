"""An Environment whose attempts are written down, so that a night killed anywhere never repeats a finished draw."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from skillopt_core.protocols import Asked, Environment, Exhausted
from skillopt_core.rollout import each, width_of
from skillopt_core.types import Missing, Skill, Task, Trajectory
from skillopt_sleep.domain.ledgers import AttemptKey, AttemptLedger


class Journal:
    """Wraps an environment; each attempt is looked up before it is made and stored as soon as it is.

    `comparison` names the comparison that the draws belong to; `agent` says who attempts (name, version, model,
    settings). A free deterministic agent is stored in one transaction a call; where attempts cost money, `batch` bounds
    how many are in the air between two commits.
    """

    def __init__(
        self,
        inner: Environment,
        ledger: AttemptLedger,
        comparison: str,
        agent: Mapping[str, str],
        *,
        batch: int | None = None,
    ) -> None:
        self._inner = inner
        self._ledger = ledger
        self._comparison = comparison
        self._agent = agent
        self._batch = batch
        self._done: list[tuple[str, str, int]] = []
        self._counts = 0

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """As the wrapped environment; finished draws come from the ledger. Raises `Exhausted` through."""
        return self.attempt_each([(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)])

    @property
    def width(self) -> int:
        return width_of(self._inner)

    def attempt_each(self, asked: Sequence[Asked]) -> Sequence[Trajectory | Missing]:
        """The same with a text of its own for each."""
        keys = [AttemptKey.of(self._comparison, task, skill.digest, draw, self._agent) for task, skill, draw in asked]
        known = self._ledger.known(keys)
        answers: list[Trajectory | Missing | None] = [known.get(key.digest) for key in keys]
        todo = [i for i, answer in enumerate(answers) if answer is None]
        size = self._batch or max(len(todo), 1)
        for start in range(0, len(todo), size):
            chosen = todo[start : start + size]
            drawn = [(keys[i].task, keys[i].skill, keys[i].draw) for i in chosen]
            try:
                fresh = each(self._inner, [asked[i] for i in chosen])
            except Exhausted as out:
                out.doubtful = frozenset(self._done[self._counts :])
                out.finished = _leading(answers, out.doubtful)
                raise
            if len(chosen) == size:  # what came before was no reason to end
                self._counts = len(self._done)
            self._done += drawn
            self._ledger.save(
                [
                    (keys[i], answer.reason if isinstance(answer, Missing) else answer)
                    for i, answer in zip(chosen, fresh, strict=True)
                ]
            )
            for i, answer in zip(chosen, fresh, strict=True):
                answers[i] = answer
        return [answer for answer in answers if answer is not None]


class Passing:
    """An `AttemptLedger` that lives as long as its object: for comparisons that nobody takes up again."""

    def __init__(self) -> None:
        self._kept: dict[str, Trajectory] = {}

    def known(self, keys: Sequence[AttemptKey]) -> Mapping[str, Trajectory]:
        return {key.digest: self._kept[key.digest] for key in keys if key.digest in self._kept}

    def save(self, rows: Sequence[tuple[AttemptKey, Trajectory | str]]) -> None:
        self._kept |= {key.digest: answer for key, answer in rows if isinstance(answer, Trajectory)}


def _leading(
    answers: Sequence[Trajectory | Missing | None], doubtful: Collection[tuple[str, str, int]]
) -> tuple[Trajectory | Missing, ...]:
    """The first answers of a call that are there and count."""

    def counts(answer: Trajectory | Missing | None) -> bool:
        return isinstance(answer, Trajectory) and (answer.task, answer.skill, answer.draw) not in doubtful

    return tuple(answer for answer in takewhile(counts, answers) if answer is not None)
