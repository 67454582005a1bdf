"""The critic that needs no model: it phrases what the miner found in the failed attempts that it is shown.

Implements the core's `Critic` (and `Mender`). Every word of an edit is one of our sentence forms or a person's own;
what comes from transcripts is identifiers alone. The same input gives the same edits in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.aggregate import join
from skillopt_core.anchors import Missed, find_section
from skillopt_core.document import parse as parse_document
from skillopt_core.memory import Memory
from skillopt_core.types import Edit, Missing, Patch, Refused, Skill, Trajectory
from skillopt_sleep.critics.grammar import Located, Unphrasable, locate, negates, phrase, read, section, topic
from skillopt_sleep.critics.preferences import from_preference
from skillopt_sleep.domain.frictions import Friction
from skillopt_sleep.domain.sentences import Sentence

PREFERENCE: Final = "preference: "
"""What the `origin` of an edit begins with that a person asked for; their words follow."""

Shown = Mapping[str, Sequence[tuple[Friction, Sentence]]]
"""For each task id its frictions, each with the sentence that would mend it."""


@dataclass(frozen=True, slots=True)
class _Idea:
    """A sentence that could be added: who shows the need, what it cost, where it came from."""

    sentence: Sentence
    text: str
    support: frozenset[str] = frozenset()
    wasted: int = 0
    tokens: int = 0
    why: str = ""
    origin: str = ""

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Smaller is better: support, then stake, then the text so that the order is fixed."""
        return (-len(self.support), -self.tokens, -self.wasted, self.text)


class PhraseCritic:
    """One edit a distinct sentence. `preferences` are a person's words, or sentences read from them, tried first."""

    def __init__(self, shown: Shown, preferences: Sequence[Sentence | str] = ()) -> None:
        self._shown = shown
        self._preferences = tuple(_preferred(preferences))
        self._stakes: dict[str, tuple[int, int]] = {}
        for task in sorted(shown):
            for friction, sentence in shown[task]:
                self._cost(friction, sentence)

    def _cost(self, friction: Friction, sentence: Sentence) -> None:
        try:
            text = phrase(sentence)
        except Unphrasable:
            return
        tokens, wasted = self._stakes.get(text, (0, 0))
        self._stakes[text] = (tokens + friction.tokens, wasted + friction.wasted)

    def reflect(
        self, skill: Skill, seen: Sequence[Trajectory], edit_budget: int, memory: Memory
    ) -> Sequence[Patch | Missing]:
        """One patch of at most `edit_budget` edits: preferences, then rules by how many failed tasks show the need.

        Left out are what the skill says already, what was tried on this text and rejected, and of two ideas that
        contradict each other the later one.
        """
        failed = sorted({one.task for one in seen if one.score.hard < 1})
        ideas = [*self._preferences, *sorted(self._ideas(failed), key=lambda idea: idea.rank)]
        edits: list[Edit] = []
        taken: list[Sentence] = []
        holding = locate(skill.text)
        for idea in ideas:
            if len(edits) == edit_budget:
                break
            if any(_clash(idea.sentence, other) for other in taken) or any(
                h.sentence == idea.sentence for h in holding
            ):
                continue
            edit = _edit(idea, skill, holding)
            if memory.remembered(edit, skill.digest) is None:
                edits.append(edit)
                taken.append(idea.sentence)
        return [Patch(tuple(edits))] if edits else []

    def _ideas(self, tasks: Sequence[str]) -> Iterator[_Idea]:
        support: dict[str, set[str]] = {}
        first: dict[str, tuple[Friction, Sentence]] = {}
        for task in tasks:
            for friction, sentence in self._shown.get(task, ()):
                try:
                    text = phrase(sentence)
                except Unphrasable:
                    continue
                support.setdefault(text, set()).add(task)
                first.setdefault(text, (friction, sentence))
        for text, (friction, sentence) in first.items():
            tokens, wasted = self._stakes[text]
            shown = len(support[text])
            why = f"{friction.kind.value}, shown by {shown} {'episode' if shown == 1 else 'episodes'}"
            yield _Idea(sentence, text, frozenset(support[text]), wasted, tokens, why, friction.signature)

    def merge(self, patches: Sequence[Patch], memory: Memory) -> Patch | Missing:
        """Duplicates united, conflicts on one anchor settled, of two edits that contradict each other one dropped."""
        joined = join(patches)
        kept: list[Edit] = []
        dropped: list[Refused] = []
        for index in self._order(joined.edits):
            edit = joined.edits[index]
            if any(_clash(a, b) for other in kept for a in read(_bare(edit)) for b in read(_bare(other))):
                dropped.append(Refused(edit, "it contradicts a better supported edit", "dropped"))
            else:
                kept.append(edit)
        in_order = tuple(edit for edit in joined.edits if edit in kept)
        return replace(joined, edits=in_order, refused=joined.refused + tuple(dropped))

    def rank(self, edits: Sequence[Edit], keep: int, memory: Memory) -> Sequence[int] | Missing:
        """By support, then by what is at stake; preferences before all."""
        return self._order(edits)[:keep]

    def mend(self, skill: Skill, missed: Sequence[Refused], memory: Memory) -> Patch | Missing:
        """What found no anchor goes to the end of the body."""
        lost = (refused.edit for refused in missed if refused.edit.op != "delete")
        return Patch(tuple(replace(edit, op="add", anchor="") for edit in lost if edit.anchor))

    def _order(self, edits: Sequence[Edit]) -> list[int]:
        def key(index: int) -> tuple[bool, int, int, int, str]:
            edit = edits[index]
            tokens, wasted = self._stakes.get(_bare(edit), (0, 0))
            return (not edit.origin.startswith(PREFERENCE), -len(edit.support), -tokens, -wasted, edit.text)

        return sorted(range(len(edits)), key=key)


def _preferred(preferences: Sequence[Sentence | str]) -> Iterator[_Idea]:
    for preference in preferences:
        sentence = from_preference(preference) if isinstance(preference, str) else preference
        if sentence is None:
            continue
        try:
            text = phrase(sentence)
        except Unphrasable:
            continue
        said = preference if isinstance(preference, str) else text
        yield _Idea(sentence, text, why="the person prefers it", origin=f"{PREFERENCE}{said}")


def _clash(one: Sentence, other: Sentence) -> bool:
    return topic(one) == topic(other) or negates(one, other)


def _edit(idea: _Idea, skill: Skill, holding: Sequence[Located]) -> Edit:
    """A replacement of the one line that says otherwise, where there is one, else an addition to its section."""
    against = [found for found in holding if _clash(found.sentence, idea.sentence)]
    anchor = against[0].text if len(against) == 1 else ""
    if anchor and skill.text.count(anchor) == 1:
        return Edit("replace", anchor, idea.text, idea.support, why=idea.why, origin=idea.origin)
    heading = find_section(parse_document(skill.text), section(idea.sentence))
    where = "" if isinstance(heading, Missed) else f"{'#' * heading.level} {heading.title}"
    return Edit("add", where, f"- {idea.text}", idea.support, why=idea.why, origin=idea.origin)


def _bare(edit: Edit) -> str:
    return edit.text.strip().removeprefix("- ")
