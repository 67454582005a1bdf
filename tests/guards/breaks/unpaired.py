"""The two arms of a comparison take different draws."""

from collections.abc import Sequence

from skillopt_core.gate import pairing
from skillopt_core.rollout import attempted


def _arm_by_arm(self: pairing._Pairing, wanted: Sequence[pairing.Wanted]) -> None:
    tasks = [one.task for one in wanted]
    live = attempted(self.environment, tasks, self.live, [one.draw for one in wanted])
    candidate = attempted(self.environment, tasks, self.candidate, [one.draw + 1 for one in wanted])
    self._pair(wanted, live, candidate)


assert pairing._Pairing.arm_by_arm
pairing._Pairing.arm_by_arm = _arm_by_arm  # type: ignore[method-assign]
