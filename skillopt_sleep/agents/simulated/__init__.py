"""The obedient simulator: it does what the skill's text orders, nothing else, and now and then forgets an order.

So that anyone can test the method without a model. It is given the text and the prompts, never a check, an edit or a
task's id, and imports neither the store nor checks; how it did is judged from outside. Its figures are simulated: they
say that the loop and its gate work, not that an agent will obey.
"""

from __future__ import annotations

from skillopt_sleep.agents.simulated.agent import Judge, SimulatedAgent

__all__ = ["Judge", "SimulatedAgent"]
