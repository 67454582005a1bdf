"""From what a model named to kinds that are kept over nights, and to patterns that go the way of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from skillopt_core.asking import Complete
from skillopt_sleep.critics.grammar import phrase, read, subject
from skillopt_sleep.domain import commands
from skillopt_sleep.domain.episodes import ActionKind, Episode
from skillopt_sleep.domain.frictions import Pattern, Quote
from skillopt_sleep.domain.sentences import Sentence
from skillopt_sleep.mine import Mined
from skillopt_sleep.mine.kinds.asking import Asked, Named, same_rules
from skillopt_sleep.mine.kinds.grounds import Left, free_of_harm, rule_of, speaks_of
from skillopt_sleep.mine.kinds.items import Item
from skillopt_sleep.mine.patterns import Scale, key_of
from skillopt_sleep.mine.wording import clipped

PREFIX: Final = "kind:"
"""Of the signature of a pattern that a model found; its rule's identity follows."""
MOST_KEPT: Final = 20
"""New kinds of one night, those in most sessions first."""
_QUOTES: Final = 6
_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of wish, as it was found once and is kept: `rule` is our own sentence or free words (`House rule: …`).

    `events` are the rows of the words that it was made from, `cut_ms` the end of the last day that was shown then,
    `model` who phrased it.
    """

    name: str
    rule: str
    events: tuple[int, ...]
    sessions: tuple[str, ...]
    cut_ms: int
    model: str = ""

    @property
    def sentence(self) -> Sentence | None:
        return next(iter(read(self.rule)), None)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A kind in the making: its sentence, and the items that support it."""

    name: str
    sentence: Sentence
    items: tuple[Item, ...]

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.session for item in sorted(self.items, key=lambda i: (i.at_ms, i.event))))


def kinds_of(
    asked: Asked, complete: Complete, known: Sequence[Kind], programs: frozenset[str], *, cut_ms: int, model: str
) -> tuple[list[Kind], Counter[str]]:
    """The new kinds in what a model named, those in most sessions first, and why the others were left out.

    Kinds of several batches that say the same are joined, by their rule or by the model's own word. What is known
    already is not new: its sentence and its cut stay as they were.
    """
    left: Counter[str] = Counter()
    drafts = _drafts(asked.kinds, programs, left)
    if asked.of > 1:
        drafts = _joined(drafts, same_rules(complete, [phrase(draft.sentence) for draft in drafts], asked))
    taken = {subject(kind.sentence) for kind in known if kind.sentence is not None}
    found: list[Kind] = []
    for draft in sorted(drafts, key=lambda d: (-len(d.sessions), -len(d.items), phrase(d.sentence))):
        if subject(draft.sentence) in taken:
            continue
        if len(draft.sessions) < 2:
            left["it was said in one session alone"] += 1
        else:
            found.append(_kind(draft, cut_ms, model))
    left.update({f"beyond the first {MOST_KEPT}": len(found[MOST_KEPT:])} if found[MOST_KEPT:] else {})
    return found[:MOST_KEPT], left


def programs_of(episodes: Iterable[Episode]) -> frozenset[str]:
    """The programs that agents ran: what a rule names beside them is text that is written."""
    run = (action.command for episode in episodes for action in episode.actions if action.kind is ActionKind.COMMAND)
    return frozenset(part.words[0] for command in dict.fromkeys(run) for part in commands.split(command))


def is_kind(pattern: Pattern) -> bool:
    """Whether a model found it."""
    return pattern.signature.startswith(PREFIX)


def patterns_of(kinds: Iterable[Kind], items: Sequence[Item], found: Mined) -> list[Pattern]:
    """Each kind as a pattern of corrections, made from the words that are still there.

    Left out are kinds of which fewer than two sessions are left: what was forgotten supports nothing.
    """
    by_event = {item.event: item for item in items}
    scale = Scale.of(found.episodes)
    made: dict[str, Pattern] = {}
    for kind in kinds:
        own = [by_event[event] for event in kind.events if event in by_event]
        if kind.sentence is not None and len({item.session for item in own}) >= 2:
            pattern = _pattern(kind, kind.sentence, own, scale)
            made.setdefault(pattern.key, pattern)
    return list(made.values())


def _drafts(named: Iterable[Named], programs: frozenset[str], left: Counter[str]) -> list[_Draft]:
    """One draft a rule, in the order of the answers."""
    drafts: dict[str, _Draft] = {}
    for one in named:
        try:
            sentence, items = rule_of(one.rule, one.items, programs)
        except Left as why:
            left[str(why)] += 1
            continue
        known = drafts.get(subject(sentence))
        if known is None:
            name = "" if free_of_harm(one.name, items) else one.name
            drafts[subject(sentence)] = _Draft(name, sentence, tuple(items))
        else:
            drafts[subject(sentence)] = _united(known, items)
    return list(drafts.values())


def _joined(drafts: Sequence[_Draft], groups: Iterable[Sequence[int]]) -> list[_Draft]:
    """Drafts of one group become the one with most sessions, with the items of all that support its sentence."""
    gone: dict[int, int] = {}
    for group in groups:
        best = max(group, key=lambda n: (len(drafts[n].sessions), -n))
        gone.update({n: best for n in group if n != best})
    kept = {n: draft for n, draft in enumerate(drafts) if n not in gone}
    for n, best in gone.items():
        kept[best] = _united(kept[best], _supporting(kept[best].sentence, drafts[n].items))
    return list(kept.values())


def _supporting(sentence: Sentence, items: Sequence[Item]) -> list[Item]:
    return [item for item in items if speaks_of(sentence, item)]


def _united(draft: _Draft, items: Iterable[Item]) -> _Draft:
    both = {item.event: item for item in (*draft.items, *items)}
    return _Draft(draft.name, draft.sentence, tuple(both.values()))


def _kind(draft: _Draft, cut_ms: int, model: str) -> Kind:
    events = tuple(sorted(item.event for item in draft.items))
    return Kind(draft.name, phrase(draft.sentence), events, draft.sessions, cut_ms, model)


def _pattern(kind: Kind, sentence: Sentence, items: Sequence[Item], scale: Scale) -> Pattern:
    ordered = sorted(items, key=lambda item: (item.at_ms, item.event))
    sort = Counter(friction.kind for item in ordered for friction in item.frictions[:1]).most_common(1)[0][0]
    members = tuple(friction for item in ordered for friction in item.frictions[:1])
    sessions = tuple(dict.fromkeys(item.session for item in ordered))
    people = {member.person for member in members}
    project = members[0].project
    signature = PREFIX + subject(sentence)
    tokens = sum(member.tokens for member in members)
    return Pattern(
        key=key_of(project, "correction", signature),
        project=project,
        kind="correction",
        friction=sort,
        title=_title(kind, len(sessions)),
        signature=signature,
        members=members,
        episodes=tuple(dict.fromkeys(member.episode for member in members)),
        sessions=sessions,
        first_ms=ordered[0].at_ms,
        last_ms=ordered[-1].at_ms,
        stake=scale.stake(len(members), tokens, len(sessions)),
        sentence=sentence,
        document="memory",
        person=people.pop() if len(people) == 1 else "",
        reasons=tuple(item.said for item in ordered[:_QUOTES]),
        quotes=_quotes(ordered),
        cut_ms=kind.cut_ms,
    )


def _title(kind: Kind, sessions: int) -> str:
    named = f"“{clipped(kind.name, _NAME)}”" if kind.name else "One wish"
    return f"{named}, said in {sessions} sessions (grouped by a model)"


def _quotes(items: Sequence[Item]) -> tuple[Quote, ...]:
    """What was said, the newest first, then what had been done."""
    said = [(friction, quote) for item in reversed(items) for friction in item.frictions for quote in friction.quotes]
    words = {quote.text: quote for _, quote in said if quote.author == "person"}
    done = {quote.text: quote for _, quote in said if quote.author == "agent"}
    return (*tuple(words.values())[: _QUOTES - 2], *tuple(done.values())[:2])
