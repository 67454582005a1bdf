"""The critic without a model."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from skillopt_core.memory import Memory
from skillopt_core.protocols import Critic, Mender
from skillopt_core.types import Edit, Patch, Refused, Score, Skill, Trajectory
from skillopt_core.update import update
from skillopt_sleep.critics.grammar import parse
from skillopt_sleep.critics.phrases import PhraseCritic
from skillopt_sleep.domain.frictions import Friction, FrictionKind
from skillopt_sleep.domain.sentences import AskBefore, DoNotRun, Said, Sentence, Use
from tests.critics.sentences import SENTENCES

PAGE = Skill(
    "# Notes\n\n## Rules\n\n- House rule: Be kind.\n\n## Project facts\n\nNone yet.\n\n## Before you act\n\nLook.\n"
)


def friction(task: str, *, tokens: int = 10, wasted: int = 1) -> Friction:
    return Friction("sig", FrictionKind.FACT, task, f"s-{task}", 0, 1, None, wasted, tokens)


def seen(*tasks: str, hard: float = 0.0) -> list[Trajectory]:
    return [Trajectory(task, 0, "d", Score(hard, hard)) for task in tasks]


def critic(
    shown: dict[str, list[Sentence]], *preferences: Sentence | str, tokens: dict[str, int] | None = None
) -> PhraseCritic:
    costs = tokens or {}
    rows = {task: [(friction(task, tokens=costs.get(task, 10)), s) for s in some] for task, some in shown.items()}
    return PhraseCritic(rows, preferences)


def edits(patches: object) -> list[Edit]:
    assert isinstance(patches, list)
    return [edit for patch in patches if isinstance(patch, Patch) for edit in patch.edits]


def texts(some: list[Edit]) -> list[str]:
    return [edit.text for edit in some]


A, B, C = Use("pnpm", "npm"), DoNotRun("rm -rf"), AskBefore("git push")


def test_it_is_a_critic_and_a_mender() -> None:
    one: Critic = critic({})
    assert isinstance(one, Mender)


def test_one_edit_a_distinct_sentence_most_supported_first() -> None:
    one = critic({"t1": [A, B], "t2": [B], "t3": [C]}, tokens={"t3": 99})
    found = edits(one.reflect(PAGE, seen("t1", "t2", "t3"), 9, Memory()))
    assert texts(found) == ["- Do not run `rm -rf`.", "- Ask before you run `git push`.", "- Use `pnpm`, not `npm`."]
    assert [sorted(e.support) for e in found] == [["t1", "t2"], ["t3"], ["t1"]]
    assert [e.anchor for e in found] == ["## Rules", "## Before you act", "## Project facts"]
    assert [e.op for e in found] == ["add"] * 3


def test_only_failed_attempts_that_were_shown_count() -> None:
    one = critic({"t1": [A], "t2": [B]})
    assert texts(edits(one.reflect(PAGE, [*seen("t1"), *seen("t2", hard=1.0)], 9, Memory()))) == [
        "- Use `pnpm`, not `npm`."
    ]
    assert one.reflect(PAGE, seen("unknown"), 9, Memory()) == []


def test_the_edit_budget_is_kept() -> None:
    one = critic({"t1": [A, B, C]})
    assert len(edits(one.reflect(PAGE, seen("t1"), 2, Memory()))) == 2
    assert one.reflect(PAGE, seen("t1"), 0, Memory()) == []


def test_what_stands_there_or_was_rejected_on_this_text_is_not_proposed() -> None:
    one = critic({"t1": [A, B]})
    holding = Skill("- Use `pnpm` instead of `npm`!\n")
    assert texts(edits(one.reflect(holding, seen("t1"), 9, Memory()))) == ["- Do not run `rm -rf`."]
    memory = Memory()
    first = edits(one.reflect(PAGE, seen("t1"), 1, memory))[0]
    memory.remember(first, PAGE.digest, "it broke two")
    assert first.text not in texts(edits(one.reflect(PAGE, seen("t1"), 9, memory)))
    assert first.text in texts(edits(one.reflect(Skill("other"), seen("t1"), 9, memory)))


def test_a_line_that_says_otherwise_is_replaced() -> None:
    skill = Skill("# N\n\n- Use `npm`, not `pnpm`. And more.\n- Other.\n")
    (edit,) = edits(critic({"t1": [A]}).reflect(skill, seen("t1"), 4, Memory()))
    assert (edit.op, edit.anchor) == ("replace", "Use `npm`, not `pnpm`.")
    candidate = update(skill, Patch((edit,)))
    assert candidate.skill.text == "# N\n\n- Use `pnpm`, not `npm`. And more.\n- Other.\n"


def test_a_skill_without_the_section_takes_it_at_its_end() -> None:
    (edit,) = edits(critic({"t1": [A]}).reflect(Skill("# N\n"), seen("t1"), 4, Memory()))
    assert edit.anchor == ""


def test_preferences_come_first_and_nothing_contradicts_them() -> None:
    one = critic({"t1": [Use("npm", "pnpm"), B], "t2": [Use("npm", "pnpm")]}, "use pnpm, never npm", Said("Be kind."))
    found = edits(one.reflect(Skill(""), seen("t1", "t2"), 9, Memory()))
    assert texts(found) == ["- Use `pnpm`, not `npm`.", "- House rule: Be kind.", "- Do not run `rm -rf`."]
    assert found[0].origin == "preference: use pnpm, never npm"
    assert one.rank(found[::-1], 1, Memory()) in ([1], [2])


def test_of_ideas_that_contradict_each_other_the_better_supported_one_is_tried() -> None:
    one = critic({"t1": [A], "t2": [A, Use("npm", "pnpm")]})
    assert texts(edits(one.reflect(PAGE, seen("t1", "t2"), 9, Memory()))) == ["- Use `pnpm`, not `npm`."]


def test_a_merge_unites_and_settles() -> None:
    one = critic({})
    add = Edit("add", "", "- Use `pnpm`, not `npm`.", frozenset({"t1"}))
    again = replace(add, support=frozenset({"t2", "t3"}))
    against = Edit("add", "", "- Use `npm`, not `pnpm`.", frozenset({"t9"}))
    merged = one.merge([Patch((against, add)), Patch((again,))], Memory())
    assert isinstance(merged, Patch)
    assert [(e.text, sorted(e.support)) for e in merged.edits] == [(add.text, ["t1", "t2", "t3"])]
    assert [r.edit.text for r in merged.refused] == [against.text]


def test_ranks_are_by_support_then_by_stake() -> None:
    one = critic({"t1": [A], "t2": [B], "t3": [C]}, tokens={"t2": 50})
    found = [
        Edit("add", "", f"- {t}")
        for t in ("Use `pnpm`, not `npm`.", "Do not run `rm -rf`.", "Ask before you run `git push`.")
    ]
    assert one.rank(found, 3, Memory()) == [1, 2, 0]
    found[0] = replace(found[0], support=frozenset({"x"}))
    assert one.rank(found, 2, Memory()) == [0, 1]


def test_what_found_no_anchor_goes_to_the_end() -> None:
    lost = Edit("replace", "gone", "Use `a`, not `b`.")
    mended = critic({}).mend(PAGE, [Refused(lost, "no anchor", "missed")], Memory())
    assert isinstance(mended, Patch)
    assert [(e.op, e.anchor) for e in mended.edits] == [("add", "")]


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(SENTENCES, max_size=4), max_size=4), st.integers(0, 5))
def test_whatever_is_shown_the_edits_can_be_applied_and_are_read_back(
    shown: dict[str, list[Sentence]], budget: int
) -> None:
    one = critic(shown)
    found = edits(one.reflect(PAGE, seen(*shown), budget, Memory()))
    assert found == edits(critic(shown).reflect(PAGE, seen(*reversed(shown)), budget, Memory()))
    assert len(found) <= budget
    assert all(e.support <= set(shown) for e in found)
    candidate = update(PAGE, Patch(tuple(found)))
    assert not candidate.missed
    told = parse(candidate.skill.text)
    assert all(parse(e.text)[0] in told for e in found)
