"""The plainest agent there is: a skill as system message, a prompt, one completion.

For benchmarks whose tasks are answered in words. Tools are offered by name and called by a line of the answer; what
one would have brought back is not given, so a task that needs a tool's result needs another agent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from skillopt_core.types import Missing, Score, Skill, Task, Trajectory
from skillopt_sleep.budget import Usage
from skillopt_sleep.domain.answers import Answer
from skillopt_sleep.models.base import CallFailed, Reply

Judge = Callable[[Task, Answer], Score | Missing]
"""Says how an answer did, or why it could not be judged."""

_OFFER: Final = (
    "Tools: {names}\n"
    "A tool is called by beginning the reply with CALL and its name, like this:\n"
    "CALL {first}: what to look for\n\n"
)
"""Of eight wordings that a model of half a billion parameters was tried with, the one that it follows when told to call
the tool and mostly leaves alone when not (5 and 1 of 6 train tasks)."""
_CALL: Final = re.compile(r"^[ \t>*`-]*CALL[ \t]+([^\s:`]{1,80})[ \t]*(?::.*)?$", re.MULTILINE)


class Sampler(Protocol):
    """A model that can be sampled with a seed. Raises `CallFailed` where a call gave nothing."""

    def sample(self, system: str, request: str, max_output: int, *, temperature: float, seed: int) -> Reply: ...


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How the model is asked. `tools` are offered by name."""

    max_output: int = 400
    temperature: float = 0.7
    seed: int = 0
    tools: tuple[str, ...] = ()


class ChatAgent:
    """Implements the core's `Environment`.

    An answer that runs into `max_output` is an answer all the same: it is judged as far as it goes. A failed call is
    missing. `Score.objectives` gains tokens (as the model counts them) and tool_calls.
    """

    def __init__(self, model: Sampler, judge: Judge, settings: ChatSettings | None = None) -> None:
        self._model = model
        self._judge = judge
        self._settings = settings or ChatSettings()

    @property
    def deterministic(self) -> bool:
        """True at temperature 0."""
        return self._settings.temperature == 0

    def attempt(self, tasks: Sequence[Task], skill: Skill, draws: Sequence[int]) -> Sequence[Trajectory | Missing]:
        """One judged answer a task, in order."""
        return [self._attempt(task, skill, draw) for task, draw in zip(tasks, draws, strict=True)]

    def _attempt(self, task: Task, skill: Skill, draw: int) -> Trajectory | Missing:
        asked = self._settings
        try:
            reply = self._model.sample(
                self._system(skill),
                task.prompt,
                asked.max_output,
                temperature=asked.temperature,
                seed=_seed(asked.seed, draw, task.prompt),
            )
        except CallFailed as failed:
            return Missing(str(failed))
        answer = read_answer(reply.text, asked.tools)
        score = self._judge(task, answer)
        if isinstance(score, Missing):
            return score
        measured = _measured(reply.usage, answer)
        return Trajectory(
            task=task.id,
            draw=draw,
            skill=skill.digest,
            score=replace(score, objectives={**measured, **score.objectives}),
            transcript=reply.text,
            offered=True,
            opened=True,
            loaded=skill.digest,
            prompt=task.prompt,
            answer=answer.text,
        )

    def _system(self, skill: Skill) -> str:
        tools = self._settings.tools
        offer = _OFFER.format(names=", ".join(tools), first=tools[0]) if tools else ""
        return offer + skill.text.strip()


def read_answer(text: str, tools: Sequence[str]) -> Answer:
    """The words, and the calls among them of tools that were offered."""
    called = tuple(name for name in _CALL.findall(text) if name in tools)
    return Answer(_CALL.sub("", text).strip() if called else text, called)


def _measured(usage: Usage | None, answer: Answer) -> dict[str, float]:
    tokens = {} if usage is None or usage.output is None else {"tokens": float(usage.output)}
    return {**tokens, "tool_calls": float(len(answer.tools or ()))}


def _seed(seed: int, draw: int, prompt: str) -> int:
    """One seed a task and draw, the same for both texts of a pair."""
    key = f"{seed}\0{draw}\0{prompt}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") >> 1
