"""A model: one reply to whatever it is asked. Use it with `--optimizer-backend plugin:canned --optimizer-model NAME`.

A real one would send a request here. It is called from several threads at once, up to `models.parallel` of them.
"""

from __future__ import annotations

from skillopt_sleep.budget import Usage
from skillopt_sleep.models.base import CallFailed, Reply


class Canned:
    """One model behind one endpoint."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.where = "this machine"
        """Where prompts go, for the person: a host, or this machine."""

    def complete(self, prompt: str, max_output: int) -> Reply:
        """One request of at most `max_output` tokens. The prompt is redacted already.

        `CallFailed` where it gave nothing, with what it may have cost and how long to wait before another try. Retries,
        the budget and the cache are not your business. Usage of None is estimated.
        """
        if not prompt:
            raise CallFailed("an empty prompt", cost="none")
        return Reply('{"edits": []}', Usage(input=len(prompt) // 4, output=4), model=self.model)


def make(model: str) -> Canned:
    """Called once a run, with the name of the model."""
    return Canned(model)
