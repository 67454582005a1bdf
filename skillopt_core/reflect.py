"""Stage two: the optimizer reads scored attempts and proposes patches (method.md, reflect)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from skillopt_core.protocols import Critic
from skillopt_core.rollout import Seen
from skillopt_core.types import Missing, Patch, Refused

if TYPE_CHECKING:
    from skillopt_core.run import Run


def reflect(critic: Critic, run: Run, seen: Seen, edit_budget: int) -> list[Patch]:
    """The critic's patches, each of at most `edit_budget` edits, with support that was really shown.

    No failing attempt means no headroom: the critic is not asked at all. A failed or unusable reply is counted.
    """
    if not seen.headroom or edit_budget < 1:
        return []
    shown = frozenset(one.task for one in seen.trajectories)
    replies = critic.reflect(run.skill, seen.trajectories, edit_budget, run.memory)
    patches = [_bounded(reply, edit_budget, shown) for reply in replies if isinstance(reply, Patch)]
    for reply in replies:
        if isinstance(reply, Missing):
            run.count(f"critic: {reply.reason}")
    run.unanswered = bool(replies) and not patches
    return patches


def _bounded(patch: Patch, edit_budget: int, shown: frozenset[str]) -> Patch:
    """The patch with its surplus edits dropped, and support counted by us: ids that were not shown do not count."""
    edits = tuple(replace(edit, support=edit.support & shown) for edit in patch.edits)
    dropped = tuple(Refused(edit, "beyond the edit budget of its patch", "dropped") for edit in edits[edit_budget:])
    return replace(patch, edits=edits[:edit_budget], refused=patch.refused + dropped)
