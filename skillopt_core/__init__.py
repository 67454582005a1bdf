"""The optimizer: a skill is a trainable document, and a change to it is believed only when it was measured.

`evolve` is the published method's loop, `weigh` takes one given patch straight to a gate. Both ask the world two
questions only, `attempt` (`protocols.Environment`) and `complete` (`critic.ModelCritic`). Standard library only; no
clock, no global randomness, no files beside its own prompts. These twelve names are what a caller begins with; every
other module is public too: the seams in `protocols`, all facts in `types`, all gates in `gate`.
"""

from __future__ import annotations

from skillopt_core.critic import ModelCritic
from skillopt_core.gate import LookGate, ProofGate
from skillopt_core.loop import evolve, weigh
from skillopt_core.memory import Memory
from skillopt_core.schedule import Schedule
from skillopt_core.types import Edit, Evolution, Skill, Task, TaskSet

__all__ = [
    "Edit",
    "Evolution",
    "LookGate",
    "Memory",
    "ModelCritic",
    "ProofGate",
    "Schedule",
    "Skill",
    "Task",
    "TaskSet",
    "evolve",
    "weigh",
]
