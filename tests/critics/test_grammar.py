"""Sentences to Markdown and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.critics.grammar import Unphrasable, locate, negates, parse, predicate, render, section, subject
from skillopt_sleep.domain.sentences import (
    AddFlag,
    AlwaysWrite,
    AskBefore,
    CheckBefore,
    DoNotLookUnder,
    DoNotRun,
    DoNotWrite,
    DropFlag,
    FileIs,
    ReadBeforeEdit,
    RunBefore,
    Said,
    Sentence,
    Use,
)
from tests.critics.sentences import SENTENCES

FORMS = {
    "- Use `pnpm`, not `npm`.": Use("pnpm", "npm"),
    "- Before `git commit`, run `gofmt -w .`.": RunBefore("git commit", "gofmt -w ."),
    "- Before `git push`, run the tests.": CheckBefore("git push", "tests"),
    "- Do not run `rm -rf`.": DoNotRun("rm -rf"),
    "- Ask before you run `git push`.": AskBefore("git push"),
    "- Do not look under `docs/old`; it does not exist.": DoNotLookUnder("docs/old"),
    "- The file is `a.yaml`, not `a.yml`.": FileIs("a.yaml", "a.yml"),
    "- Give `go test` the argument `-race`.": AddFlag("go test", "-race"),
    "- Do not give `lint run` the argument `--fast`.": DropFlag("lint run", "--fast"),
    "- In `.go` files, do not write `panic(`; write `return err` instead: `E1` refuses it.": DoNotWrite(
        ".go", "panic(", "return err", "E1"
    ),
    "- In any file, do not write `TODO`.": DoNotWrite("", "TODO"),
    "- In `_test.go` files, where you write `func Test`, also write `t.Parallel()`.": AlwaysWrite(
        "_test.go", "func Test", "t.Parallel()"
    ),
    "- Read a file before you edit it.": ReadBeforeEdit(),
    "- House rule: Keep commits small.": Said("Keep commits small."),
}


@pytest.mark.parametrize(("line", "sentence"), FORMS.items())
def test_each_form_has_its_wording(line: str, sentence: Sentence) -> None:
    assert render(sentence) == line
    assert parse(line) == (sentence,)


@given(SENTENCES)
def test_every_sentence_survives_its_own_writing(sentence: Sentence) -> None:
    try:
        line = render(sentence)
    except Unphrasable:
        assert isinstance(sentence, Said)  # only free words may fail to come back as they were
        return
    assert "\n" not in line
    assert parse(f"---\nname: x\n---\n# T\n\n## Rules\n\n{line}\n") == (sentence,)
    assert locate(line)[0].text in line


@given(st.lists(SENTENCES, max_size=6))
def test_a_list_of_rules_is_read_in_order_and_later_ones_hold(sentences: list[Sentence]) -> None:
    lines = []
    for sentence in sentences:
        try:
            lines.append(render(sentence))
        except Unphrasable:
            continue
    found = parse("\n".join(lines))
    said = [parse(line)[0] for line in lines]
    assert all(sentence in said for sentence in found)
    if said:
        assert found[-1] == said[-1]
    assert not any(negates(a, b) for i, a in enumerate(found) for b in found[i + 1 :])


@given(st.text(max_size=200) | st.text("`-*#> \n.Usenot<!~", max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    for found in locate(text):
        assert render(found.sentence).startswith("- ")


@pytest.mark.parametrize(
    "slot", ["", "  ", "a\nb", "a\x1b[2J", "x" * 10_240, "a\u202eb", "<!-- SLOW_UPDATE_START -->", "\ud800", "a\u2028b"]
)
def test_hostile_slots_are_refused(slot: str) -> None:
    for sentence in (Use(slot, "x"), Use("x", slot), DoNotRun(slot), AlwaysWrite("", "x", slot), Said(slot)):
        with pytest.raises(Unphrasable):
            render(sentence)


def test_words_that_would_come_back_otherwise_are_refused() -> None:
    with pytest.raises(Unphrasable):
        render(Said(" keep it small"))
    with pytest.raises(Unphrasable):
        render(CheckBefore("git push", "mood"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Never run `x`.", (DoNotRun("x"),)),
        ("1. **Use `a` instead of `b`**", (Use("a", "b"),)),
        ("* Don't use `a`, use `b`.", (Use("b", "a"),)),
        ("Run the linter before `git push` because it is quick.", (CheckBefore("git push", "linter"),)),
        ("Text. Use `a`, not `b`. Do not run `c`. More.", (Use("a", "b"), DoNotRun("c"))),
        ("- Use `a`,\n  not `b`.\n", (Use("a", "b"),)),
        ("- Do not run `x` on Fridays.", ()),
        ("- Unless you must, do not run `x`.", ()),
        ("- ~~Do not run `x`.~~", ()),
        ("```\nDo not run `x`.\n```\n", ()),
        ("~~~text\nDo not run `x`.\n", ()),
        ("<!--\nDo not run `x`.\n-->\n- Do not run `y`.", (DoNotRun("y"),)),
        ("```\n<!--\n```\n- Do not run `y`.", (DoNotRun("y"),)),
        ("> Do not run `x`.", ()),
        ("---\nDo not run `x`.\n---\n", ()),
        ("<!--\n\n- Do not run `x`.\n\n-->", ()),
        ("para\n\n    Do not run `x`.\n", ()),
        ("# Do not run `x`.", ()),
        ("<!-- SLOW_UPDATE_START -->\n- Do not run `x`.\n<!-- SLOW_UPDATE_END -->", (DoNotRun("x"),)),
        ("- Use `a`, not `b`.\n- Use `b`, not `a`.", (Use("b", "a"),)),
        ("- Use `a`, not `b`.\n- Use `c`, not `b`.", (Use("c", "b"),)),
        ("- Do not run `b`.\n- Ask before you run `b`.", (AskBefore("b"),)),
        ("Do not run x.", ()),
    ],
)
def test_only_what_instructs_is_read(text: str, expected: tuple[Sentence, ...]) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Use("a", "b"), Use("b", "a")),
        (Use("a x", "b"), DoNotRun("a")),
        (RunBefore("c", "a x"), DoNotRun("a x")),
        (RunBefore("c", "npm test"), Use("pnpm", "npm")),
        (RunBefore("a", "b"), RunBefore("b", "a")),
        (AddFlag("a", "-f"), DropFlag("a", "-f")),
        (FileIs("p", "q"), FileIs("q", "p")),
        (FileIs("d/p", "q"), DoNotLookUnder("d")),
        (DoNotWrite(".go", "a", "b"), DoNotWrite(".go", "b")),
        (DoNotWrite(".go", "y()"), AlwaysWrite("_test.go", "x", "y()")),
    ],
)
def test_opposites_negate_each_other(one: Sentence, other: Sentence) -> None:
    assert negates(one, other)
    assert negates(other, one)


@given(SENTENCES)
def test_no_sentence_negates_itself(sentence: Sentence) -> None:
    assert not negates(sentence, sentence)


def test_the_subject_survives_other_advice_and_white_space() -> None:
    assert subject(Use("a", "npm  run")) == subject(Use("b", "npm run"))
    assert subject(DoNotWrite("*.go", "x")) == subject(DoNotWrite(".go", "x", "y", "E1"))
    assert subject(DoNotRun("x")) != subject(AskBefore("x"))
    assert subject(Said("Keep it small.")) == subject(Said("keep it  small"))


@given(SENTENCES)
def test_every_form_has_a_predicate_and_a_section(sentence: Sentence) -> None:
    assert predicate(sentence).endswith(".")
    assert section(sentence) in {"Rules", "Project facts", "Before you act"}
