"""Stage five in other ways than edit by edit: the optimizer writes the document anew (method.md, update).

Two modes of the field, off by default: from the selected suggestions, and from the attempts themselves. Either way the
result is taken apart into bounded edits (hunks.py), so that protected text stays byte for byte, the screen and the
memory have their say, and credit can be given edit by edit. Without a usable reply the selected edits are applied as
they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from skillopt_core.hunks import edits_between
from skillopt_core.memory import normalised
from skillopt_core.protocols import Critic, Rewriter, Screen, Updater
from skillopt_core.types import Edit, Label, Missing, Patch, Trajectory
from skillopt_core.update import Candidate, update

if TYPE_CHECKING:
    from skillopt_core.rollout import Seen
    from skillopt_core.run import Run
    from skillopt_core.schedule import PlannedStep


def by_edits(critic: Critic, run: Run, screen: Screen, patch: Patch, step: PlannedStep, seen: Seen) -> Candidate:
    """The published update: each edit on its own anchor; those that find no place go back to the optimizer once."""
    return run.mend(critic, screen, update(run.skill, run.admit(screen, patch)))


def by_suggestions(critic: Critic, run: Run, screen: Screen, patch: Patch, step: PlannedStep, seen: Seen) -> Candidate:
    """The optimizer works the selected edits into the text in its own way."""
    admitted = run.admit(screen, patch)
    if not admitted.edits:
        return update(run.skill, admitted)
    return _rewritten(critic, run, screen, admitted, step, ())


def by_rewriting(critic: Critic, run: Run, screen: Screen, patch: Patch, step: PlannedStep, seen: Seen) -> Candidate:
    """The optimizer writes the whole text from the attempts, with the selected edits as what was noticed in them."""
    admitted = run.admit(screen, patch)
    failed = [attempt for attempt in seen.trajectories if attempt.score.hard < 1]
    if not failed or step.edit_budget < 1:
        return update(run.skill, admitted)
    return _rewritten(critic, run, screen, admitted, step, failed)


UPDATERS: Final[Mapping[str, Updater]] = {
    "edits": by_edits,
    "suggestions": by_suggestions,
    "rewrite": by_rewriting,
}
"""The update modes by the names that a configuration gives them. `edits` is the default."""


def _rewritten(
    critic: Critic, run: Run, screen: Screen, admitted: Patch, step: PlannedStep, failed: Sequence[Trajectory]
) -> Candidate:
    """The admitted patch as the optimizer wrote it out; reminders of lapses stay edits of their own."""
    lapses = tuple(edit for edit in admitted.edits if edit.label is Label.EXECUTION_LAPSE)
    suggested = tuple(edit for edit in admitted.edits if edit not in lapses)
    text = _written(critic, run, suggested, failed)
    if text is None:
        return run.mend(critic, screen, update(run.skill, admitted))
    edits, refused = edits_between(run.skill.text, text, step.edit_budget - len(lapses))
    shown = frozenset(attempt.task for attempt in failed)
    traced = tuple(_traced(edit, suggested, shown) for edit in edits)
    patch = run.admit(screen, replace(admitted, edits=traced, refused=admitted.refused + refused))
    return update(run.skill, replace(patch, edits=patch.edits + lapses))


def _written(critic: Critic, run: Run, suggested: Sequence[Edit], failed: Sequence[Trajectory]) -> str | None:
    """The document as the optimizer wrote it; None where it was not asked, or nothing usable came back."""
    if not (suggested or failed):
        return None
    if not isinstance(critic, Rewriter):
        run.count("update: this optimizer rewrites nothing, its edits are applied")
        return None
    text = critic.rewrite(run.skill, suggested, failed, run.memory)
    if isinstance(text, Missing):
        run.count(f"critic: {text.reason}")
        return None
    return text


def _traced(edit: Edit, suggested: Sequence[Edit], shown: frozenset[str]) -> Edit:
    """The edit with the support of the suggestions whose words it holds, of all where it holds none; of the attempts
    that were shown where nothing was suggested."""
    said = normalised(edit.text)
    held = [one for one in suggested if one.text.strip() and normalised(one.text) in said] or list(suggested)
    support = frozenset[str]().union(*(one.support for one in held)) if held else shown
    why = "; ".join(dict.fromkeys(one.why for one in held if one.why)) or "the document was written anew"
    return replace(edit, support=support, why=why, origin=held[0].origin if held else "")
