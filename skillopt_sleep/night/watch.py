"""What adopted rules did in the person's own later sessions. Observed, not proven: most often too few sessions yet.

A rule was made from sessions that broke it, so those say nothing of the rate before it: compared are the sessions
between its cut and its adoption with those that began after the adoption, like with like. A rule was also adopted
because it was broken in the former; the comparison therefore leans towards "helps", and its alarm errs on the quiet
side. Only days drawn at random would be free of that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from skillopt_core.gate import Observed, observed
from skillopt_core.gate import Session as Compared
from skillopt_core.types import Skill
from skillopt_sleep.critics.grammar import parse, phrase, render
from skillopt_sleep.domain.episodes import ActionKind, Episode
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.domain.reports import Watched
from skillopt_sleep.domain.sentences import Said, Sentence
from skillopt_sleep.domain.world import Replays
from skillopt_sleep.night.plan import rule_id
from skillopt_sleep.replay.practice import task_of
from skillopt_sleep.review.words import percent, rates

ENOUGH: Final = 20
"""Later sessions below which a rate says nothing; to tell .09 from .03 takes 184 a side (gate.md, after adoption)."""

SIZES: Final = ((8, "a few actions"), (40, "dozens of actions"))
"""Most actions of a session of each size; beyond them it is a long one. The longer a session, the more occasions."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """When a rule came into its document, by which adoption, and the cut before which it was made from sessions."""

    adoption: str
    at_ms: int
    cut_ms: int = 0


@dataclass(frozen=True, slots=True)
class _Seen:
    """One session: its name, the kind of its work, and whether the rule was broken in it."""

    session: str
    work: str
    broken: bool

    @property
    def compared(self) -> Compared:
        return Compared(self.work, float(self.broken))


Note = Callable[[str, Mapping[str, bool]], None]
"""Told of a rule in which of the sessions since its adoption it was broken."""


def watched(
    document: Document, live: str, adopted: Mapping[str, Adopted], episodes: Sequence[Episode], agent: Replays,
    note: Note = lambda rule, sessions: None,
) -> list[Watched]:  # fmt: skip
    """For each adopted rule that stands in the live document: how often it was broken, before and after.

    `adopted` are rules by their id; what stands there otherwise, a person wrote.
    """
    standing = {rule_id(document.scope, one): one for one in parse(live) if not isinstance(one, Said)}
    return [
        _watched(document, rule, sentence, adopted[rule], episodes, agent, note)
        for rule, sentence in standing.items()
        if rule in adopted
    ]


def alarms(found: Sequence[Watched]) -> list[str]:
    """What the morning is warned of: rules that are broken more often since they were adopted."""
    return [f"an adopted rule seems to hurt: {one.title} {one.finding}" for one in found if one.says == "hurts"]


def _watched(
    document: Document, rule: str, sentence: Sentence, since: Adopted, episodes: Sequence[Episode], agent: Replays,
    note: Note,
) -> Watched:  # fmt: skip
    before, after = _sides(rule, sentence, since, episodes, agent)
    note(rule, {one.session: one.broken for one in after})
    found = observed([one.compared for one in before], [one.compared for one in after])
    return Watched(
        rule=rule,
        skill=document.name,
        title=phrase(sentence),
        sessions=len(after),
        before=_share(before),
        after=_share(after),
        finding=_finding(found, _share(before), _share(after), len(after), since.adoption),
        adoption=since.adoption,
        observed=found,
    )


def _sides(
    rule: str, sentence: Sentence, since: Adopted, episodes: Sequence[Episode], agent: Replays
) -> tuple[list[_Seen], list[_Seen]]:
    """Sessions before and after the adoption in order of time. One that goes across it belongs to neither."""
    sessions: dict[str, list[int]] = defaultdict(list)
    for n, episode in enumerate(episodes):
        sessions[episode.session].append(n)
    broke = agent.exposed([task_of(episode, rule) for episode in episodes], Skill(render(sentence)))
    sides: tuple[list[_Seen], list[_Seen]] = ([], [])
    for numbers in sorted(sessions.values(), key=lambda some: episodes[some[0]].began_ms):
        began = [episodes[n].began_ms for n in numbers]
        if min(began) >= since.at_ms or (since.cut_ms <= min(began) and max(began) < since.at_ms):
            work = kind_of_work([episodes[n] for n in numbers])
            seen = _Seen(episodes[numbers[0]].session, work, any(broke[n] for n in numbers))
            sides[min(began) >= since.at_ms].append(seen)
    return sides


def kind_of_work(episodes: Sequence[Episode]) -> str:
    """What sessions are told apart by: whose they are, which files were changed most, how long they are."""
    actions = [action for episode in episodes for action in episode.actions]
    endings = Counter(
        PurePosixPath(path).suffix
        for action in actions
        if action.kind in {ActionKind.EDIT, ActionKind.WRITE}
        for path in action.paths
    )
    most = min(endings, key=lambda ending: (-endings[ending], ending)) if endings else "nothing"
    size = next((name for bound, name in SIZES if len(actions) <= bound), "many actions")
    return f"{episodes[0].person}, changes {most}, {size}"


def _share(side: Sequence[_Seen]) -> float | None:
    return sum(one.broken for one in side) / len(side) if side else None


def _finding(found: Observed, before: float | None, after: float | None, sessions: int, adoption: str) -> str:
    known = rates(before, after, sessions)
    if found.says == "hurts":
        evidence = f"reverse E = {found.e_reverse:.3g} over {found.pairs} pairs"
        return f"is {known}: it hurts ({evidence}); `skillopt-sleep rollback {adoption}` takes it back"
    if found.says == "helps":
        return f"{known}: it helps (E = {found.e:.3g} over {found.pairs} pairs)"
    if before is None or sessions < ENOUGH:
        return f"too few sessions yet ({sessions})"
    return f"{known}; {_difference(found)}"


def _difference(found: Observed) -> str:
    """The difference like with like, in points of a hundred: below zero where it is broken less often."""
    if found.effect is None or found.interval is None:
        return "no session before it did work of the same kind"
    low, high = found.interval
    points = f"{percent(-found.effect)} points (95% interval {percent(-high)} to {percent(-low)})"
    return f"like with like {points}, {found.pairs} pairs: too few to tell"
