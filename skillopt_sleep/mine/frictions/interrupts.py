"""Where a person stopped the agent without refusing a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt_sleep.domain.episodes import ActionOutcome, Episode
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Quote
from skillopt_sleep.mine.frictions.refusals import what
from skillopt_sleep.mine.history import History
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.trace import Step, Trace, friction, quote, said_by_person
from skillopt_sleep.mine.wording import code

_STOPS = frozenset({ActionOutcome.REFUSED, ActionOutcome.INTERRUPTED})
"""What the person stopped stands for the whole request; else the last thing that was done."""
_DOING = {
    "run": "running",
    "use": "using",
    "edit": "editing",
    "write": "writing",
    "read": "reading",
    "search": "searching",
    "list": "listing",
}


def find(trace: Trace) -> Iterator[Friction]:
    stopped: dict[str, Step] = {}
    for step in trace.steps:
        known = stopped.get(step.episode.id)
        if known is None or known.action.outcome not in _STOPS:
            stopped[step.episode.id] = step
    for episode in trace.episodes:
        last = stopped.get(episode.id)
        if episode.interrupted and last and last.action.outcome is not ActionOutcome.REFUSED:
            name = what(last)[-1]
            yield friction(
                last,
                FrictionKind.INTERRUPT,
                f"{episode.person}:{name}",
                quotes=[quote(last, "agent"), *_words(episode)],
                features=[("what", name)],
            )


def _words(episode: Episode) -> list[Quote]:
    if not episode.correction or episode.correction_event is None:
        return []
    return [said_by_person(episode.correction_event, episode.session, None, episode.correction)]


def phrase(members: Sequence[Friction], history: History, project: str, until_ms: int) -> Phrased:
    name = members[0].signature.partition(":")[2]
    verb, _, object_ = name.partition(" ")
    doing = _DOING.get(verb, verb)
    who = f" by {members[0].person}" if members[0].person else ""
    named = f" {code(object_)}{' files' if object_.startswith('.') else ''}" if object_ else ""
    return Phrased(f"Interrupted{who} while {doing}{named}")
