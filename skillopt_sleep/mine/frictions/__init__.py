"""Finders, one module a kind of friction. `find` reads one session; `settle` gives a project's frictions their final
signatures; `phrase` says in plain words what a group is and which rule it suggests, from what lay before a moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.mine.frictions import (
    alternatives,
    content,
    corrections,
    diagnostics,
    flags,
    interrupts,
    paths,
    refusals,
    tools,
)
from skillopt_sleep.mine.history import EVER, History, missing_paths
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.trace import Trace


def find(trace: Trace) -> tuple[Friction, ...]:
    """All frictions of one session. A step that one finder has explained is left alone by those after it."""
    explained = [*paths.find(trace), *flags.find(trace)]
    failing = {row.failing for row in explained}
    taken = {step.at for step in trace.steps if step.action.id in failing or missing_paths(step)}
    facts = [*explained, *alternatives.find(trace, taken)]
    taken |= {step.at for step in trace.steps if step.action.id in {row.failing for row in facts}}
    rest = (f.find(trace) for f in (refusals, diagnostics, content, corrections, interrupts))
    return tuple(replace(row, project=trace.project) for row in chain(facts, tools.find(trace, taken), *rest))


def settle(found: Sequence[Friction], history: History, project: str) -> list[Friction]:
    """The project's frictions with their final signatures, each once; those that turn out to be none are left out."""
    by_kind: dict[FrictionKind, list[Friction]] = defaultdict(list)
    for row in found:
        by_kind[row.kind].append(row)
    rows = (row for kind in FrictionKind for row in _settled(kind, by_kind[kind], history, project))
    return list({(r.kind, r.signature, r.session, r.at_ms, r.failing): r for r in rows}.values())


def _settled(kind: FrictionKind, rows: Sequence[Friction], history: History, project: str) -> Iterator[Friction]:
    if kind is FrictionKind.REFUSAL:
        yield from refusals.settle(rows, history, project)
    elif kind is FrictionKind.FACT:
        yield from paths.settle([r for r in rows if r.signature.startswith(paths.PREFIX)], history, project)
        yield from (r for r in rows if not r.signature.startswith(paths.PREFIX))
    else:
        yield from rows


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int = EVER) -> Phrased:
    """What a group of frictions with one signature is. Only what lies before `until_ms` is looked at in the history."""
    kind, signature = members[0].kind, members[0].signature
    if kind is FrictionKind.FACT:
        if signature.startswith(paths.PREFIX):
            return paths.phrase(members, history, project, until_ms)
        if signature.startswith(flags.PREFIX):
            return flags.phrase(members, history, project, until_ms)
        return alternatives.phrase(members, history, project, until_ms)
    return _PHRASES[kind](members, history, project, until_ms)


_PHRASES: Mapping[FrictionKind, Callable[[Sequence[Friction], History, str, int], Phrased]] = {
    FrictionKind.REFUSAL: refusals.phrase,
    FrictionKind.DIAGNOSTIC: diagnostics.phrase,
    FrictionKind.CONTENT: content.phrase,
    FrictionKind.CORRECTION: corrections.phrase,
    FrictionKind.INTERRUPT: interrupts.phrase,
    FrictionKind.TOOL: tools.phrase,
}
