"""Stage four: no more edits than the step's budget, the textual form of a clipped gradient (method.md, select)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from skillopt_core.protocols import Critic, Pacer
from skillopt_core.schedule import PlannedStep
from skillopt_core.types import Edit, Missing, Patch, Refused

if TYPE_CHECKING:
    from skillopt_core.run import Run


def select(critic: Critic, run: Run, patch: Patch, step: PlannedStep) -> Patch:
    """The patch clipped to the edit budget, the rest dropped with a reason.

    A patch within the budget keeps all its edits and costs no call. Of the critic's ranking only valid distinct
    indices count; without one, the best supported edits stay.
    """
    keep, reason = _paced(critic, run, patch, step)
    if reason:
        patch = replace(patch, reasoning="\n".join(filter(None, (patch.reasoning, f"edit budget {keep}: {reason}"))))
    if len(patch.edits) <= keep:
        return patch
    chosen = _ranked(critic, run, patch.edits, keep) if keep else frozenset()
    kept = tuple(edit for index, edit in enumerate(patch.edits) if index in chosen)
    lost = (edit for index, edit in enumerate(patch.edits) if index not in chosen)
    dropped = tuple(Refused(edit, f"beyond the edit budget of {keep}", "dropped") for edit in lost)
    return replace(patch, edits=kept, refused=patch.refused + dropped)


def _paced(critic: Critic, run: Run, patch: Patch, step: PlannedStep) -> tuple[int, str]:
    """The budget; under the autonomous schedule what the optimizer names, clamped to it, and its reason."""
    if not (step.autonomous and patch.edits and isinstance(critic, Pacer)):
        return step.edit_budget, ""
    named = critic.pace(patch.edits, step.edit_budget, run.memory)
    if isinstance(named, Missing):
        run.count(f"critic: {named.reason}")
        return step.edit_budget, ""
    return min(max(named[0], 0), step.edit_budget), named[1]


def _ranked(critic: Critic, run: Run, edits: Sequence[Edit], keep: int) -> frozenset[int]:
    reply = critic.rank(edits, keep, run.memory)
    if isinstance(reply, Missing):
        run.count(f"critic: {reply.reason}")
        reply = ()
    valid = [index for index in dict.fromkeys(reply) if 0 <= index < len(edits)]
    by_support = sorted(range(len(edits)), key=lambda index: -len(edits[index].support))
    return frozenset((valid or by_support)[:keep])
