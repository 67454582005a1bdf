"""What the agent writes and then takes out again: names that a later edit of the same session replaces.

Breaking a rule about content gives no tool error (architecture.md, where the value lies); what shows it is that the
line does not stay. Lines that a check had named are the diagnostics' and are left out here: one rule a fact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from skillopt_sleep.domain.frictions import Friction, FrictionKind, Quote
from skillopt_sleep.domain.sentences import DoNotWrite
from skillopt_sleep.mine.fragments import line_pairs, replaced, telling
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import NOTHING, Phrased, widest
from skillopt_sleep.mine.trace import CHANGES, Step, Trace, friction, quote, said_by_person, same_file
from skillopt_sleep.mine.wording import code, ending

_MOST_LINES: Final = 4000
_MOST_PAIRS: Final = 40
_LONGEST: Final = 60
_PRECISE: Final = 0.5
"""The share of the writes that add a name which must have lost it again."""


def find(trace: Trace) -> Iterator[Friction]:
    own: dict[str, dict[str, Step]] = defaultdict(dict)  # path to line to the write that brought it
    named: list[tuple[int, str]] = []  # places of checks, and the files that they named
    for step in trace.steps:
        named.extend((step.at, path) for path in {f.path for f in step.findings})
        if step.action.kind not in CHANGES or not step.ok or not step.action.paths:
            continue
        path = step.action.paths[0]
        checked = max((at for at, other in named if same_file(path, other)), default=-1)
        yield from _rewritten(trace, step, own[path], checked)
        _remember(own[path], step)


def _remember(lines: dict[str, Step], step: Step) -> None:
    had = {line.strip() for line in step.action.old.split("\n", 1000)}
    for line in step.action.new.split("\n", 1000)[:1000]:
        plain = line.strip()
        if plain and plain not in had and len(lines) < _MOST_LINES:
            lines[plain] = step


def _rewritten(trace: Trace, step: Step, own: dict[str, Step], checked: int) -> Iterator[Friction]:
    """One friction a name that this edit takes out of a line that the agent itself had written."""
    kind = ending(step.action.paths[0])
    seen: set[tuple[str, str]] = set()
    for gone, come in line_pairs(step.action.old, step.action.new)[:_MOST_PAIRS]:
        before = own.get(gone)
        if before is None or not come or before.at <= checked <= step.at:
            continue
        old, new = replaced(gone, come)
        if (old, new) in seen or not (telling(old) and new and max(len(old), len(new)) <= _LONGEST) or old in new:
            continue
        seen.add((old, new))
        yield friction(
            before,
            FrictionKind.CONTENT,
            f"{kind}:{old}",
            resolving=step,
            wasted=1,
            tokens=step.action.tokens,
            quotes=[quote(before, "agent"), *_words_between(trace, before, step)],
            features=[("ending", kind), ("old", old), ("new", new), ("write", str(before.action.id))],
        )


def _words_between(trace: Trace, before: Step, step: Step) -> list[Quote]:
    """The request that led to the rewriting, where it came between the two."""
    episode = step.episode
    if before.episode.id == episode.id or not episode.prompt:
        return []
    return [said_by_person(episode.prompt_event, trace.session, episode.began_ms, episode.prompt)]


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    """A rule where most writes that hold the name lost it again; otherwise nothing worth a line."""
    kind, old = members[0].values("ending")[0], members[0].values("old")[0]
    new = widest(members, "new")
    gone = {int(w) for m in members for w in m.values("write")}
    held = gone | {w.action for w in history.holding(project, kind, old, until_ms)}
    if len(gone) < _PRECISE * len(held):
        return NOTHING
    title = f"{code(old)} is written in {code(kind)} files and replaced again by {code(new)}"
    return Phrased(title, DoNotWrite(kind, old, new))
