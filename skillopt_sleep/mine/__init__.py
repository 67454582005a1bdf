"""The miner: what recurs in a person's sessions and what it costs.

Pure functions over data: no store, no clock, no model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Pattern
from skillopt_sleep.mine import frictions
from skillopt_sleep.mine.episodes import episodes_of
from skillopt_sleep.mine.history import EVER, History
from skillopt_sleep.mine.patterns import Scale, friction_patterns, ranked, request_patterns, up_to
from skillopt_sleep.mine.projects import one_codebase
from skillopt_sleep.mine.requests import groups_of
from skillopt_sleep.mine.trace import Trace, traces_of

_NOT_RARE = frozenset({FrictionKind.CORRECTION, FrictionKind.CONTENT})
"""Corrections are listed apart; content that one session wrote and rewrote is nothing but work."""
VERSION = 1
"""Of the signatures: patterns are compared over nights only within one."""


@dataclass(frozen=True, slots=True)
class Mined:
    """All that was found, each part ranked by what is at stake.

    `patterns` were seen in at least two sessions, corrections among them; `rare` in one; `corrections` are all that a
    person said should be otherwise, also once; `requests` came in at least two sessions. A pattern of two sessions may
    still be `too_rare` to test.
    """

    episodes: tuple[Episode, ...]
    frictions: tuple[Friction, ...]
    patterns: tuple[Pattern, ...]
    rare: tuple[Pattern, ...]
    requests: tuple[Pattern, ...]
    corrections: tuple[Pattern, ...]
    history: History = field(repr=False, compare=False)

    def before(self, pattern: Pattern, until_ms: int) -> Pattern | None:
        """The pattern with the words and the rule that the days before `until_ms` give, or None (see `up_to`)."""
        return up_to(pattern, self.history, until_ms)


def mine(episodes: Iterable[Episode], until_ms: int = EVER) -> Mined:
    """Find what recurs in the episodes that began before `until_ms`, whatever the order in which they are given.

    Clones and worktrees of one code base count as one project, named after the one seen first; the episodes that are
    handed back bear that name.
    """
    taken = _in_codebases([e for e in episodes if e.began_ms < until_ms])
    traces = traces_of(taken)
    history = History(traces)
    found: list[Friction] = []
    patterns: list[Pattern] = []
    requests: list[Pattern] = []
    scale = Scale.of(taken)
    for project, own in sorted(_by_project(traces).items()):
        rows = frictions.settle([row for trace in own for row in frictions.find(trace)], history, project)
        found.extend(rows)
        patterns.extend(friction_patterns(rows, history, project, scale))
        requests.extend(request_patterns(groups_of([e for trace in own for e in trace.episodes]), project, scale))
    return Mined(
        episodes=taken,
        frictions=tuple(sorted(found, key=lambda f: (f.at_ms, f.session, f.kind, f.signature, f.failing or 0))),
        patterns=ranked(p for p in patterns if len(p.sessions) >= 2),
        rare=ranked(p for p in patterns if len(p.sessions) < 2 and p.friction not in _NOT_RARE),
        requests=ranked(requests),
        corrections=ranked(p for p in patterns if p.kind == "correction"),
        history=history,
    )


def _in_codebases(episodes: Sequence[Episode]) -> tuple[Episode, ...]:
    names = one_codebase(episodes)
    renamed = (e if names[e.project] == e.project else replace(e, project=names[e.project]) for e in episodes)
    return tuple(sorted(renamed, key=lambda e: (e.began_ms, e.session, e.prompt_event)))


def _by_project(traces: Sequence[Trace]) -> dict[str, list[Trace]]:
    groups: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        groups[trace.project].append(trace)
    return groups


__all__ = ["EVER", "VERSION", "Mined", "episodes_of", "mine"]
