"""Evidence counts as proof however little there is."""

from dataclasses import replace

from skillopt_core.gate import modes
from skillopt_core.types import Outcome, Verdict


def _weighed(verdict: Verdict, *_: object) -> Verdict:
    return replace(verdict, outcome=Outcome.ACCEPT, why="yes")


modes._weighed = _weighed
