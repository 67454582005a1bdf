"""A critic for the weakest of models: one failed check, one small question, one rule.

A model of half a billion parameters, shown attempts and asked for patterns, copies the example of the prompt. Asked
to turn a single sentence into a rule, by examples, it does. So counting, comparing and choosing are done here, and the
model is left the wording. A line of the skill that makes the check fail goes out as the rule comes in (opposing.py).
Implements the core's `Critic`; it sees what is said of failed checks, and the skill line by line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

from skillopt_core.aggregate import join
from skillopt_core.asking import Complete, Prompt, ask
from skillopt_core.memory import Memory, normalised
from skillopt_core.prompting import clipped, default_prompts, filled, printable
from skillopt_core.replies import Unusable, read_text
from skillopt_core.types import Edit, Missing, Patch, Skill, Trajectory
from skillopt_sleep.critics.opposing import removals

LONGEST_RULE: Final = 200
LONGEST_CHECK: Final = 400
"""Characters of what is said of one failed check."""
SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"rule": {"type": "string", "maxLength": LONGEST_RULE}},
    "required": ["rule"],
    "additionalProperties": False,
}
_FORM: Final = 'in this form:\n{"rule": "One rule in one sentence."}'
_NUMBER: Final = re.compile(r"\d[\d,.]*")
_BULLET: Final = re.compile(r"^\s*[-*+•]\s+")


class ComplaintCritic:
    """Failed checks by how many tasks show them, each put to the model by itself. `prompt` has the slot `{{check}}`."""

    def __init__(self, complete: Complete, prompt: str | None = None) -> None:
        self._complete = complete
        self._prompt = prompt or shipped_prompt()
        self._examples = normalised(self._prompt.replace('\\"', '"'))
        self._repair = default_prompts()["repair"]

    def reflect(
        self, skill: Skill, seen: Sequence[Trajectory], edit_budget: int, memory: Memory
    ) -> Sequence[Patch | Missing]:
        """One patch with a rule for each of the most frequent complaints; what was lost on the way as `Missing`.

        What the rules leave of the edit budget goes to lines that work against them.
        """
        said = complaints(seen)[:edit_budget]
        prompts = [Prompt(filled(self._prompt, {"check": text}), SCHEMA) for text, _ in said]
        rules = ask(self._complete, prompts, _rule, repair=self._repair, template=_FORM)
        edits: list[Edit] = []
        answered: list[str] = []
        lost: list[Missing] = []
        for (text, tasks), rule in zip(said, rules, strict=True):
            if isinstance(rule, Missing):
                lost.append(rule)
            elif rule and normalised(rule) in self._examples:
                lost.append(Missing("edit copied from the prompt"))
            elif rule:
                edits.append(Edit("add", "", f"- {rule}", tasks, why=text.partition("\n")[0]))
                answered.append(text)
        gone, unread = removals(self._complete, skill, edits, answered, edit_budget - len(edits))
        fresh = [edit for edit in (*edits, *gone) if memory.remembered(edit, skill.digest) is None]
        return [Patch(tuple(fresh)), *lost, *unread] if fresh else [*lost, *unread]

    def merge(self, patches: Sequence[Patch], memory: Memory) -> Patch | Missing:
        """Duplicates united, conflicts on one anchor settled, without the model."""
        return join(patches)

    def rank(self, edits: Sequence[Edit], keep: int, memory: Memory) -> Sequence[int] | Missing:
        """By support, without the model."""
        return sorted(range(len(edits)), key=lambda index: -len(edits[index].support))[:keep]


def complaints(seen: Sequence[Trajectory]) -> list[tuple[str, frozenset[str]]]:
    """What is said of failed checks, each with the tasks that show it, the most frequent first.

    Sentences that differ in their numbers alone are one; the lines of an example below them are compared as they are.
    """
    first: dict[str, str] = {}
    tasks: dict[str, set[str]] = {}
    for attempt in seen:
        for description in attempt.score.failed:
            sentence, _, example = description.partition("\n")
            key = f"{_NUMBER.sub('0', sentence)}\n{example}"
            first.setdefault(key, clipped(printable(description), LONGEST_CHECK))
            tasks.setdefault(key, set()).add(attempt.task)
    order = sorted(tasks, key=lambda key: -len(tasks[key]))
    return [(first[key], frozenset(tasks[key])) for key in order]


def shipped_prompt() -> str:
    """The question with its examples."""
    return (resources.files("skillopt_sleep.critics") / "prompts" / "rule_from_check.md").read_text(encoding="utf-8")


def _rule(reply: str) -> str:
    """The rule on one line, without its bullet; "" where the model had none."""
    rule = _BULLET.sub("", " ".join(read_text(reply, "rule").split()))
    if len(rule) > LONGEST_RULE:
        raise Unusable(f'"rule" is longer than {LONGEST_RULE} characters')
    return rule
