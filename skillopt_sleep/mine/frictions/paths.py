"""Project facts about paths: what does not exist and is looked for again, and what has another ending or folder.

A look counts as failed when its own message says that the path is not there. A search that finds nothing below a path
of which that was said before is a failure too. A path that is mostly found is no fact, nor is one that the same session
goes on to create.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import DoNotLookUnder, FileIs
from skillopt_sleep.mine.history import EVER, History, ancestors, missing_paths
from skillopt_sleep.mine.phrased import NOTHING, Phrased, widest
from skillopt_sleep.mine.trace import CHANGES, LOOKS, Step, Trace, friction, quote
from skillopt_sleep.mine.wording import code, stem

PREFIX: Final = "path:"


def find(trace: Trace) -> Iterator[Friction]:
    created = _created(trace)
    for step in trace.steps:
        for path in missing_paths(step):
            if created.get(path, -1) < step.at:
                yield _of_missing(trace, step, path)
        if step.action.kind in LOOKS and step.action.empty and step.action.paths:
            path = step.action.paths[0]
            features = [("path", path), ("hard", "")]
            yield friction(step, FrictionKind.FACT, PREFIX + path, quotes=[quote(step, "agent")], features=features)


def _created(trace: Trace) -> dict[str, int]:
    """The place of the last write that made a path in this session."""
    writes = (s for s in trace.steps if s.ok and s.action.kind in CHANGES)
    return {path: step.at for step in writes for path in step.action.paths}


def _of_missing(trace: Trace, step: Step, path: str) -> Friction:
    other = next((s for s in trace.near(step) if s.ok and _alternative(s, path)), None)
    instead = _alternative(other, path) if other else ""
    span = trace.steps[step.at : other.at] if other else [step]
    following = trace.near(step)[:1]
    named = bool(instead) and posixpath.basename(instead) in step.action.output
    return friction(
        step,
        FrictionKind.FACT,
        PREFIX + path,
        resolving=other,
        wasted=len(span),
        tokens=sum(s.action.tokens for s in span),
        quotes=[quote(step, "agent"), quote(step, "tool")],
        features=[("path", path), ("hard", "1"), ("instead", instead)],
        self_healing=named and other in following,
    )


def _alternative(step: Step, path: str) -> str:
    """A path of the action that stands for the missing one: another ending, or the same name in another folder."""
    for other in step.action.paths:
        alike = stem(other) == stem(path) or posixpath.basename(other) == posixpath.basename(path)
        if other != path and stem(other) and stem(path) and alike:
            return other
    return ""


def settle(found: Sequence[Friction], history: History, project: str) -> list[Friction]:
    """Name each failed look after the highest path that is gone; drop what is mostly found, and empty searches below
    paths of which nobody had said yet that they are missing."""
    hard = sorted((r for r in found if _is_hard(r)), key=lambda r: (r.at_ms, r.session, r.failing or 0))
    known: dict[str, int] = {}
    settled: list[Friction] = []
    for row in hard:
        if top := highest_missing(history, project, row.values("path")[0]):
            known.setdefault(top, row.at_ms)
            settled.append(replace(row, signature=PREFIX + top))
    for row in found:
        if not _is_hard(row):
            below = [p for p in ancestors(row.values("path")[0]) if known.get(p, row.at_ms + 1) <= row.at_ms]
            settled.extend(replace(row, signature=PREFIX + p) for p in below[-1:])
    return settled


def _is_hard(row: Friction) -> bool:
    return row.values("hard") == ("1",)


def highest_missing(history: History, project: str, path: str, until_ms: int = EVER) -> str:
    """The highest of the path and its folders that is gone; "" where the path itself is mostly found.

    A folder above the path takes more: that it was said to be missing itself, or that of two different things below it
    none was ever found.
    """
    if not history.gone(project, path, until_ms):
        return ""
    top = path
    for place in list(ancestors(path))[1:]:
        if not history.gone(project, place, until_ms):
            break
        wider = history.missed(project, place, until_ms) > history.missed(project, top, until_ms)
        never = not history.found(project, place, until_ms)
        if history.said_missing(project, place, until_ms) or (wider and never):
            top = place
    return top


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    """`FileIs` where one other path stands in for it, by an action that worked; else `DoNotLookUnder`."""
    hard = [m for m in members if _is_hard(m)]
    path = members[0].signature.removeprefix(PREFIX)
    if not hard:
        return NOTHING
    paths = {p for m in hard for p in m.values("path")}
    others = history.other_endings(project, path, until_ms)
    instead = widest(hard, "instead") or (others[0] if len(others) == 1 else "")
    if instead and paths == {path}:
        return Phrased(f"{code(path)} is looked for; the file is {code(instead)}", FileIs(instead, path))
    if not history.gone(project, path, until_ms):
        return NOTHING
    again = " and is looked for again" if len({m.session for m in members}) > 1 else ""
    return Phrased(f"{code(path)} does not exist{again}", DoNotLookUnder(path))
