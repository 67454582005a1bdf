"""The agent itself: a skill's text in, a judged answer to each prompt out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from skillopt_core.seeded import Seeded
from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.agents.simulated.writing import answer
from skillopt_sleep.critics.imperatives import Order, orders
from skillopt_sleep.domain.answers import Answer

CHARACTERS_A_TOKEN: Final = 4
MOST_KEPT: Final = 256
"""Texts whose reading is kept."""

Judge = Callable[[Task, Answer], Score | Missing]
"""Says how an answer did, or why it could not be judged. It comes from outside; the agent never looks into it."""


class SimulatedAgent:
    """Implements the core's `Environment`.

    Each order of the text is obeyed with probability `obedience`, drawn anew for each prompt, draw and exact text from
    `seed` alone. With an obedience of 1 (or 0) the agent is deterministic, and its answer does not depend on the draw.
    `Score.objectives` gains tokens (output, four characters a token) and tool_calls.
    """

    def __init__(self, judge: Judge, *, seed: int = 0, obedience: float = 0.98) -> None:
        if not 0 <= obedience <= 1:
            raise ValueError(f"obedience is a probability, not {obedience}")
        self._judge = judge
        self._seed = seed
        self._obedience = obedience
        self._orders = lru_cache(MOST_KEPT)(orders)

    @property
    def deterministic(self) -> bool:
        """True where no order is left to chance."""
        return self._obedience in {0.0, 1.0}

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One judged answer a task, in order; `Missing` is only what could not be judged."""
        return [self._attempt(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def answer(self, prompt: str, skill: Skill, draw: int = 0) -> Answer:
        """What it answers: a function of prompt, text, draw and seed, and of nothing else."""
        number = 0 if self.deterministic else draw
        obeyed = [order for order in self._orders(skill.text) if self._obeys(order, prompt, skill, number)]
        return answer(prompt, obeyed, self._stream("filler", prompt, skill.digest, number))

    def _attempt(self, task: Task, skill: Skill, draw: int) -> Trajectory | Missing:
        said = self.answer(task.prompt, skill, draw)
        score, tools = self._judge(task, said), said.tools or ()
        if isinstance(score, Missing):
            return score
        measured = {"tokens": float(len(said.text) // CHARACTERS_A_TOKEN), "tool_calls": float(len(tools))}
        return Trajectory(
            task=task.id,
            draw=draw,
            skill=skill.digest,
            score=replace(score, objectives={**measured, **score.objectives}),
            transcript="\n".join([*(f"[called {tool}]" for tool in tools), said.text]),
            offered=True,
            opened=True,
            loaded=skill.digest,
            prompt=task.prompt,
            answer=said.text,
        )

    def _obeys(self, order: Order, prompt: str, skill: Skill, draw: int) -> bool:
        return self._stream(repr(order), prompt, skill.digest, draw).uniform() < self._obedience

    def _stream(self, about: str, prompt: str, digest: str, draw: int) -> Seeded:
        key = f"{self._seed}\0{draw}\0{digest}\0{about}\0{prompt}".encode("utf-8", "surrogatepass")
        return Seeded(int.from_bytes(hashlib.sha256(key).digest()[:8], "big"))
