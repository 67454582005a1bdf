"""An agent: it repeats the prompt, and before it every line of the skill that begins with "Say: ".

Use it with `--target-backend plugin:parrot`. A real one would ask a model or start a program here.
"""

from __future__ import annotations

from collections.abc import Mapping

from skillopt_core.types import Missing, Skill
from skillopt_sleep.domain.answers import Answer, Need


class Parrot:
    """Someone who does a task and says what was left."""

    version = "1"
    """Part of the key of an attempt: change it with whatever changes an answer."""
    offers = frozenset({Need.FILES})
    """What an answer holds beside words: tools called, files left, both or neither."""
    deterministic = True
    """The same prompt and skill have the same answer, whatever the draw."""

    def answer(self, prompt: str, skill: Skill, draw: int, files: Mapping[str, bytes]) -> Answer | Missing:
        """One attempt. It is given no check and no name of a task. A call that gave nothing is `Missing(reason)`."""
        if not prompt.strip():
            return Missing("there was nothing to repeat")
        said = [line.removeprefix("Say: ") for line in skill.text.splitlines() if line.startswith("Say: ")]
        return Answer("\n".join([*said, prompt]), files={**files, "said.txt": prompt.encode()})


def make(model: str | None, seed: int) -> Parrot:
    """Called once a run, with `--target-model` (None where none is named) and the recipe's seed."""
    return Parrot()
