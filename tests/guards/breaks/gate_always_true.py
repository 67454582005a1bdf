"""The recorded gate says `supported` to whatever it is asked."""

from dataclasses import replace
from typing import Any

from skillopt_core.gate.recorded import RecordedGate
from skillopt_core.types import Outcome, Verdict

_asked = RecordedGate.__call__


def _yes(self: RecordedGate, *arguments: Any) -> Verdict:
    return replace(_asked(self, *arguments), outcome=Outcome.SUPPORTED)


RecordedGate.__call__ = _yes  # type: ignore[method-assign]
