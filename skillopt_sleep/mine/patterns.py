"""Frictions and requests that come back: patterns with their stake, their words and the rule that they suggest."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from skillopt_sleep.critics import grammar
from skillopt_sleep.domain.episodes import ActionOutcome, Episode
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Pattern, Quote, Stake
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.mine import frictions
from skillopt_sleep.mine.frictions import refusals
from skillopt_sleep.mine.history import EVER, History
from skillopt_sleep.mine.phrased import Phrased
from skillopt_sleep.mine.requests import Group
from skillopt_sleep.mine.trace import said_by_person
from skillopt_sleep.mine.wording import clipped

_DAY_MS: Final = 86_400_000
_QUOTES: Final = 6
_REASONS: Final = 12
_WISHES: Final = frozenset({FrictionKind.REFUSAL, FrictionKind.CORRECTION, FrictionKind.INTERRUPT})
"""Kinds that tell what a person wants."""
_MOSTLY: Final = 0.75
"""The share of its members that must have healed themselves before a pattern counts as self-healing."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What stakes are measured against: all output tokens of the agents, and the weeks that the sessions span."""

    tokens: int
    weeks: float

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Scale:
        times = [e.began_ms for e in episodes]
        span = (max(times) - min(times)) / (7 * _DAY_MS) if times else 0.0
        return cls(sum(e.tokens for e in episodes), max(1.0, span))

    def stake(self, actions: int, tokens: int, sessions: int) -> Stake:
        return Stake(actions, tokens / self.tokens if self.tokens else 0.0, sessions / self.weeks)


def end_of_day(ms: int) -> int:
    """The first moment after the UTC day of `ms`."""
    day = datetime.fromtimestamp(ms / 1000, UTC).date() + timedelta(days=1)
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def cut_of_times(first_seen: Mapping[str, int]) -> int | None:
    """The end (UTC) of the day on which the second of these sessions is seen; None where there is only one."""
    times = sorted(first_seen.values())
    return end_of_day(times[1]) if len(times) >= 2 else None


def key_of(project: str, kind: str, signature: str) -> str:
    """The identity of a pattern over nights: 24 hex digits of project, kind and signature."""
    text = "\0".join((project, kind, signature))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def first_seen(members: Iterable[Friction]) -> dict[str, int]:
    """When each session first showed it."""
    seen: dict[str, int] = {}
    for member in members:
        seen[member.session] = min(member.at_ms, seen.get(member.session, member.at_ms))
    return seen


def friction_patterns(rows: Sequence[Friction], history: History, project: str, scale: Scale) -> list[Pattern]:
    """A pattern a signature, also where only one session shows it; groups that nobody would name are left out."""
    groups: dict[tuple[FrictionKind, str], list[Friction]] = defaultdict(list)
    for row in rows:
        groups[row.kind, row.signature].append(row)
    found = (_pattern(members, history, project, scale) for _, members in sorted(groups.items()))
    return [pattern for pattern in found if pattern is not None]


def _pattern(
    members: Sequence[Friction], history: History, project: str, scale: Scale, until_ms: int = EVER
) -> Pattern | None:
    members = sorted(members, key=lambda m: (m.at_ms, m.session, m.failing or 0))
    phrased = frictions.phrase(members, history, project, until_ms)
    return _of_members(members, phrased, project, scale) if phrased.worth else None


def _of_members(members: Sequence[Friction], phrased: Phrased, project: str, scale: Scale) -> Pattern:
    kind, signature = members[0].kind, members[0].signature
    seen = first_seen(members)
    cut = cut_of_times(seen)
    people = {m.person for m in members}
    stake = scale.stake(sum(m.wasted for m in members), sum(m.tokens for m in members), len(seen))
    return Pattern(
        key=key_of(project, kind, signature),
        project=project,
        kind="correction" if kind is FrictionKind.CORRECTION else "friction",
        friction=kind,
        title=phrased.title,
        signature=signature,
        members=tuple(members),
        episodes=tuple(dict.fromkeys(m.episode for m in members)),
        sessions=tuple(sorted(seen, key=lambda s: (seen[s], s))),
        first_ms=members[0].at_ms,
        last_ms=members[-1].at_ms,
        stake=stake,
        sentence=phrasable(phrased.sentence),
        document=phrased.document,
        person=people.pop() if len(people) == 1 and kind in _WISHES else "",
        reasons=refusals.reasons(members)[:_REASONS] if kind in _WISHES else (),
        quotes=_quotes(members),
        self_healing=sum(m.self_healing for m in members) >= _MOSTLY * len(members),
        cut_ms=cut,
        after=sum(at >= cut for at in seen.values()) if cut is not None else 0,
    )


def phrasable(sentence: Sentence | None) -> Sentence | None:
    """The sentence, if it can stand in a skill and be read back; identifiers from transcripts may hold anything."""
    if sentence is None:
        return None
    try:
        grammar.render(sentence)
    except grammar.Unphrasable:
        return None
    return sentence


def _quotes(members: Sequence[Friction]) -> tuple[Quote, ...]:
    """A few quotes that show most: those of the newest session first, the person's words before the others."""
    newest = sorted(members, key=lambda m: -m.at_ms)
    rows = {(q.author, q.text): q for m in reversed(newest) for q in m.quotes}  # of equal texts the newest stays
    order = {"person": 0, "agent": 1, "tool": 2, "harness": 3}
    ranked = sorted(rows.values(), key=lambda q: (order[q.author], -(q.at_ms or 0), -q.event))
    return tuple(ranked[:_QUOTES])


def request_patterns(groups: Sequence[Group], project: str, scale: Scale) -> list[Pattern]:
    """Kinds of request that came in at least two sessions. Their stake is what went wrong while they were worked on."""
    wide = (g.episodes for g in groups if len({e.session for e in g.episodes}) >= 2)
    return [_request(episodes, project, scale) for episodes in wide]


def _request(episodes: Sequence[Episode], project: str, scale: Scale) -> Pattern:
    leader = episodes[0]
    title = f"Asked again: “{clipped(leader.prompt, 90)}”"
    return request_pattern(episodes, project, scale, leader.twin or leader.id, title)


def request_pattern(episodes: Sequence[Episode], project: str, scale: Scale, signature: str, title: str) -> Pattern:
    """A kind of request by its episodes in order of time. Its stake is what went wrong while they were worked on."""
    leader = episodes[0]
    seen: dict[str, int] = {}
    for episode in episodes:
        seen.setdefault(episode.session, episode.began_ms)
    cut = cut_of_times(seen)
    wasted = [a for e in episodes for a in e.actions if a.outcome not in {ActionOutcome.OK, ActionOutcome.OPEN}]
    return Pattern(
        key=key_of(project, "request", signature),
        project=project,
        kind="request",
        friction=None,
        title=title,
        signature=signature,
        members=(),
        episodes=tuple(e.id for e in episodes),
        sessions=tuple(seen),
        first_ms=leader.began_ms,
        last_ms=episodes[-1].began_ms,
        stake=scale.stake(len(wasted), sum(a.tokens for a in wasted), len(seen)),
        quotes=tuple(said_by_person(e.prompt_event, e.session, e.began_ms, e.prompt) for e in episodes[:3]),
        cut_ms=cut,
        after=sum(at >= cut for at in seen.values()) if cut is not None else 0,
    )


def ranked(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """By what is at stake, self-healing ones last."""
    return tuple(sorted(patterns, key=_rank))


def _rank(pattern: Pattern) -> tuple[bool, float, int, int, str]:
    stake = pattern.stake
    return pattern.self_healing, -stake.output_share, -stake.actions, -len(pattern.sessions), pattern.key


def up_to(pattern: Pattern, history: History, until_ms: int) -> Pattern | None:
    """The friction pattern as it could be phrased from what began before `until_ms`.

    None where fewer than two of its sessions, or nothing worth naming, lie before. Its members, words and rule are
    those of the earlier days; stake, key and cut stay.
    """
    earlier = [m for m in pattern.members if m.at_ms < until_ms]
    if len({m.session for m in earlier}) < 2:
        return None
    phrased = frictions.phrase(earlier, history, pattern.project, until_ms)
    if not phrased.worth:
        return None
    before = _of_members(earlier, phrased, pattern.project, Scale(0, 1.0))
    return replace(
        before, stake=pattern.stake, cut_ms=pattern.cut_ms, after=pattern.after, self_healing=pattern.self_healing
    )
