"""What a person refused, and why: the costliest friction (architecture.md, where the value lies).

Refusals are grouped by person and by what was refused: program and sub-command, with a long option behind them where
that was always there; for other tools the file, else its kind, else the tool. Of several names the one that was refused
in most sessions wins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skillopt_sleep.domain import commands
from skillopt_sleep.domain.episodes import ActionKind, ActionOutcome
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import AskBefore
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.trace import Step, Trace, friction, quote, said_by_person
from skillopt_sleep.mine.wording import code, ending

_NOUNS = {
    ActionKind.EDIT: "edit",
    ActionKind.WRITE: "write",
    ActionKind.READ: "read",
    ActionKind.SEARCH: "search",
    ActionKind.LIST: "list",
}


def find(trace: Trace) -> Iterator[Friction]:
    for step in trace.steps:
        if step.action.outcome is ActionOutcome.REFUSED:
            quotes = [quote(step, "agent")]
            if step.action.said and step.action.said_event is not None:
                quotes.append(said_by_person(step.action.said_event, trace.session, None, step.action.said))
            names = what(step)
            features = [("what", name) for name in names]
            yield friction(step, FrictionKind.REFUSAL, names[-1], quotes=quotes, features=features)


def what(step: Step) -> tuple[str, ...]:
    """Names of what the step does, the most exact first: `run git push --force`, `run git push`; `edit .py`, `edit`."""
    action = step.action
    if action.kind is ActionKind.COMMAND:
        return _command_names(step) or (f"run {action.tool}",)
    if action.kind not in _NOUNS:
        return (f"use {action.tool}",)
    verb = _NOUNS[action.kind]
    if action.paths:
        return (f"{verb} {action.paths[0]}", f"{verb} {ending(action.paths[0])}")
    return (verb,)


def _command_names(step: Step) -> tuple[str, ...]:
    """Starts of all working parts, longer ones first; what the last part does comes last, as the plain name."""
    heads = set(step.heads)
    longer: list[str] = []
    for part in step.parts:
        head = commands.head(part.words)
        words = commands.canonical(part.words)[: len(head) + 1]
        if head in heads and words[-1].startswith("--"):
            longer.append(" ".join(words))
    shorter = [" ".join(h) for h in step.heads]
    return tuple(f"run {name}" for name in dict.fromkeys([*longer, *shorter]) if len(name) <= 80 and "\n" not in name)


def settle(found: Sequence[Friction], history: History, project: str) -> list[Friction]:
    """Give each refusal the one of its names that its person refused in most sessions, else its plain one."""
    by_person: dict[str, list[Friction]] = defaultdict(list)
    for row in found:
        by_person[row.person].append(row)
    return [row for person, rows in sorted(by_person.items()) for row in _grouped(person, rows)]


def _grouped(person: str, rows: Iterable[Friction]) -> Iterator[Friction]:
    rows = list(rows)
    sessions: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name in row.values("what"):
            sessions[name].add(row.session)
    for row in rows:
        names = row.values("what")
        shared = [name for name in names if len(sessions[name]) >= 2]
        chosen = max(shared, key=lambda n: (len(sessions[n]), len(n.split()), n)) if shared else names[-1]
        yield replace(row, signature=f"{person}:{chosen}")


_PLURALS = {"edit": "Edits", "write": "Writes", "read": "Reads", "search": "Searches", "list": "Listings"}


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    verb, _, object_ = members[0].signature.partition(":")[2].partition(" ")
    who = f" by {members[0].person}" if members[0].person else ""
    if verb == "run":
        return Phrased(f"{code(object_)} was refused{who}", AskBefore(object_), document="memory")
    if verb == "use":
        return Phrased(f"The tool {code(object_)} was refused{who}", document="memory")
    kind = f" of {code(object_)}{' files' if object_.startswith('.') else ''}" if object_ else ""
    return Phrased(f"{_PLURALS[verb]}{kind} were refused{who}", document="memory")


def reasons(members: Sequence[Friction]) -> tuple[str, ...]:
    """The person's own words, each once, in order of time."""
    ordered = sorted(members, key=lambda m: (m.at_ms, m.failing or 0))
    return tuple(dict.fromkeys(q.text for m in ordered for q in m.quotes if q.author == "person" and q.text))
