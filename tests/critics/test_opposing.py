"""What contradicts a new rule goes out with it: the model blames a line, all else is decided without it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from skillopt_core.asking import schema_of
from skillopt_core.memory import Memory
from skillopt_core.types import Edit, Missing, Patch, Skill
from skillopt_core.update import update
from skillopt_sleep.critics.complaints import ComplaintCritic
from skillopt_sleep.critics.grammar import parse
from skillopt_sleep.critics.opposing import MOST_LINES, SCHEMA, offered
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from tests.critics.test_complaints import NO_STAFF, NO_VOTE, failed

TEXT = """---
name: minutes
description: Write the minutes of the meeting.
---

# Minutes

You write the minutes of meetings.
- Leave out the results of every vote.
- Name nobody in the minutes.

```
Leave out this line of code.
```

| a table | with words |
<!-- SLOW_UPDATE_START -->
Keep this protected line.
<!-- SLOW_UPDATE_END -->
"""
SKILL = Skill(TEXT)
VOTES = "- Leave out the results of every vote."
NAMES = "- Name nobody in the minutes."


class Model:
    """Answers each complaint with a rule, and blames the lines that it is told to blame."""

    def __init__(self, *blames: str, reply: str = "") -> None:
        self.blames = blames
        self.reply = reply
        self.questions: list[str] = []

    def __call__(self, prompts: Sequence[str]) -> Sequence[str | Missing]:
        return [self._said(prompt) for prompt in prompts]

    def _said(self, prompt: str) -> str:
        last = prompt.rstrip().rpartition("\n")[2]
        if schema_of(prompt) != SCHEMA:
            return json.dumps({"rule": f"Say it with {last}"})
        self.questions.append(last.removeprefix("Instruction: "))
        blamed = "yes" if self.questions[-1] in self.blames else "no"
        return self.reply or json.dumps({"complaint": "a", "instruction": "b", "because": blamed})


def patch_of(model: Model, budget: int = 4, memory: Memory | None = None) -> Patch:
    seen = [failed("a", NO_VOTE), failed("b", NO_VOTE), failed("b", NO_STAFF)]
    patch, *_ = ComplaintCritic(model).reflect(SKILL, seen, budget, memory or Memory())
    assert isinstance(patch, Patch)
    return patch


def test_a_blamed_line_goes_out_with_the_rule_and_not_a_byte_more() -> None:
    patch = patch_of(Model(VOTES), 3)
    assert [edit.op for edit in patch.edits] == ["add", "add", "delete"]
    gone = patch.edits[-1]
    assert (gone.anchor, gone.support) == (VOTES, frozenset("ab"))
    assert gone.why.startswith("works against: ")
    assert update(SKILL, Patch((gone,))).skill.text == TEXT.replace(f"{VOTES}\n", "")


def test_no_line_is_blamed_no_line_goes() -> None:
    assert [edit.op for edit in patch_of(Model()).edits] == ["add", "add"]


def test_only_prose_that_may_be_edited_is_asked_about_and_what_the_skill_is_for_stays() -> None:
    model = Model()
    patch_of(model)
    assert model.questions == [VOTES, NAMES] * 2


def test_a_sentence_over_several_lines_is_taken_out_whole() -> None:
    wrapped = "Leave out every vote, so that the\nreader can guess (if need be)."
    skill = Skill(f"You write minutes.\n{wrapped}\nBe kind to them.\n- Name the chair\n- Name the staff\n\nA last line")
    assert offered(skill) == [wrapped, "Be kind to them.", "- Name the chair", "- Name the staff", "A last line"]
    gone = update(skill, Patch((Edit("delete", wrapped, ""),))).skill.text
    assert gone == skill.text.replace(f"{wrapped}\n", "")


def test_a_line_that_stands_twice_has_no_anchor_and_a_long_skill_is_not_asked_about_to_its_end() -> None:
    assert offered(Skill("The first line.\nSay it twice.\nSay it twice.\nSay it once.\n")) == ["Say it once."]
    assert len(offered(Skill("\n".join(f"Obey rule {n}x and more." for n in range(100))))) == MOST_LINES


@pytest.mark.parametrize(("budget", "gone", "asked"), [(4, 2, 4), (3, 1, 4), (2, 0, 0)])
def test_rules_come_first_in_the_edit_budget_and_nothing_is_asked_that_cannot_be_used(
    budget: int, gone: int, asked: int
) -> None:
    model = Model(VOTES, NAMES)
    assert [edit.op for edit in patch_of(model, budget).edits] == ["add", "add", *["delete"] * gone]
    assert len(model.questions) == asked


def test_without_a_rule_nothing_is_taken_out() -> None:
    class Silent(Model):
        def _said(self, prompt: str) -> str:
            return super()._said(prompt) if schema_of(prompt) == SCHEMA else json.dumps({"rule": ""})

    model = Silent(VOTES)
    assert ComplaintCritic(model).reflect(SKILL, [failed("a", NO_VOTE)], 4, Memory()) == []
    assert not model.questions


def test_a_removal_that_was_rejected_is_not_proposed_again_and_an_unreadable_answer_is_counted() -> None:
    memory = Memory()
    memory.remember(patch_of(Model(VOTES)).edits[-1], SKILL.digest, "not better")
    assert [edit.op for edit in patch_of(Model(VOTES), memory=memory).edits] == ["add", "add"]
    said = ComplaintCritic(Model(reply='{"because": "perhaps"}')).reflect(SKILL, [failed("a", NO_VOTE)], 4, Memory())
    assert said[1:] == [Missing("unusable reply")] * 2


def test_what_the_person_prefers_is_not_taken_out() -> None:
    wish = Skill("The first line.\nUse `uv pip`, not `pip`.\n")
    seen = [failed("a", NO_VOTE)]
    (patch,) = ComplaintCritic(Model("Use `uv pip`, not `pip`.")).reflect(wish, seen, 4, Memory())
    assert isinstance(patch, Patch)
    screen = StrictScreen(Grounds(preferences=parse("Use `uv pip`, not `pip`.")))
    admitted = screen.admit(patch, wish)
    assert [edit.op for edit in admitted.edits] == ["add"]
    assert [refused.why for refused in admitted.refused] == ["it takes out what the person prefers"]
