"""The `recorded` agent: replays what was recorded and follows the rules as they stand in the skill's text.

It is given the text and the episodes, never an edit, a check or an id, and imports neither the store nor checks. Where
a rule applies to a recorded action the alternative is taken, and its outcome is what the same project's history shows
for it. The whole history, before and after, may be asked for the outcome of an alternative (never for choosing a rule,
which is the miner's part, with a cut); the action itself is left out. An alternative without any outcome is unknown.
What it cannot show: that an agent will obey a rule, nor that the rule can be followed (architecture.md).
"""

from __future__ import annotations

from skillopt_sleep.agents.recorded.agent import RecordedAgent
from skillopt_sleep.agents.recorded.effects import Effect, Occurrence
from skillopt_sleep.agents.recorded.history import History

__all__ = ["Effect", "History", "Occurrence", "RecordedAgent"]
