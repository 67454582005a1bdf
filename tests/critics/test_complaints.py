"""A weak model is left the wording alone: counting, comparing and choosing are done without it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from skillopt_core.asking import schema_of
from skillopt_core.memory import Memory
from skillopt_core.types import Missing, Patch, Score, Skill, Trajectory
from skillopt_sleep.critics.complaints import SCHEMA, ComplaintCritic, complaints

SKILL = Skill("# Reports\n\nAnswer the question.\n")
NO_VOTE = "The answer lacks something in its form. An answer passes that has, for example:\nVote: …"
NO_STAFF = "The answer lacks something in its form. An answer passes that has, for example:\nStaff: …"


def failed(task: str, *said: str, draw: int = 0) -> Trajectory:
    return Trajectory(task, draw, SKILL.digest, Score(0.0, 0.0, said), transcript="some words")


def long(n: int) -> str:
    return f"The answer is too long: {n:,} characters. One of 900 characters would pass."


class Model:
    """Says what it is told to, and keeps what it was asked."""

    def __init__(self, *rules: str) -> None:
        self.replies = [rule if rule.startswith("!") else json.dumps({"rule": rule}) for rule in rules]
        self.asked: list[str] = []

    def __call__(self, prompts: Sequence[str]) -> Sequence[str | Missing]:
        self.asked += prompts
        return [self.replies.pop(0) for _ in prompts]


def test_complaints_are_counted_by_task_and_numbers_do_not_part_them() -> None:
    again = failed("b", NO_VOTE, draw=1)
    seen = [failed("a", long(1653)), failed("b", long(4937), NO_VOTE), again, failed("c", NO_STAFF)]
    assert complaints(seen) == [
        (long(1653), frozenset("ab")),
        (NO_VOTE, frozenset("b")),
        (NO_STAFF, frozenset("c")),
    ]


def test_each_complaint_is_one_question_and_its_support_is_ours() -> None:
    model = Model("- Vote on it.", "Name the  staff.\n")
    seen = [failed("a", NO_VOTE), failed("b", NO_VOTE), failed("b", NO_STAFF)]
    (patch,) = ComplaintCritic(model).reflect(SKILL, seen, 4, Memory())
    assert isinstance(patch, Patch)
    assert [(edit.text, edit.support) for edit in patch.edits] == [
        ("- Vote on it.", frozenset("ab")),
        ("- Name the staff.", frozenset("b")),
    ]
    assert [schema_of(prompt) for prompt in model.asked] == [SCHEMA, SCHEMA]
    assert all(len(prompt) < 1_500 and "some words" not in prompt for prompt in model.asked)


def test_no_more_questions_than_edits_are_allowed() -> None:
    model = Model("Vote on it.")
    seen = [failed("a", NO_STAFF), failed("b", NO_VOTE), failed("c", NO_VOTE)]
    ComplaintCritic(model).reflect(SKILL, seen, 1, Memory())
    (asked,) = model.asked
    assert "Vote: …" in asked


def test_what_is_copied_from_the_examples_or_unusable_is_counted_and_nothing_is_not_a_rule() -> None:
    copied = Model('Write a section "## Next Steps" in every answer.', "")
    said = ComplaintCritic(copied).reflect(SKILL, [failed("a", NO_STAFF), failed("b", NO_VOTE)], 4, Memory())
    assert said == [Missing("edit copied from the prompt")]
    broken = Model("! no JSON", "! still none")
    assert ComplaintCritic(broken).reflect(SKILL, [failed("a", NO_STAFF)], 4, Memory()) == [Missing("unusable reply")]
    mended = Model("! no JSON", "Name the staff.")
    (patch,) = ComplaintCritic(mended).reflect(SKILL, [failed("a", NO_STAFF)], 4, Memory())
    assert isinstance(patch, Patch)
    assert '{"rule"' in mended.asked[1]


def test_what_was_rejected_is_not_proposed_again() -> None:
    memory = Memory()
    (patch,) = ComplaintCritic(Model("Vote on it.")).reflect(SKILL, [failed("a", NO_VOTE)], 4, memory)
    assert isinstance(patch, Patch)
    memory.remember(patch.edits[0], SKILL.digest, "not better")
    assert ComplaintCritic(Model("Vote on it.")).reflect(SKILL, [failed("a", NO_VOTE)], 4, memory) == []
