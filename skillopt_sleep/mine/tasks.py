"""Tasks: occurrences of patterns with how they are judged, and the two ways to split them (gate.md)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from skillopt_core.gate import Recurrence
from skillopt_sleep.domain.episodes import Episode
from skillopt_sleep.domain.frictions import Friction, FrictionKind, Pattern
from skillopt_sleep.domain.tasks import FREE_OF, SUCCEEDS, KeptTask, Split, TaskCheck
from skillopt_sleep.mine.phrased import widest
from skillopt_sleep.mine.trace import day_of

SHARES: Final[Mapping[Split, float]] = {"train": 0.5, "gate": 0.3, "audit": 0.2}
"""How twin groups are shared out by the hash, over many of them, where nothing else is said."""
By = Literal["session", "pattern"]
"""What is never on two sides: a session with its twins, or with them all that is of one pattern."""
WISHES: Final = frozenset({FrictionKind.REFUSAL, FrictionKind.CORRECTION, FrictionKind.INTERRUPT})
"""Kinds in which a person says what they want."""


def unit_of(pattern: str, began_ms: int, person: str) -> str:
    """The unit of recorded evidence: sessions of one day (UTC), person and pattern are joined (gate.md, recorded)."""
    return f"{day_of(began_ms)} {person} {pattern}"


def cut_of(pattern: Pattern) -> int | None:
    """The end (UTC) of the day on which a second of its sessions is seen; None where there is only one."""
    return pattern.cut_ms


def tasks_of(
    patterns: Iterable[Pattern],
    episodes: Sequence[Episode],
    salt: str,
    known: Mapping[str, Split] | None = None,
    shares: Mapping[Split, float] = SHARES,
    by: By = "session",
) -> tuple[KeptTask, ...]:
    """One task an episode of a pattern. Splits are by hash, disjoint by session and twin group.

    `known` holds the splits of tasks that were split before (by task id): they are fixed for good, and what turns out
    to be a twin of one goes where it is.
    """
    by_id = {e.id: e for e in episodes}
    pairs = [(p, by_id[name]) for p in patterns for name in dict.fromkeys(p.episodes) if name in by_id]
    groups = twin_groups([e for _, e in pairs], [(e.id, p.key) for p, e in pairs] if by == "pattern" else ())
    fixed = {groups[e.id]: known[task_id(p, e)] for p, e in reversed(pairs) if known and task_id(p, e) in known}
    sides = {group: fixed.get(group) or split_of(group, salt, shares) for group in groups.values()}
    tasks = [_task(p, e, groups[e.id], sides[groups[e.id]], salt) for p, e in pairs]
    return tuple(sorted(tasks, key=lambda t: (t.began_ms, t.id)))


def sides_of(
    episodes: Sequence[Episode],
    others: Sequence[tuple[Episode, Split]],
    salt: str,
    shares: Mapping[Split, float] = SHARES,
    ties: Iterable[tuple[str, str]] = (),
) -> dict[str, tuple[str, Split]]:
    """Twin group and split of each episode by its id. `others` were split before: their twins go where they are.

    What else was said in a session ("commit it and push") makes no twins of two: of the others' prompts only those
    count that are the same as one of these. `ties` are as in `twin_groups`.
    """
    own = {episode.twin for episode in episodes}
    beside = [replace(one, twin=one.twin if one.twin in own else "") for one, _ in others]
    groups = twin_groups([*episodes, *beside], ties)
    fixed = {groups[one.id]: split for one, split in reversed(others)}
    sides = {group: fixed.get(group) or split_of(group, salt, shares) for group in groups.values()}
    return {episode.id: (groups[episode.id], sides[groups[episode.id]]) for episode in episodes}


def task_id(pattern: Pattern, episode: Episode) -> str:
    """Stable over nights: 16 hex digits of the pattern's key and the episode's id."""
    return _digest(f"{pattern.key}\0{episode.id}", 8)


def split_of(group: str, salt: str, shares: Mapping[Split, float] = SHARES) -> Split:
    """Where a twin group goes, by a salted hash of its name."""
    place = int(_digest(f"{salt}\0{group}", 8), 16) / 2**64
    if place < shares["train"]:
        return "train"
    return "gate" if place < shares["train"] + shares["gate"] else "audit"


def twin_groups(episodes: Sequence[Episode], ties: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """The twin group of each episode by its id: one session, its resumes and forks, one prompt after normalisation.

    `ties` name what else belongs together: pairs of an episode's id and a name that it shares with others. A group is
    named after the first family in it, so that the order of the episodes does not matter.
    """
    parents: dict[str, str] = {}

    def top(name: str) -> str:
        while parents.setdefault(name, name) != name:
            parents[name] = parents[parents[name]]
            name = parents[name]
        return name

    shared: dict[str, list[str]] = defaultdict(list)
    for name, tie in ties:
        shared[name].append(f"tie:{tie}")
    for episode in episodes:
        family = episode.family or episode.session
        twin = f"twin:{episode.project}:{episode.twin}" if episode.twin else ""
        for tie in filter(None, (twin, f"session:{episode.session}", *shared[episode.id])):
            a, b = top(f"family:{family}"), top(tie)
            if a != b:
                parents[max(a, b)] = min(a, b)
    return {e.id: top(f"family:{e.family or e.session}") for e in episodes}


def by_time(tasks: Iterable[KeptTask], cut_ms: int) -> tuple[tuple[KeptTask, ...], tuple[KeptTask, ...]]:
    """What began before the cut is train, what began after it is gate, whatever the hash."""
    ordered = sorted(tasks, key=lambda t: (t.began_ms, t.id))
    return tuple(t for t in ordered if t.began_ms < cut_ms), tuple(t for t in ordered if t.began_ms >= cut_ms)


def shown_by(pattern: Pattern) -> dict[str, str]:
    """The episodes that show a pattern, with a sentence about it each: what a critic may read of the check."""
    return dict.fromkeys(pattern.episodes, pattern.title)


def recurrence(pattern: Pattern, later_sessions: Collection[str], frictions: Iterable[Friction]) -> Recurrence | None:
    """In how many of the later sessions the friction came back, and how often a random one of its kind does.

    `frictions` are all of the project. None where there is no cut, no later session or no other signature.
    """
    if pattern.cut_ms is None or not later_sessions or pattern.friction is None:
        return None
    later = set(later_sessions)
    own = [row for row in frictions if row.kind is pattern.friction and row.project == pattern.project]
    rate = _background(own, pattern.signature, later, pattern.cut_ms)
    back = {row.session for row in own if row.signature == pattern.signature} & later
    return None if rate is None else Recurrence(len(back), len(later), rate)


def recurrence_of_kind(
    pattern: Pattern, came_back: Collection[str], later: Iterable[Episode], frictions: Iterable[Friction]
) -> Recurrence | None:
    """As `recurrence`, for a kind of wish: it came back in the sessions in which its predicate prevents something.

    Words hardly ever repeat, so their background would be next to nothing: compared is with whatever comes back most
    often of what persons refuse, stop and correct.
    """
    sessions = {episode.session for episode in later}
    if pattern.cut_ms is None or not sessions:
        return None
    own = [row for row in frictions if row.kind in WISHES and row.project == pattern.project]
    kinds = sorted({row.kind for row in own})
    found = (_background([row for row in own if row.kind is k], "", sessions, pattern.cut_ms) for k in kinds)
    rates = [rate for rate in found if rate is not None]
    return Recurrence(len(sessions & set(came_back)), len(sessions), max(rates)) if rates else None


def _background(rows: Iterable[Friction], except_for: str, later: Collection[str], cut_ms: int) -> float | None:
    """How often a signature that was seen before the cut comes back in a later session.

    The share of (signature, later session) pairs in which one did, with half an occurrence added so that it is never
    zero (Krichevsky and Trofimov). None where no other signature was seen.
    """
    before: set[str] = set()
    back: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.session in later:
            back[row.signature].add(row.session)
        elif row.at_ms < cut_ms:
            before.add(row.signature)
    others = before - {except_for}
    if not others:
        return None
    returned = sum(len(back[signature]) for signature in others)
    return (returned + 0.5) / (len(others) * len(later) + 1)


def _task(pattern: Pattern, episode: Episode, group: str, split: Split, salt: str) -> KeptTask:
    return KeptTask(
        id=task_id(pattern, episode),
        prompt=episode.prompt,
        twin=group,
        split=split,
        began_ms=episode.began_ms,
        pattern=pattern.key,
        episode=episode.id,
        session=episode.session,
        salt=salt,
        commit=episode.start_commit,
        checks=_checks(pattern, episode),
    )


def _checks(pattern: Pattern, episode: Episode) -> tuple[TaskCheck, ...]:
    """That the friction does not come back; for what a check had found, that the check passes as well."""
    members = [m for m in pattern.members if m.episode == episode.id]
    if not members:
        return ()
    first = members[0]
    checks = [TaskCheck(FREE_OF, f"{first.kind}:{first.signature}", first.kind, first.failing)]
    if first.kind is FrictionKind.DIAGNOSTIC and (check := widest(members, "alone")):
        checks.append(TaskCheck(SUCCEEDS, check, first.kind, first.failing))
    return tuple(checks)


def _digest(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
