"""Rules about paths and about the state of a file, followed over a project's history."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from skillopt_sleep.agents.recorded import deciding
from skillopt_sleep.agents.recorded.effects import Effect, Occurrence
from skillopt_sleep.agents.recorded.history import Moment, Project, ancestors, looked, normal
from skillopt_sleep.agents.recorded.outcomes import UNSEEN, Outcomes, Seen
from skillopt_sleep.agents.recorded.parts import Part, Standing
from skillopt_sleep.domain.commands import paths as paths_in
from skillopt_sleep.domain.episodes import ActionKind, ActionOutcome
from skillopt_sleep.domain.sentences import DoNotLookUnder, FileIs, ReadBeforeEdit

_NEAR: Final = 8
"""Actions within which another path counts as the remedy (architecture.md)."""
_READING: Final = frozenset({ActionKind.READ, ActionKind.EDIT, ActionKind.WRITE})


def do_not_look_under(project: Project, rule: DoNotLookUnder) -> Iterator[Occurrence]:
    """A look that is left out: prevented where it failed or found nothing, broken where it worked."""
    folder = normal(rule.p)
    for moment in project.by_look.get(folder, ()):
        part = next((part for part in moment.parts if _looks_under(part, folder)), None)
        yield deciding.left_out(moment, deciding.fared(moment, part) if part else moment.standing)


def _looks_under(part: Part, folder: str) -> bool:
    return any(folder in ancestors(path) for path in looked(part))


def file_is(project: Project, rule: FileIs) -> Iterator[Occurrence]:
    """Another path in the same action. Asked is what is seen of actions that name that path (see `path_outcomes`)."""
    seen = path_outcomes(project, rule.p, rule.q)
    for moment in project.by_path.get(normal(rule.q), ()):
        if normal(rule.p) not in moment.paths:
            yield deciding.altered(moment, _by_path(moment, normal(rule.q)), seen(moment), rule.p)


def path_outcomes(project: Project, p: str, q: str) -> Callable[[Moment], Seen]:
    """What is seen of `p` in place of `q`.

    That one path exists says nothing of the other, unless both are one name in another folder or with another ending,
    or some other session went on with `p` within eight actions after `q` had failed. Else it is unknown.
    """
    right, wrong = normal(p), normal(q)
    known = Outcomes((moment, _by_path(moment, right)) for moment in project.by_path.get(right, ()))
    replaced = Outcomes((moment, _by_path(moment, wrong)) for moment in project.by_path.get(wrong, ()))
    resolved = set() if _one_name(right, wrong) else set(_resolved(project, right, wrong))

    def seen(moment: Moment) -> Seen:
        comparable = _one_name(right, wrong) or bool(resolved - {moment.session})
        return known.against(moment, replaced) if comparable else UNSEEN

    return seen


def _one_name(p: str, q: str) -> bool:
    stems = [posixpath.basename(path).lstrip(".").partition(".")[0].casefold() for path in (p, q)]
    return stems[0] == stems[1] != ""


def _resolved(project: Project, right: str, wrong: str) -> Iterator[int]:
    for moment in project.by_path.get(wrong, ()):
        following = project.sessions[moment.session][moment.at + 1 : moment.at + 1 + _NEAR]
        worked = any(right in m.paths and m.standing is Standing.WORKED for m in following)
        if worked and _by_path(moment, wrong) is Standing.WASTED:
            yield moment.session


def _by_path(moment: Moment, path: str) -> Standing:
    """How an action fared as far as this path goes: the failure of another part of a command says nothing of it."""
    if moment.standing is not Standing.WASTED or len(moment.parts) < 2:
        return moment.standing
    naming = [part for part in moment.parts if any(normal(p) == path for p in paths_in(part.simple.words))]
    if any(part.standing is Standing.WASTED for part in naming) or path in moment.action.output:
        return Standing.WASTED
    return Standing.NEITHER


def read_before_edit(project: Project, _: ReadBeforeEdit) -> Iterator[Occurrence]:
    """An edit of a file that the session knows from nothing earlier. What is asked: how edits of known files fare.

    Known is what was read, edited or written with success since the session began or was last compacted.
    """
    known = {(m.session, m.at) for session in project.sessions for m in _of_known_files(project, session)}
    after = Outcomes((m, m.standing) for m in project.edits if (m.session, m.at) in known)
    unread = [m for m in project.edits if (m.session, m.at) not in known and m.standing is not Standing.NEITHER]
    before = Outcomes((m, m.standing) for m in unread)
    for moment in unread:
        if moment.action.outcome is ActionOutcome.OK:  # one that is mended later would not have been by a read
            yield Occurrence(moment.action, moment.order, Effect.NEUTRAL, "a read first", actions=-1)
        else:
            yield deciding.altered(moment, moment.standing, after.against(moment, before), "a read first")


def _of_known_files(project: Project, session: Sequence[Moment]) -> Iterator[Moment]:
    files: set[str] = set()
    compacted = sorted({seq for m in session for seq in project.episodes[m.episode].compacted})
    for moment in session:
        while compacted and compacted[0] <= moment.action.seq:
            compacted.pop(0)
            files.clear()
        if moment.action.kind is ActionKind.EDIT and moment.path in files:
            yield moment
        if moment.action.outcome is ActionOutcome.OK:
            files.update(moment.paths if moment.action.kind in _READING else moment.looks)
