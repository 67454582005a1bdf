"""Hard and soft scores, and what a critic is told of a check that failed."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_core.types import Missing, Score
from skillopt_sleep.checks import BUILT_IN, BadArgument, Check, Need, compiled, lacking, score, shape_only
from skillopt_sleep.checks.examples import NoExample, example_of
from skillopt_sleep.checks.patterns import compile_pattern
from skillopt_sleep.critics.imperatives import demanded
from skillopt_sleep.domain.answers import Answer

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta"])


@given(st.lists(st.tuples(WORDS, st.floats(0.01, 100)), min_size=1, max_size=8), st.sets(WORDS))
def test_hard_is_all_and_soft_is_the_weighted_share(pairs, said):
    got = score([Check("contains", word, weight) for word, weight in pairs], Answer(" ".join(sorted(said))))
    assert isinstance(got, Score)
    passed = [weight for word, weight in pairs if word in said]
    assert got.hard == float(len(passed) == len(pairs))
    assert math.isclose(got.soft, sum(passed) / sum(weight for _, weight in pairs))
    assert len(got.failed) == len(pairs) - len(passed)


@given(
    st.text(max_size=300),
    st.lists(st.sampled_from([k for k in BUILT_IN if k not in {"command", "rubric"}]), min_size=1),
)
def test_any_text_gets_a_score_in_the_unit_interval(text, kinds):
    got = score([Check(kind, BUILT_IN[kind].example) for kind in kinds], Answer(text, tools=(), files={}))
    assert isinstance(got, Score)
    assert got.hard in {0.0, 1.0}
    assert got.hard <= got.soft <= 1
    assert (got.soft == 1) == (not got.failed)


@pytest.mark.parametrize("weight", [0, -1, math.inf, math.nan])
def test_a_weight_is_above_zero(weight):
    with pytest.raises(BadArgument, match="above zero"):
        compiled([Check("contains", "x", weight)])


def test_no_checks_are_no_judgement():
    with pytest.raises(BadArgument):
        compiled([])


@pytest.mark.parametrize("kind", ["regex", "file_state", "json_schema"])
def test_a_pattern_that_explodes_elsewhere_is_matched_at_once(kind):
    evil = r"^(a+)+$"
    argument = {"regex": evil, "file_state": {"path": "f", "matches": evil}, "json_schema": {"pattern": evil}}[kind]
    text = "a" * 100_000 + "b"
    answer = Answer(f'"{text}"' if kind == "json_schema" else text, files={"f": text.encode()})
    began = time.process_time()
    got = score([Check(kind, argument)], answer)
    assert isinstance(got, Score)
    assert got.hard == 0
    assert time.process_time() - began < 10, "a backtracking engine would need longer than the universe has"


HIDDEN = [
    ("regex", r"[Cc]onfidence\s*[:=]"),
    ("regex", r"(?i)sentinel file"),
    ("contains", "ACME_ORG"),
    ("exact", "42 Elm Street"),
    ("normalised", "Elm Street"),
    ("number", 1234),
    ("max_chars", 1200),
    ("min_chars", 200),
    ("not_contains", "as an AI"),
    ("json_schema", {"type": "object", "required": ["verdict"]}),
    ("section_contains", {"section": "Risks", "text": "likelihood of churn"}),
    ("file_state", {"path": "notes.md", "equals": "the answer"}),
]


@pytest.mark.parametrize(("kind", "argument"), HIDDEN)
def test_what_is_told_of_a_failed_check_never_quotes_it(kind, argument):
    bad = "as an AI " * 400 if kind in {"max_chars", "not_contains"} else "no"
    got = score([Check(kind, argument)], Answer(bad, files={"notes.md": b"x"}))
    assert isinstance(got, Score)
    assert got.hard == 0
    quoted = argument if not isinstance(argument, dict) else argument.get("text") or argument.get("equals") or argument
    assert str(quoted) not in got.failed[0]
    assert f"{quoted:,}" not in got.failed[0] if isinstance(quoted, int) else True
    assert got.failed[0][0].isupper()


def test_content_is_kept_secret_and_form_is_shown_by_an_example():
    form = compiled([Check("regex", r"[Cc]onfidence\s*[:=]"), Check("contains", "## Key Risks")])
    assert form.score(Answer("")).failed[0].endswith("for example:\nConfidence: …")
    assert form.score(Answer("")).failed[1].endswith("for example:\n## Key Risks")
    assert form.secrets == (r"[Cc]onfidence\s*[:=]",)
    content = compiled([Check("contains", "ACME_ORG"), Check("exact", ["a b c", "d e f"])])
    assert content.secrets == ("ACME_ORG", "a b c", "d e f")


@pytest.mark.parametrize(
    ("check", "order"),
    [
        (Check("regex", r"[Cc]onfidence\s*[:=]"), "Label"),
        (Check("section_present", "Key Risks"), "Heading"),
        (Check("max_chars", 1200), "Limit"),
        (Check("tool_called", "search"), "Tool"),
    ],
)
def test_a_critic_can_read_from_it_what_would_mend_the_answer(check, order):
    got = score([check], Answer("x" * 2000, tools=()))
    assert isinstance(got, Score)
    assert [type(one).__name__ for one in demanded(got.failed[0])] == [order]


@given(st.from_regex(r"(\(\?i\))?([a-c][+*?]?|\[a-c]|\[\^a]|\\d|\(ab|c\)|\(a\|b\)|x{2}|\.){0,6}", fullmatch=True))
def test_an_example_of_a_pattern_never_fails_otherwise_than_by_having_none(pattern):
    try:
        example_of(pattern)
    except NoExample:
        pass


@pytest.mark.parametrize(
    ("pattern", "example"),
    [
        (r"[Rr]ecommendation\s*[:=]", "Recommendation:"),
        (r"(?i)^(?:yes|no)\b", "yes"),
        (r"\d{4}-\d{2}", "0000-00"),
        (r"[^a-z]+x", None),
        (r"(?P<word>[A-Z])\.", "A."),
    ],
)
def test_an_example_matches_its_pattern(pattern, example):
    made = example_of(pattern)
    assert compile_pattern(pattern).search(made)
    assert example is None or made == example


def test_what_an_agent_does_not_offer_is_named():
    checks = [Check("max_chars", 9), Check("tool_called", "search")]
    assert lacking(checks, frozenset(Need)) is None
    found = lacking(checks, frozenset({Need.FILES}))
    assert found is not None
    assert found[0] == checks[1]
    assert "tools" in found[1]
    assert "another agent" in found[2]
    walled = lacking([Check("command", {"run": ["true"]})], frozenset({Need.FILES}))
    assert walled is not None
    assert ("sandbox" in walled[1], "bubblewrap" in walled[2]) == (True, True)


def test_checks_of_shape_alone_are_flagged():
    assert shape_only([Check("max_chars", 9), Check("section_present", "Risks")])
    assert not shape_only([Check("max_chars", 9), Check("contains", "churn")])


def test_a_heading_or_a_label_that_must_stand_in_an_answer_is_shape_and_a_number_is_content():
    for form in ("## Key Risks", "Confidence:", "**Verdict:**", "```json"):
        assert shape_only([Check("contains", form)])
    for content in ("42", "risks", "## Risks\nchurn", "Verdict: yes"):
        assert not shape_only([Check("contains", content)])
    assert not shape_only([Check("not_contains", "## Key Risks")])


def test_a_model_is_asked_last_and_not_at_all_where_a_rule_cannot_tell():
    def grade(_rubric):
        asked.append(_rubric)
        return 0.7

    asked = []
    checks = [Check("rubric", {"rubric": "It is short.", "pass": 0.7}), Check("tool_called", "search")]
    assert isinstance(score(checks, Answer("ok", grade=grade)), Missing)
    assert asked == []
    said = score(checks, Answer("ok", tools=(), grade=grade))
    assert isinstance(said, Score)
    assert (said.hard, said.soft, said.objectives) == (0.0, 0.5, {"rubric": 1.0, "rules": 0.0})
    assert asked == ["It is short."]
    assert score(checks[1:], Answer("ok", tools=(), grade=grade)).objectives == {}
