"""What the miner finds in an attempt: whether the friction of its task came back."""

from __future__ import annotations

from typing import Final

from skillopt_core.types import Missing
from skillopt_sleep.domain.frictions import FrictionKind
from skillopt_sleep.domain.sessions import StoredSession
from skillopt_sleep.mine import frictions
from skillopt_sleep.mine.episodes import episodes_of
from skillopt_sleep.mine.frictions.refusals import what
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.trace import Trace, traces_of

NOBODY: Final = {
    FrictionKind.CORRECTION: "nobody is there who could correct an attempt",
    FrictionKind.INTERRUPT: "nobody is there who could stop an attempt",
}
"""Kinds that no attempt can show, and why."""


def cannot_show(friction: str) -> str:
    """Why no attempt could show this friction (`kind:signature`), "" where one could."""
    kind = friction.partition(":")[0]
    return NOBODY.get(FrictionKind(kind), "") if kind in set(FrictionKind) else f"{kind} is no kind of friction"


def came_back(friction: str, session: StoredSession, history: History, root: str) -> bool | Missing:
    """Whether the friction (`kind:signature`) is in the session of an attempt that worked in the folder `root`.

    It is mined like any other session of its project, whose `history` gives frictions their names. Nobody refuses
    anything there: what a person had refused comes back where it is done, or tried, at all.
    """
    if why := cannot_show(friction):
        return Missing(why)
    kind, _, signature = friction.partition(":")
    traces = traces_of(episodes_of(session, root))
    if kind == FrictionKind.REFUSAL:
        return any(signature.partition(":")[2] in _done(trace) for trace in traces)
    found = [row for trace in traces for row in frictions.find(trace)]
    settled = frictions.settle(found, history, session.project)
    return any((row.kind, row.signature) == (kind, signature) for row in settled)


def _done(trace: Trace) -> set[str]:
    return {name for step in trace.steps for name in what(step)}
