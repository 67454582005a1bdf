"""Agents that only answer: what a plugin writes, and the core's `Environment` that is made of it.

Such an agent is given a prompt, a skill and the files to start from. It never sees a check, a task's id or a split.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.domain.answers import Answer, Need

log = logging.getLogger(__name__)

Judge = Callable[[Task, Answer], Score | Missing]
"""Says how an answer did, or why it could not be judged."""
Start = Callable[[Task], Mapping[str, bytes]]
"""The files that a task starts from, by relative path."""


class Answering(Protocol):
    """Someone who does a task and says what was left.

    `version` goes into the key of an attempt: answers of another version count for nothing. `offers` says what an
    answer holds beside words: `tools`, `files`, both or neither. `deterministic`: one question always has one answer.
    """

    @property
    def version(self) -> str: ...

    @property
    def offers(self) -> AbstractSet[Need]: ...

    @property
    def deterministic(self) -> bool: ...

    def answer(self, prompt: str, skill: Skill, draw: int, files: Mapping[str, bytes]) -> Answer | Missing:
        """One attempt. `draw` tells independent attempts apart (a seed). A call that gave nothing is `Missing`."""
        ...


class AnsweringAgent:
    """Implements the core's `Environment`. What the agent raises is a missing attempt, never a score."""

    def __init__(self, name: str, agent: Answering, judge: Judge, start: Start) -> None:
        self._name = name
        self._agent = agent
        self._judge = judge
        self._start = start

    @property
    def deterministic(self) -> bool:
        return bool(self._agent.deterministic)

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One judged answer a task, in order."""
        return [self._attempt(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def _attempt(self, task: Task, skill: Skill, draw: int) -> Trajectory | Missing:
        answer = self._answer(task, skill, draw)
        if isinstance(answer, Missing):
            return answer
        score = self._judge(task, answer)
        if isinstance(score, Missing):
            return score
        called = [f"[called {tool}]" for tool in answer.tools or ()]
        transcript = "\n".join([*called, answer.text])
        return Trajectory(task.id, draw, skill.digest, score, transcript, prompt=task.prompt, answer=answer.text)

    def _answer(self, task: Task, skill: Skill, draw: int) -> Answer | Missing:
        try:
            said = self._agent.answer(task.prompt, skill, draw, self._start(task))
        except Exception as error:
            log.warning(
                "An agent of a plugin failed", exc_info=True, extra={"action": "agent_failed", "agent": self._name}
            )
            return Missing(f"the agent {self._name} failed ({type(error).__name__})")
        return said if isinstance(said, (Answer, Missing)) else Missing(f"the agent {self._name} gave no answer")
