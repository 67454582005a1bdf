"""A rewritten skill is believed only as the edits that lead to it: bounded, anchored, protected text untouched."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_core import LookGate, ModelCritic, Schedule, Skill, Task, TaskSet, evolve
from skillopt_core.document import parse
from skillopt_core.hunks import CLOSED, TOO_MUCH, edits_between
from skillopt_core.rewrite import UPDATERS
from skillopt_core.scripted import ScriptedCritic, ScriptedEnvironment
from skillopt_core.types import Edit, Evolution, Label, Patch, Score
from skillopt_core.update import update

SKILL = """---
name: demo
---
# Demo

Intro line.

## Rules

- Use `uv run`.
- Say yes.
- Say yes twice.

```sh
make all
```

## Last

Final words.

<!-- SLOW_UPDATE_START -->
- guidance stays
<!-- SLOW_UPDATE_END -->
"""


def through(old: str, new: str, most: int = 9) -> str:
    edits, _ = edits_between(old, new, most)
    candidate = update(Skill(old), Patch(edits))
    assert not candidate.missed
    return candidate.skill.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Intro line.", "Another line."),
        ("- Say yes.\n", ""),
        ("- Say yes twice.\n", "- Say yes twice.\n- Say no once.\n"),
        ("Intro line.\n", "Intro line.\n\nA new paragraph.\n"),
        ("- Use `uv run`.\n- Say yes.\n", "- Say yes.\n- Use `uv run` at last.\n"),
        ("## Last\n\nFinal", "## The end\n\nMore, then final"),
        ("Final words.\n", "Final words.\n\n### Below\n\n- Deep.\n"),
    ],
)
def test_a_rewrite_comes_out_as_edits_that_lead_to_it(before: str, after: str) -> None:
    new = SKILL.replace(before, after)
    assert new != SKILL
    assert through(SKILL, new) == new
    assert through(SKILL.replace("\n", "\r\n"), new) == new.replace("\n", "\r\n")
    assert through("\ufeff" + SKILL, new) == "\ufeff" + new


@pytest.mark.parametrize("closed", ["name: demo", "make all", "- guidance stays"])
def test_what_a_rewrite_did_to_protected_text_is_left_out_with_the_reason(closed: str) -> None:
    new = SKILL.replace(closed, "mine now").replace("Intro line.", "Better line.")
    edits, refused = edits_between(SKILL, new, 9)
    assert update(Skill(SKILL), Patch(edits)).skill.text == SKILL.replace("Intro line.", "Better line.")
    assert [one.why for one in refused] == [CLOSED]


def test_lines_that_stay_keep_what_an_optimizer_does_not_see() -> None:
    old = "# T\n\none  \ntwo\t\nthree\n"
    assert through(old, "# T\n\none\ntwo\n\nmore\n\nthree\n") == "# T\n\none  \ntwo\t\n\nmore\n\nthree\n"


def test_sections_are_neither_made_nor_dropped_by_a_rewrite() -> None:
    for new in (SKILL.replace("## Last\n\nFinal words.\n", ""), SKILL.replace("Intro", "## New\n\nIntro")):
        edits, _ = edits_between(SKILL, new, 9)
        candidate = update(Skill(SKILL), Patch(edits))
        assert parse(candidate.skill.text).headings == parse(SKILL).headings
        assert candidate.missed


def test_many_changes_are_joined_until_they_fit_the_budget() -> None:
    old = "# T\n\n" + "".join(f"- Rule {n}.\n" for n in range(12))
    new = old.replace("1.", "one.").replace("3.", "three.").replace("9.", "nine.")
    assert len(edits_between(old, new, 9)[0]) == 4
    edits, refused = edits_between(old, new, 2)
    assert len(edits) == 2
    assert not refused
    assert update(Skill(old), Patch(edits)).skill.text == new
    apart = SKILL.replace("Intro line.", "Intro, a longer line.").replace("Final", "Last")
    edits, refused = edits_between(SKILL, apart, 1)  # a code fence lies between them
    assert [edit.text for edit in edits] == ["Intro, a longer line."]
    assert [one.kind for one in refused] == ["dropped"]
    assert edits_between(SKILL, apart, 0)[0] == ()


LINES = st.lists(
    st.sampled_from(["# T", "## A", "- one", "  - nested", "two words", "", "```", "---", "x: y", "- one", "> q",
                     "\ufeff", "<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->", "\x0c", "a\u2028b"]),
    max_size=12,
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(LINES, LINES, st.sampled_from(["\n", "\r\n"]), st.integers(0, 4))
def test_no_rewrite_touches_what_is_protected(old: list[str], new: list[str], ending: str, most: int) -> None:
    text = ending.join(old)
    edits, _ = edits_between(text, "\n".join(new), most)
    after = parse(update(Skill(text), Patch(edits)).skill.text)
    before = parse(text)
    assert len(edits) <= most
    assert [before.block_text(b) for b in before.blocks] == [after.block_text(b) for b in after.blocks]
    assert before.frontmatter == after.frontmatter
    assert [h.level for h in before.headings if h.level < 3] == [h.level for h in after.headings if h.level < 3]


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_text_that_was_not_rewritten_has_no_edits(lines: list[str], ending: str) -> None:
    text = ending.join(lines)
    assert edits_between(text, text, 9) == ((), ())


RULE = Edit("add", "Rules", "- Always sign.", frozenset({"a"}), why="unsigned")
LAPSE = Edit("add", "", "Say yes, really.", frozenset({"a"}), Label.EXECUTION_LAPSE)


class Writer(ScriptedCritic):
    """Proposes edits, and writes the document by a function of the prompt."""

    def __init__(self, edits: Sequence[Edit], write: Callable[[str], str]) -> None:
        super().__init__([edits])
        self._model = ModelCritic(lambda prompts: [write(prompt) for prompt in prompts])
        self.rewrite = self._model.rewrite


def trained(mode: str, write: Callable[[str], str], edits: Sequence[Edit] = (RULE, LAPSE)) -> Evolution:
    environment = ScriptedEnvironment(lambda task, skill, draw: Score(*([float("sign" in skill.text)] * 2)))
    gate = tuple(Task(f"g{n}", "x") for n in range(8))
    tasks = TaskSet((Task("a", "do a"),), gate)
    critic = Writer(edits, write)
    return evolve(Skill(SKILL), tasks, environment, critic, LookGate(), Schedule.night(), updater=UPDATERS[mode])


@pytest.mark.parametrize("mode", ["suggestions", "rewrite"])
def test_the_alternative_modes_go_through_the_same_gate_edit_by_edit(mode: str) -> None:
    new = SKILL.replace("- Say yes.\n", "- Say yes.\n- Always sign.\n").replace("make all", "rm -rf")
    prompts: list[str] = []

    def write(prompt: str) -> str:
        prompts.append(prompt)
        return json.dumps({"document": new})

    (step,) = trained(mode, write).steps
    assert step.kept
    assert step.candidate is not None
    assert "- Say yes.\n- Always sign.\n" in step.candidate.text
    assert "make all" in step.candidate.text
    assert "- Say yes, really.\n<!-- APPENDIX_END -->" in step.candidate.text
    assert [edit.op for edit in step.patch.edits] == ["insert_after", "add"]
    assert [edit.support for edit in step.patch.edits] == [frozenset("a")] * 2
    assert step.patch.edits[0].why == "unsigned"
    assert [one.why for one in step.patch.refused] == [CLOSED]
    (prompt,) = prompts
    assert ("do a" in prompt) is (mode == "rewrite")
    assert "- Always sign." in prompt
    assert "Say yes, really" not in prompt  # a lapse leaves the body untouched


@pytest.mark.parametrize("reply", ["?", json.dumps({"document": "# Demo\n"}), json.dumps({"document": "x" * 20_000})])
def test_without_a_usable_rewrite_the_edits_are_applied_as_they_are(reply: str) -> None:
    (step,) = trained("suggestions", lambda _: reply).steps
    assert step.kept
    assert step.events == {"critic: unusable reply": 1}
    assert step.patch.edits == (RULE, LAPSE)


def test_an_optimizer_that_cannot_rewrite_has_its_edits_applied_and_that_is_said() -> None:
    environment = ScriptedEnvironment(lambda task, skill, draw: Score(0.0, 0.0))
    tasks = TaskSet((Task("a", "do a"),), (Task("g", "x"),))
    critic, updater = ScriptedCritic([[RULE]]), UPDATERS["suggestions"]
    (step,) = evolve(Skill(SKILL), tasks, environment, critic, LookGate(), Schedule.night(), updater=updater).steps
    assert step.patch.edits == (RULE,)
    assert step.events == {"update: this optimizer rewrites nothing, its edits are applied": 1}


def test_a_rewrite_without_suggestions_rests_on_the_attempts() -> None:
    new = SKILL.replace("Intro line.", "Always sign.")
    (step,) = trained("rewrite", lambda _: json.dumps({"document": new}), ()).steps
    assert step.kept
    assert [edit.support for edit in step.patch.edits] == [frozenset("a")]
    (idle,) = trained("suggestions", lambda _: json.dumps({"document": new}), ()).steps
    assert idle.candidate is None


def test_a_text_that_is_quite_another_is_refused_as_a_whole_and_quickly() -> None:
    rules = [f"- rule {n}\n" for n in range(1000)]
    began = time.process_time()
    for old, new in (
        ("".join(rules), "".join(f"{rule}- new\n" for rule in rules)),
        ("- a\n" * 1500, "- a\n- b\n" * 900),
        ("\n" * 6000, "x\n\n" * 3000),
        ("- a\n- b\n" * 600, "- b\n- c\n- a\n" * 600),
    ):
        edits, refused = edits_between(old, new, 4)
        assert len(edits) <= 4
        assert edits or TOO_MUCH in {one.why for one in refused}
    assert time.process_time() - began < 10


def test_an_anchor_does_not_take_half_the_document() -> None:
    old = "- first\n" + "- same\n" * 60
    for line, found in ((5, True), (55, False)):
        lines = old.splitlines(keepends=True)
        lines[line] = "- other\n"
        edits, _ = edits_between(old, "".join(lines), 4)
        candidate = update(Skill(old), Patch(edits))
        assert (candidate.skill.text == "".join(lines)) is found
        assert [one.why for one in candidate.missed] == ["the anchor is in the document more than once"] * (not found)
