"""Which edits of an accepted patch carry it: leave-one-out comparisons (gate.md, attribution)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from skillopt_core.gate.evidence import interval
from skillopt_core.gate.exact import sign_flip_p
from skillopt_core.gate.metric import HARD, Metric
from skillopt_core.gate.pairing import compare
from skillopt_core.gate.table import TINY, tabulate
from skillopt_core.protocols import Draws, Environment
from skillopt_core.types import Edit, Patch, Skill, Task, UnitScore
from skillopt_core.update import Candidate, update


@dataclass(frozen=True, slots=True)
class Share:
    """What one edit adds to the rest of its patch.

    `effect` is the mean difference over units of the whole patch and the patch without the edit, with its interval and
    one-sided p; all None where no pair came back. `says`: the edit carries the patch (p <= alpha), carries nothing
    (effect <= 0), or it is open.
    """

    edit: Edit
    effect: float | None
    interval: tuple[float, float] | None
    p: float | None
    pairs: int
    says: Literal["carries", "nothing", "open"]


def attribute(
    environment: Environment,
    base: Skill,
    patch: Patch,
    tasks: Sequence[Task],
    draws: Draws,
    *,
    repeats: int = 3,
    metric: Metric = HARD,
    alpha: float = 0.05,
    seed: int = 0,
) -> tuple[Share, ...]:
    """One comparison an edit, fresh pairs each; a patch of one edit carries itself and costs nothing more.

    An edit without which the rest finds no place (its text is another one's anchor) is compared with what is left.
    """
    whole = update(base, patch).skill
    if len(patch.edits) < 2:
        return tuple(Share(edit, None, None, None, 0, "carries") for edit in patch.edits)
    repeats = 1 if environment.deterministic else repeats
    shares = []
    for edit in patch.edits:
        rest = update(base, replace(patch, edits=tuple(other for other in patch.edits if other is not edit))).skill
        changes = rest.digest != whole.digest
        pairs = compare(environment, rest, whole, tasks if changes else (), draws, repeats)
        units = tabulate(pairs, metric).units
        shares.append(_share(edit, units, alpha, seed) if changes else Share(edit, 0.0, None, None, 0, "nothing"))
    return tuple(shares)


def carried(base: Skill, patch: Patch, shares: Sequence[Share]) -> Candidate:
    """The candidate without the edits that carry nothing; all of it where that would leave no edit."""
    idle = {id(share.edit) for share in shares if share.says == "nothing"}
    kept = tuple(edit for edit in patch.edits if id(edit) not in idle)
    return update(base, replace(patch, edits=kept or patch.edits))


def _share(edit: Edit, units: Sequence[UnitScore], alpha: float, seed: int) -> Share:
    ds = [unit.d for unit in units]
    if not ds:
        return Share(edit, None, None, None, 0, "open")
    effect, p = sum(ds) / len(ds), sign_flip_p(ds, seed)
    says: Literal["carries", "nothing", "open"] = "carries" if p <= alpha else "open"
    pairs = sum(unit.pairs for unit in units)
    return Share(edit, effect, interval(ds), p, pairs, "nothing" if effect <= TINY else says)
