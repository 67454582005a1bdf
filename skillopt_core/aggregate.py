"""Stage three: many patches become one (method.md, aggregate).

What can be merged without a model is: exact duplicates by meaning, and conflicts on one anchor. Only what is left in
more than one patch goes to the critic, in groups of eight, failures first, successes next, then both together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from skillopt_core.memory import meaning, normalised
from skillopt_core.protocols import Critic
from skillopt_core.types import Edit, Missing, Patch, Refused

if TYPE_CHECKING:
    from skillopt_core.run import Run

GROUP: Final = 8


def aggregate(critic: Critic, run: Run, patches: Sequence[Patch]) -> Patch:
    """One patch out of all; empty if there is none. A failed merge is counted and joined without a model instead."""
    failures = _merged(critic, run, [patch for patch in patches if patch.about == "failures"])
    successes = _merged(critic, run, [patch for patch in patches if patch.about == "successes"])
    return _merged(critic, run, [patch for patch in (failures, successes) if patch.edits or patch.refused])


def join(patches: Sequence[Patch]) -> Patch:
    """Patches joined without a model, in order: duplicates united with their support, conflicts settled.

    Of two edits that replace or delete the same anchor the one from failures stays, then the one with more support,
    then the earlier one; the other is dropped with the reason.
    """
    edits, dropped = _settled(_united(edit for patch in patches for edit in patch.edits), _from_failures(patches))
    return Patch(
        edits=edits,
        refused=tuple(refused for patch in patches for refused in patch.refused) + dropped,
        reasoning="\n".join(patch.reasoning for patch in patches if patch.reasoning),
        about="failures" if any(patch.about == "failures" for patch in patches) else "successes",
    )


def _merged(critic: Critic, run: Run, patches: Sequence[Patch]) -> Patch:
    level = list(patches)
    while len(level) > 1:
        level = [_merge(critic, run, level[at : at + GROUP]) for at in range(0, len(level), GROUP)]
    return join(level)


def _merge(critic: Critic, run: Run, group: Sequence[Patch]) -> Patch:
    joined = join(group)
    if sum(bool(patch.edits) for patch in group) < 2 or len(joined.edits) < 2:
        return joined
    reply = critic.merge(group, run.memory)
    if isinstance(reply, Missing):
        run.count(f"critic: {reply.reason}")
        return joined
    if not reply.edits:
        run.count("critic: merged everything away")
        return joined
    counted = tuple(_counted(edit, joined.edits) for edit in reply.edits)
    return replace(joined, edits=join([Patch(counted)]).edits, reasoning=reply.reasoning or joined.reasoning)


def _counted(edit: Edit, sources: Sequence[Edit]) -> Edit:
    """A merged edit with the support of what it was merged from; a task that no source names does not count."""
    known = frozenset[str]().union(*(source.support for source in sources))
    same = (source.support for source in sources if meaning(source) == meaning(edit))
    return replace(edit, support=(edit.support & known).union(*same))


def _united(edits: Iterable[Edit]) -> list[Edit]:
    by_meaning: dict[str, Edit] = {}
    for edit in edits:
        key = meaning(edit)
        first = by_meaning.get(key)
        by_meaning[key] = edit if first is None else replace(first, support=first.support | edit.support)
    return list(by_meaning.values())


def _from_failures(patches: Sequence[Patch]) -> frozenset[str]:
    return frozenset(meaning(edit) for patch in patches if patch.about == "failures" for edit in patch.edits)


def _settled(edits: Sequence[Edit], from_failures: frozenset[str]) -> tuple[tuple[Edit, ...], tuple[Refused, ...]]:
    best: dict[str, Edit] = {}
    for edit in sorted(edits, key=lambda e: (meaning(e) not in from_failures, -len(e.support))):
        if edit.op in {"replace", "delete"}:
            best.setdefault(normalised(edit.anchor), edit)
    kept = [edit for edit in edits if edit.op in {"add", "insert_after"} or best[normalised(edit.anchor)] is edit]
    lost = [edit for edit in edits if edit not in kept]
    why = "another edit changes the same anchor and is better supported"
    return tuple(kept), tuple(Refused(edit, why, "dropped") for edit in lost)
