"""What was tried stays remembered, by its meaning and on its text."""

from __future__ import annotations

import pytest

from skillopt_core.memory import Memory, Rejection, meaning
from skillopt_core.types import Edit, Outcome, Patch, Skill

RULE = Edit("add", "Rules", "- Use `uv run`, not `python`.")
SKILL = Skill("# T\n")


@pytest.mark.parametrize(
    "text", ["Use `uv run`, not `python`", "* use  `uv run`,\n not `python`.", "**Use** `uv run`, NOT `python`."]
)
def test_the_same_rule_in_other_clothes_has_the_same_meaning(text: str) -> None:
    assert meaning(Edit("add", "rules", text)) == meaning(RULE)


@pytest.mark.parametrize(
    "edit",
    [
        Edit("add", "Rules", "- Use `uv RUN`, not `python`."),
        Edit("add", "Other", "- Use `uv run`, not `python`."),
        Edit("insert_after", "Rules", "- Use `uv run`, not `python`."),
        Edit("add", "Rules", "- Use `python`, not `uv run`."),
    ],
)
def test_another_rule_has_another_meaning(edit: Edit) -> None:
    assert meaning(edit) != meaning(RULE)


def test_a_rejected_edit_is_refused_on_the_same_text_only() -> None:
    memory = Memory()
    memory.remember(RULE, SKILL.digest, "p = .4")
    admitted = memory.admit(Patch((RULE, Edit("add", "", "- x"))), SKILL)
    assert [edit.text for edit in admitted.edits] == ["- x"]
    assert "p = .4" in admitted.refused[0].why
    assert memory.admit(Patch((RULE,)), Skill("# T\n- x\n")).edits == (RULE,)


def test_rows_survive_in_another_memory() -> None:
    first = Memory(preferences=["use pnpm"], meta="notes")
    first.remember(RULE, SKILL.digest, "why", Outcome.ABSTAIN)
    row = first.remembered(RULE, SKILL.digest)
    assert row == Rejection(meaning(RULE), SKILL.digest, "why", Outcome.ABSTAIN, "add", "Rules", RULE.text)
    assert Memory(first.rows).remembered(RULE, SKILL.digest) == row


def test_a_row_of_keys_alone_refuses_as_well() -> None:
    memory = Memory([Rejection(meaning(RULE), SKILL.digest, "worse")])
    assert memory.admit(Patch((RULE,)), SKILL).edits == ()


def test_the_newest_reason_stays_and_goes_last() -> None:
    memory = Memory()
    memory.remember(RULE, "a", "one")
    memory.remember(Edit("add", "", "x"), "a", "two")
    memory.remember(RULE, "a", "three")
    assert [row.reason for row in memory.rows] == ["two", "three"]
