"""The two arms of a comparison take different draws."""

from collections.abc import Sequence

from skillopt_core.gate import pairing
from skillopt_core.rollout import attempted
from skillopt_core.types import Task


def _run(self: pairing._Pairing, tasks: Sequence[Task], draw: int, *, live_first: bool) -> None:
    live = attempted(self.environment, tasks, self.live, [draw] * len(tasks))
    candidate = attempted(self.environment, tasks, self.candidate, [draw + 1] * len(tasks))
    self._pair(tasks, draw, live, candidate)


pairing._Pairing.run = _run  # type: ignore[method-assign]
