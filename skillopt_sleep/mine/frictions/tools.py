"""Failing calls with state: edits of files not read since they last changed, and errors that have the same shape.

What only failed because a sibling failed is set aside. An error that names its own remedy and is mended by the next
action is marked: it is worth at most one action and is shown last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt_sleep.domain.episodes import ActionKind, ActionOutcome
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import ReadBeforeEdit
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.trace import CHANGES, Step, Trace, friction, quote
from skillopt_sleep.mine.wording import UNREAD, code, first_line, shape

UNREAD_EDIT = "edit:unread"
_FAILED = frozenset({ActionOutcome.ERROR, ActionOutcome.CASCADE})
_ACTS = {
    ActionKind.EDIT: "An edit",
    ActionKind.WRITE: "A write",
    ActionKind.READ: "A read",
    ActionKind.SEARCH: "A search",
    ActionKind.LIST: "A listing",
}


def find(trace: Trace, taken: set[int]) -> Iterator[Friction]:
    """Errors that no other finder has explained. `taken` holds the places of those."""
    state = _ReadState(trace)
    for step in trace.steps:
        state.reach(step)
        if step.failed and step.at not in taken and not step.findings and not _mended_check(trace, step):
            yield _of_error(trace, step, state)
        state.take(step)


class _ReadState:
    """Which files the agent knows: read or written since they last changed and since the last compaction."""

    def __init__(self, trace: Trace) -> None:
        self.known: set[str] = set()
        self.compacted = sorted(seq for e in trace.episodes for seq in e.compacted)

    def reach(self, step: Step) -> None:
        """Forget what was compacted away before this step."""
        while self.compacted and self.compacted[0] < step.action.seq:
            self.compacted.pop(0)
            self.known.clear()

    def take(self, step: Step) -> None:
        if step.ok and (step.action.kind is ActionKind.READ or step.action.kind in CHANGES):
            self.known.update(step.action.paths)

    def knows(self, step: Step) -> bool:
        return bool(self.known.intersection(step.action.paths))


def _of_error(trace: Trace, step: Step, state: _ReadState) -> Friction:
    action = step.action
    line = first_line(action.output)
    later = next((s for s in trace.near(step) if s.ok and _same_object(s, step)), None)
    if action.kind in CHANGES and (UNREAD.search(line) or not state.knows(step)):
        signature = UNREAD_EDIT
    elif action.kind is ActionKind.COMMAND:
        signature = f"{' '.join(step.heads[-1]) if step.heads else action.tool}:{shape(line)}"
    else:
        signature = f"{action.kind.value if action.kind in _ACTS else action.tool}:{shape(line)}"
    following = [s for s in trace.near(step) if s.action.outcome not in _FAILED][:1]
    return friction(
        step,
        FrictionKind.TOOL,
        signature,
        resolving=later,
        quotes=[quote(step, "agent"), quote(step, "tool")],
        features=[("path", p) for p in action.paths[:1]],
        self_healing=bool(following) and _mends(following[0], step),
    )


def _mends(following: Step, step: Step) -> bool:
    """Whether the next action that did not fail too is the remedy: the file is read, or the same thing works."""
    if step.action.kind in CHANGES and following.action.kind is ActionKind.READ:
        return bool(set(following.action.paths) & set(step.action.paths))
    return _same_object(following, step)


def _same_object(later: Step, step: Step) -> bool:
    if step.action.kind is ActionKind.COMMAND:
        return bool(set(later.heads) & set(step.heads))
    if later.action.kind is not step.action.kind:
        return False
    if step.action.kind is ActionKind.OTHER:
        return later.action.tool == step.action.tool
    return bool(set(later.action.paths) & set(step.action.paths))


def _mended_check(trace: Trace, step: Step) -> bool:
    """A command that failed and was followed by an edit before it ran again did its work."""
    if step.action.kind is not ActionKind.COMMAND:
        return False
    for later in trace.near(step):
        if later.action.kind in CHANGES and later.ok:
            return True
        if set(later.heads) & set(step.heads):
            return False
    return False


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    signature = members[0].signature
    if signature == UNREAD_EDIT:
        return Phrased("Files are edited before they are read", ReadBeforeEdit())
    subject, _, words = signature.partition(":")
    named = {kind.value: act for kind, act in _ACTS.items()}.get(subject, code(subject))
    return Phrased(f"{named} fails: {code(words)}" if words else f"{named} fails")
