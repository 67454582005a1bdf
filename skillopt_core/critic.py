"""A critic made of one function, `complete(prompts) -> replies` (method.md, reflect, aggregate, select, update).

It sees train attempts only. What is untrusted goes into prompts fenced as data; each prompt carries the schema of its
reply, for who can hold a model to it; what comes back is checked by hand all the same, repaired once, and otherwise
`Missing("unusable reply")`, which the stages count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from skillopt_core import schemas
from skillopt_core.aggregate import join
from skillopt_core.asking import Complete, Prompt, ask
from skillopt_core.memory import Memory, normalised
from skillopt_core.prompting import default_prompts, fenced, filled, small_prompts
from skillopt_core.replies import (
    ReadEdit,
    ReadPattern,
    read_document,
    read_edits,
    read_number,
    read_numbers,
    read_patterns,
    read_text,
    read_variants,
)
from skillopt_core.showing import Shown, batches, show_drift, show_edits, show_notes, show_requests, show_steps
from skillopt_core.types import Edit, Label, Missing, Patch, Refused, Skill, Step, Task, Trajectory

MINIBATCH: Final = 8
SMALL_MINIBATCH: Final = 4
CHARACTERS: Final = 24_000
"""What the attempts of one prompt may take, about 6,000 tokens."""
SMALL_CHARACTERS: Final = 4_000
_PARROTED: Final = 20
_WORD: Final = re.compile(r"\w+")

T = TypeVar("T")


class ModelCritic:
    """Who proposes edits, over any model (method.md: reflect, aggregate, select, update, slow update, meta skill).

    `prompts` replaces shipped prompts by name. `minibatch` is the number of tasks a reflection sees, `characters` what
    their attempts may take together (8 and 24,000). `small` is for a weak optimizer: shorter prompts with an example
    worked out, a flat reply (why, tasks, one rule to add), 4 tasks in 4,000 characters, and merging without a model.
    A model of half a billion parameters still copies the example, which is dropped and counted; such a one does better
    with one question a failed check.
    """

    def __init__(
        self,
        complete: Complete,
        prompts: Mapping[str, str] | None = None,
        *,
        small: bool = False,
        minibatch: int | None = None,
        characters: int | None = None,
    ) -> None:
        shipped = small_prompts() if small else default_prompts()
        unknown = sorted(set(prompts or {}) - set(shipped))
        if unknown:
            raise ValueError(f"no prompt is called {', '.join(unknown)}; there are {', '.join(sorted(shipped))}")
        self._complete = complete
        self._prompts = {**shipped, **(prompts or {})}
        self._small = small
        self._minibatch = minibatch or (SMALL_MINIBATCH if small else MINIBATCH)
        self._characters = characters or (SMALL_CHARACTERS if small else CHARACTERS)

    def reflect(
        self, skill: Skill, seen: Sequence[Trajectory], edit_budget: int, memory: Memory
    ) -> Sequence[Patch | Missing]:
        """One patch a minibatch, failures first, in a fixed order; malformed and parroted edits follow as `Missing`."""
        shown = batches(seen, self._minibatch, self._characters)
        prompts = [self._reflection(skill, batch, edit_budget, memory) for batch in shown]
        answers = self._ask(prompts, "reflect_failures", read_patterns)
        patches: list[Patch | Missing] = []
        for batch, answer in zip(shown, answers, strict=True):
            if isinstance(answer, Missing):
                patches.append(answer)
                continue
            patch, parroted = self._own_words(batch, _patch(batch, answer, skill))
            patches.append(patch)
            patches += [Missing("malformed edit")] * sum(pattern.malformed for pattern in answer)
            patches += [Missing("edit copied from the prompt")] * parroted
        return patches

    def merge(self, patches: Sequence[Patch], memory: Memory) -> Patch | Missing:
        """One patch out of a group; support follows from the numbers of the edits that it was merged from."""
        if self._small:
            return join(patches)
        edits = [edit for patch in patches for edit in patch.edits]
        slots = {"edits": show_edits(edits), "notes": show_notes(memory)}
        answer = self._one("merge", slots, schemas.traced_edits(len(edits)), read_edits)
        if isinstance(answer, Missing):
            return answer
        return Patch(tuple(_traced(read, edits) for read in answer), about=patches[0].about)

    def rank(self, edits: Sequence[Edit], keep: int, memory: Memory) -> Sequence[int] | Missing:
        """Indices from 0, best first."""
        slots = {"edits": show_edits(edits), "keep": str(keep), "notes": show_notes(memory)}
        schema = schemas.chosen(len(edits), keep)
        answer = self._one("rank", slots, schema, lambda reply: read_numbers(reply, "keep"))
        return answer if isinstance(answer, Missing) else [number - 1 for number in answer]

    def pace(self, edits: Sequence[Edit], most: int, memory: Memory) -> tuple[int, str] | Missing:
        """The number of edits for this step, with a reason."""
        slots = {"edits": show_edits(edits), "most": str(most), "notes": show_notes(memory)}
        return self._one("pace", slots, schemas.paced(most), lambda reply: read_number(reply, "edits"))

    def mend(self, skill: Skill, missed: Sequence[Refused], memory: Memory) -> Patch | Missing:
        """The missed edits with anchors that fit."""
        edits = [refused.edit for refused in missed]
        shown = show_edits(edits, [refused.why for refused in missed])
        slots = {"skill": fenced("skill", skill.text), "edits": shown}
        answer = self._one("mend", slots, schemas.traced_edits(len(edits)), read_edits)
        return answer if isinstance(answer, Missing) else Patch(tuple(_traced(read, edits) for read in answer))

    def rewrite(
        self, skill: Skill, suggestions: Sequence[Edit], failed: Sequence[Trajectory], memory: Memory
    ) -> str | Missing:
        """The whole document, from the suggestions alone or from the failed attempts too."""
        slots = {
            "skill": fenced("skill", skill.text),
            "edits": show_edits(suggestions),
            "attempts": show_drift({"failed": failed}, self._characters),
            "notes": show_notes(memory),
        }
        name = "rewrite_attempts" if failed else "rewrite_suggestions"
        return self._one(name, slots, schemas.one_text("document"), lambda reply: read_document(reply, skill.text))

    def dream(self, tasks: Sequence[Task], factor: int) -> Sequence[Sequence[str] | Missing]:
        """Other wordings of each request, a minibatch of them in one prompt."""
        batches = [tasks[at : at + self._minibatch] for at in range(0, len(tasks), self._minibatch)]
        prompts = [self._dreaming(batch, factor) for batch in batches]
        answers = self._ask(prompts, "dream", read_variants)
        return [said for batch, answer in zip(batches, answers, strict=True) for said in _sorted_out(batch, answer)]

    def guidance(self, skill: Skill, drift: Mapping[str, Sequence[Trajectory]], memory: Memory) -> str | Missing:
        """Text for the slow update's block."""
        slots = {
            "skill": fenced("skill", skill.text),
            "attempts": show_drift(drift, self._characters),
            "notes": show_notes(memory),
        }
        return self._one("slow_update", slots, schemas.one_text("guidance"), lambda reply: read_text(reply, "guidance"))

    def notes(self, steps: Sequence[Step], memory: Memory) -> str | Missing:
        """Notes to itself, kept in `memory.meta`."""
        slots = {"steps": show_steps(steps), "notes": show_notes(memory)}
        return self._one("meta_skill", slots, schemas.one_text("notes"), lambda reply: read_text(reply, "notes"))

    def _reflection(self, skill: Skill, batch: Shown, edit_budget: int, memory: Memory) -> Prompt:
        slots = {
            "skill": fenced("skill", skill.text),
            "budget": str(edit_budget),
            "attempts": batch.text,
            "notes": show_notes(memory),
        }
        return Prompt(filled(self._prompts[f"reflect_{batch.about}"], slots), self._form(batch, edit_budget))

    def _dreaming(self, tasks: Sequence[Task], factor: int) -> Prompt:
        text = show_requests([task.prompt for task in tasks], self._characters)
        prompt = filled(self._prompts["dream"], {"factor": str(factor), "tasks": text})
        return Prompt(prompt, schemas.variants(len(tasks), len(tasks) * factor))

    def _form(self, batch: Shown, edit_budget: int) -> schemas.Schema:
        aliases = tuple(batch.aliases)
        if self._small:
            return schemas.short_reflection(aliases, edit_budget)
        return schemas.reflection(aliases, edit_budget, labelled=batch.about == "failures")

    def _own_words(self, batch: Shown, patch: Patch) -> tuple[Patch, int]:
        """The patch without what a weak model copied out of the prompt's rules and examples, and how much that was."""
        asked = _words(self._prompts[f"reflect_{batch.about}"])
        own = tuple(edit for edit in patch.edits if not _parrots(edit, asked))
        return replace(patch, edits=own), len(patch.edits) - len(own)

    def _one(
        self, name: str, slots: Mapping[str, str], schema: schemas.Schema, read: Callable[[str], T]
    ) -> T | Missing:
        (answer,) = self._ask([Prompt(filled(self._prompts[name], slots), schema)], name, read)
        return answer

    def _ask(self, prompts: Sequence[str], name: str, read: Callable[[str], T]) -> list[T | Missing]:
        """All prompts at once; the unreadable replies once more, together with what was wrong with them."""
        return ask(self._complete, prompts, read, repair=self._prompts["repair"], template=self._prompts[name])


def _patch(batch: Shown, patterns: Sequence[ReadPattern], skill: Skill) -> Patch:
    """The edits of all patterns, each supported by those of the named tasks that were really shown.

    A failure whose cure the document says already is a lapse, whatever the model calls it.
    """
    said = {normalised(line) for line in skill.text.splitlines()} if batch.about == "failures" else set()
    edits: list[Edit] = []
    for pattern in patterns:
        support = frozenset(batch.aliases[name] for name in pattern.tasks if name in batch.aliases)
        given = pattern.label if batch.about == "failures" else Label.SKILL_DEFECT
        for edit in (read.edit for read in pattern.edits):
            known = edit.op in {"add", "insert_after"} and normalised(edit.text) in said
            label = Label.EXECUTION_LAPSE if known else given
            edits.append(replace(edit, support=support, label=label, why=edit.why or pattern.why))
    reasoning = "\n".join(pattern.why for pattern in patterns if pattern.why)
    return Patch(tuple(edits), reasoning=reasoning, about=batch.about)


def _sorted_out(
    tasks: Sequence[Task], answer: Sequence[tuple[int, str]] | Missing
) -> Sequence[Sequence[str] | Missing]:
    """The variants of each task; one failed answer is missing for all of its tasks."""
    if isinstance(answer, Missing):
        return [answer] * len(tasks)
    return [[text for of, text in answer if of == number] for number in range(1, len(tasks) + 1)]


def _parrots(edit: Edit, asked: str) -> bool:
    """Compared by words alone: what is copied comes back with other quotes and bullets."""
    said = _words(edit.text)
    return len(said) >= _PARROTED and said in asked


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _traced(read: ReadEdit, edits: Sequence[Edit]) -> Edit:
    """A merged or corrected edit with the support, label and origin of those that it came from."""
    sources = [edits[number - 1] for number in read.sources if 1 <= number <= len(edits)]
    if not sources:
        return read.edit
    support = frozenset[str]().union(*(source.support for source in sources))
    first = sources[0]
    return replace(read.edit, support=support, label=first.label, origin=first.origin, why=read.edit.why or first.why)
