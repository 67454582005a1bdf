"""An Environment whose attempts are written down, so that a night killed anywhere never repeats a finished draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt_core.protocols import Environment
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

    @property
    def deterministic(self) -> bool:
        return self._inner.deterministic

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """As the wrapped environment; finished draws come from the ledger. Raises `Exhausted` through."""
        keys = [
            AttemptKey.of(self._comparison, task, skill.digest, draw, self._agent)
            for task, draw in zip(tasks, draws, strict=True)
        ]
        known = self._ledger.known(keys)
        answers: list[Trajectory | Missing | None] = [known.get(key.digest) for key in keys]
        todo = [i for i, answer in enumerate(answers) if answer is None]
        size = self._batch or max(len(todo), 1)
        for start in range(0, len(todo), size):
            chosen = todo[start : start + size]
            fresh = self._inner.attempt([tasks[i] for i in chosen], skill, [draws[i] for i in chosen])
            self._ledger.save(
                [
                    (keys[i], answer.reason if isinstance(answer, Missing) else answer)
                    for i, answer in zip(chosen, fresh, strict=True)
                ]
            )
            for i, answer in zip(chosen, fresh, strict=True):
                answers[i] = answer
        return [answer for answer in answers if answer is not None]
