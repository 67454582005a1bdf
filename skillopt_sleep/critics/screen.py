"""What may not be tried at all: the core's `Screen`. It costs nothing and says why, one reason an edit.

Refused is an edit that gives a task away (leaks.py), breaks or takes out what the person prefers, was tried before,
says nothing new, makes the skill too long, or speaks in words that come from tool output (architecture.md, trust).
Quarantined is one that carries an address, a secret or an instruction to fetch and run. Flagged in its `why` is one
that names what nobody knows (lint.py). Judged are the lines that are new in the document, as they would stand there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from skillopt_core.memory import Memory, normalised
from skillopt_core.types import Edit, Label, Patch, Refused, Skill
from skillopt_core.update import update
from skillopt_sleep.critics.grammar import locate, negates, parse
from skillopt_sleep.critics.hazards import fetches_and_runs, has_address, looks_secret
from skillopt_sleep.critics.leaks import quoted
from skillopt_sleep.critics.lint import Known, unknown
from skillopt_sleep.critics.spans import mask
from skillopt_sleep.domain.sentences import Said, Sentence

MOST_CHARACTERS: Final = 16_000
"""Of a skill with all its edits, about 4,000 tokens; a skill has 300 to 2,000 (method.md)."""
MOST_OF_AN_EDIT: Final = 2_000
RUN: Final = 5
"""Words in a row that are no accident."""
QUARANTINED: Final = "quarantined: "
"""How the reason of an edit begins that is set aside for a person's eyes."""
_REDACTED: Final = "[redacted:"
_TOKEN: Final = re.compile(r"[^\W_]+")


class Wording:
    """A body of text in which runs of words can be looked up."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._text = " | ".join(f" {' '.join(_tokens(text))} " for text in texts)

    def holds(self, run: Sequence[str]) -> bool:
        """Whether the words stand there one after the other."""
        return f" {' '.join(run)} " in self._text


_SILENCE: Final = Wording()
_ANYTHING: Final = Known()


@dataclass(frozen=True, slots=True)
class Grounds:
    """What is known, as plain data. Empty fields ask nothing.

    `literals` are texts of checks and gold answers, `entities` what single tasks name (`leaks.own_entities`).
    `preferences` are the person's; `free` the origins of edits whose words are a person's own. `known` are tools,
    programs, flags and files that there are.
    `tools` is what tools said, `people` what persons wrote, `acted` what agents ran and wrote.
    """

    literals: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    preferences: tuple[Sentence, ...] = ()
    free: frozenset[str] = frozenset()
    known: Known = _ANYTHING
    tools: Wording = _SILENCE
    people: Wording = _SILENCE
    acted: Wording = _SILENCE
    most_characters: int = MOST_CHARACTERS


class StrictScreen:
    """`is_secret` says whether a text holds a secret; by default a few shapes that cannot be anything else."""

    def __init__(
        self, grounds: Grounds, memory: Memory | None = None, *, is_secret: Callable[[str], bool] = looks_secret
    ) -> None:
        self._grounds = grounds
        self._memory = memory or Memory()
        self._is_secret = is_secret

    def admit(self, patch: Patch, skill: Skill) -> Patch:
        """The patch with refused edits moved to `refused`, each with its reason."""
        kept: list[Edit] = []
        refused = list(patch.refused)
        length = len(skill.text)
        for edit in patch.edits:
            grown = length + len(edit.text) - (len(edit.anchor) if edit.op in {"replace", "delete"} else 0)
            new = new_lines(edit, skill)
            why = self._why_not(edit, new, skill, grown)
            if why:
                refused.append(Refused(edit, why))
            else:
                kept.append(self._flagged(edit, new))
                length = grown
        return replace(patch, edits=tuple(kept), refused=tuple(refused))

    def _why_not(self, edit: Edit, new: str, skill: Skill, grown: int) -> str:
        """The first reason to refuse; empty if there is none."""
        reasons = (
            self._remembered(edit, skill),
            self._against_preference(edit, skill),
            self._unsafe(edit, new),
            quoted(new, self._grounds.literals, self._grounds.entities),
            _says_nothing_new(edit, skill),
            self._too_long(edit, grown),
            self._others_words(edit, new),
        )
        return next((reason for reason in reasons if reason), "")

    def _remembered(self, edit: Edit, skill: Skill) -> str:
        row = self._memory.remembered(edit, skill.digest)
        return f"it was tried before on this text ({row.outcome}): {row.reason}" if row else ""

    def _against_preference(self, edit: Edit, skill: Skill) -> str:
        told = parse(edit.text)
        if any(negates(sentence, wish) for sentence in told for wish in self._grounds.preferences):
            return "it says the opposite of what the person prefers"
        gone = parse(edit.anchor) if edit.op in {"replace", "delete"} else ()
        if any(wish in gone and wish not in told for wish in self._grounds.preferences):
            return "it takes out what the person prefers"
        return ""

    def _unsafe(self, edit: Edit, new: str) -> str:
        if self._is_secret(new):
            return f"{QUARANTINED}it holds what looks like a secret"
        if fetches_and_runs(new):
            return f"{QUARANTINED}it tells to fetch something and run it"
        if _REDACTED in new:
            return "it names something that was redacted"
        addressed = has_address(new) and edit.origin not in self._grounds.free
        return f"{QUARANTINED}it holds an address" if addressed else ""

    def _too_long(self, edit: Edit, grown: int) -> str:
        if len(edit.text) > MOST_OF_AN_EDIT:
            return f"it is longer than {MOST_OF_AN_EDIT} characters"
        most = self._grounds.most_characters
        return f"the skill would be longer than {most} characters" if grown > most and edit.op != "delete" else ""

    def _others_words(self, edit: Edit, new: str) -> str:
        if edit.origin in self._grounds.free:
            return ""
        prose, codes = _free_words(new)
        if any(self._from_tools(run) for text in prose for run in _runs(text)):
            return "its words come from what a tool said"
        if any(self._from_tools(run) and not self._grounds.acted.holds(run) for text in codes for run in _runs(text)):
            return "it quotes what a tool said as if it were a name"
        return ""

    def _from_tools(self, run: Sequence[str]) -> bool:
        return self._grounds.tools.holds(run) and not self._grounds.people.holds(run)

    def _flagged(self, edit: Edit, new: str) -> Edit:
        names = unknown(new, self._grounds.known)
        if not names:
            return edit
        note = f"names what nothing seen so far has: {', '.join(map(str, names))}"
        return replace(edit, why=f"{edit.why}; {note}" if edit.why else note)


def new_lines(edit: Edit, skill: Skill) -> str:
    """The lines of the document that the edit would change or add, as they would stand; its text where it has no place.

    What an edit only repeats around its change is the document's own; what it makes of half a line is judged whole.
    """
    if edit.op == "delete" and not edit.text:
        return ""
    candidate = update(skill, Patch((edit,)))
    if not candidate.patch.edits:
        return edit.text
    old = set(skill.text.splitlines())
    return "\n".join(line for line in candidate.skill.text.splitlines() if line not in old)


def _says_nothing_new(edit: Edit, skill: Skill) -> str:
    if edit.op == "delete" or edit.label is Label.EXECUTION_LAPSE:
        return ""  # a reminder repeats a rule on purpose, once: the appendix sees to that
    wanted = normalised(edit.text)
    if any(normalised(line) == wanted for line in skill.text.splitlines()):
        return "the skill says it already"
    told, holding = parse(edit.text), parse(skill.text)
    return "the skill says it already, in other words" if told and all(sentence in holding for sentence in told) else ""


def _free_words(text: str) -> tuple[list[str], list[str]]:
    """The prose of an edit that is not our own sentence forms, and the content of all its code spans."""
    codes = [code for line in text.splitlines() for code in mask(line).codes]
    own = (found.text for found in locate(text) if found.text and not isinstance(found.sentence, Said))
    for sentence in own:
        text = text.replace(sentence, " ")
    prose = [re.sub("\x00\\d+\x00", " | ", mask(line).text) for line in text.splitlines()]
    return [piece for line in prose for piece in line.split("|")], codes


def _runs(text: str) -> Iterator[Sequence[str]]:
    tokens = _tokens(text)
    return (tokens[at : at + RUN] for at in range(len(tokens) - RUN + 1))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())
