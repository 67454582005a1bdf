"""What a night works on: one subject a fact, from mined patterns and from what the person prefers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillopt_core.types import Edit
from skillopt_sleep.critics.grammar import Unphrasable, predicate, render, subject
from skillopt_sleep.critics.phrases import PREFERENCE
from skillopt_sleep.critics.preferences import from_preference
from skillopt_sleep.domain.frictions import Friction, Pattern, Quote, Stake
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.domain.sentences import Said, Sentence
from skillopt_sleep.mine import Mined
from skillopt_sleep.review.skills import slug

MEMORY_BLOCK = "rules"
"""Name of the managed block in a memory file."""
RULES = "Rules"
"""The one section of such a block."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One rule to practise, and all that the morning will say about it.

    `rule` is its identity, which survives rewording. `shown` are the frictions of each episode that shows it, those
    before the cut alone being what it is made from. `edit` is set where a person said the rule.
    """

    rule: str
    document: Document
    sentence: Sentence
    title: str
    cut_ms: int
    stake: Stake | None = None
    quotes: tuple[Quote, ...] = ()
    shown: tuple[Friction, ...] = ()
    pattern: Pattern | None = None
    edit: Edit | None = None

    @property
    def predicate(self) -> str:
        return predicate(self.sentence)

    @property
    def self_healing(self) -> bool:
        """The error names its own remedy: worth at most one action, and shown last."""
        return self.pattern is not None and self.pattern.self_healing


def documents(project: str) -> Mapping[str, Document]:
    """The two documents of a project: its learned skill, and its block of house rules in a memory file."""
    name = slug(f"{base_name(project)} lessons")
    return {
        "skill": Document(name, "learned", project),
        "memory": Document(MEMORY_BLOCK, "memory", project),
    }


def base_name(project: str) -> str:
    """The last folder of a project's path, as it is shown."""
    return project.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "project"


def rule_id(project: str, sentence: Sentence) -> str:
    """`r-` and a hash of project and subject: two wordings of one rule have one id."""
    return "r-" + hashlib.sha256(f"{project}\0{subject(sentence)}".encode()).hexdigest()[:12]


def preferred(texts: Iterable[str], project: str, since: Mapping[str, int] | None = None) -> list[Subject]:
    """What the person prefers, as subjects that all their sessions are evidence of: none of it was mined.

    `since` says from when on each text holds, ms UTC.
    """
    subjects = []
    for text in texts:
        sentence = from_preference(text)
        if sentence is None:
            continue
        document = documents(project)["memory"]
        edit = Edit("add", RULES, render(sentence), why="you prefer it", origin=PREFERENCE + text)
        quote = Quote(0, "", (since or {}).get(text), "person", text)
        rule = rule_id(project, sentence)
        subjects.append(Subject(rule, document, sentence, f"you prefer: {text}", 0, quotes=(quote,), edit=edit))
    return subjects


def mined(found: Mined, patterns: Sequence[Pattern], cuts: Mapping[str, int], as_of_ms: int | None) -> list[Subject]:
    """The patterns that can be tested, each as it could be phrased at its cut, by what is at stake; one rule once.

    `cuts` are those of rules already on trial, by rule; a new rule is cut at the end of the day on which a second of
    its sessions was seen, or at `as_of_ms` (gate.md, two ways to split).
    """
    subjects: dict[str, Subject] = {}
    for pattern in patterns:
        cut = as_of_ms if as_of_ms is not None else pattern.cut_ms
        if cut is None or pattern.sentence is None:
            continue
        cut = cuts.get(rule_id(pattern.project, pattern.sentence), cut)
        at_cut = found.before(pattern, cut)
        if at_cut is None or at_cut.sentence is None:
            continue
        one = _subject(pattern, at_cut, at_cut.sentence, cut)
        if one is not None:
            subjects.setdefault(one.rule, one)
    return list(subjects.values())


def kinds(patterns: Sequence[Pattern]) -> list[Subject]:
    """The kinds that a model found: each keeps the sentence and the cut with which it was found."""
    made = (_subject(p, p, p.sentence, p.cut_ms) for p in patterns if p.sentence is not None and p.cut_ms is not None)
    return [one for one in made if one is not None]


def _subject(pattern: Pattern, at_cut: Pattern, sentence: Sentence, cut: int) -> Subject | None:
    try:
        render(sentence)
    except Unphrasable:
        return None
    return Subject(
        rule=rule_id(pattern.project, sentence),
        document=documents(pattern.project)["memory" if isinstance(sentence, Said) else pattern.document],
        sentence=sentence,
        title=pattern.title,
        cut_ms=cut,
        stake=pattern.stake,
        quotes=at_cut.quotes,
        shown=pattern.members,
        pattern=pattern,
    )
