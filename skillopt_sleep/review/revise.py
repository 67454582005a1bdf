"""A document with some edits applied, by the optimizer's own rules."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_core.types import Edit, Patch, Refused, Skill
from skillopt_core.update import update


def revise(text: str, edits: Sequence[Edit]) -> tuple[str, tuple[Refused, ...]]:
    """`text` with every edit that finds its place, and those that found none.

    Edits of one step are located in the same text; an edit of a later step may stand on the text of an earlier one, so
    what was missed is tried again on the result as long as that helps.
    """
    skill, waiting = Skill(text), tuple(edits)
    missed: tuple[Refused, ...] = ()
    while waiting:
        candidate = update(skill, Patch(waiting))
        skill, missed = candidate.skill, candidate.missed
        rest = tuple(refused.edit for refused in missed)
        if len(rest) == len(waiting):
            break
        waiting = rest
    return skill.text, missed if waiting else ()


def same(one: str, other: str) -> bool:
    """Are two texts alike but for line endings and final newlines? Such a difference is never staged."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
