"""Each kind of check: what passes, what does not, what cannot tell, and which arguments mean nothing."""

from __future__ import annotations

import pytest

from skillopt_core.types import Missing, Score
from skillopt_sleep.checks import BUILT_IN, BadArgument, Check, compiled, score
from skillopt_sleep.domain.answers import Answer

BRIEF = (
    "# Brief\n\nShip it.\n\n## **1. Key Risks:**\n\n- Churn\n\n### Detail\n\nOf churn.\n\n## Next\n\nConfidence: 70 %\n"
)
FENCED = "Look:\n\n```\n## Key Risks\n```\n"
FILES = {"a.txt": b"one\r\ntwo\n", "b.bin": b"\xff"}

JUDGED = [
    ("contains", "Ship it.", BRIEF, True),
    ("contains", "ship it.", BRIEF, False),
    ("contains", "e\u0301", "caf\u00e9", True),
    ("contains", "a\nb", "a\r\nb", True),
    ("not_contains", "as an AI", BRIEF, True),
    ("not_contains", "Ship", BRIEF, False),
    ("regex", r"[Cc]onfidence\s*[:=]", BRIEF, True),
    ("regex", r"^Confidence", BRIEF, False),
    ("regex", r"(?m)^Confidence", BRIEF, True),
    ("regex", r"(?i)SHIP", BRIEF, True),
    ("regex", "x", "half \ud800 a character x", True),
    ("max_chars", 5, " 12345 \n", True),
    ("max_chars", 5, "123456", False),
    ("max_chars", "5", "12345", True),
    ("max_chars", 2, "\U0001f600\U0001f600", True),
    ("max_chars", 1, "", True),
    ("min_chars", 5, " 1234 ", False),
    ("min_chars", 5, "12345", True),
    ("section_present", "Key Risks", BRIEF, True),
    ("section_present", "## key  risks", BRIEF, True),
    ("section_present", "Risks", BRIEF, False),
    ("section_present", "Key Risks", FENCED, False),
    ("section_present", "Key Risks", "**Key Risks**\n\n- Churn\n", False),
    ("section_present", "Key Risks", "Key Risks\n=========\n", True),
    ("section_contains", {"section": "Key Risks", "text": "Of churn."}, BRIEF, True),
    ("section_contains", {"section": "Key Risks", "text": "70 %"}, BRIEF, False),
    ("section_contains", {"section": "Absent", "text": "Churn"}, BRIEF, False),
    ("no_refusal", None, BRIEF, True),
    ("no_refusal", None, "", False),
    ("no_refusal", None, "I’m sorry, but I can’t help with that.", False),
    ("no_refusal", None, "As an AI language model, I cannot have opinions.", False),
    ("no_refusal", None, "I am unable to complete this request.", False),
    ("no_refusal", None, "You cannot provide a negative number here.", True),
    ("no_refusal", None, "x" * 400 + " I cannot help with that.", True),
    ("min_citations", 2, "As [1] and [Source: the board] say.", True),
    ("min_citations", 2, "As [the board](notes.md) says.", False),
    ("min_citations", 1, "A list: [ ] and a[0].b", True),
    ("exact", "42 Elm", " 42 Elm\n", True),
    ("exact", "42 Elm", "42 elm", False),
    ("exact", ["a", "b"], "b", True),
    ("normalised", "The Elm-Street!", "elm street", True),
    ("normalised", ["x", "Elm St."], "  ELM   ST ", True),
    ("normalised", "Elm", "Elm Street", False),
    ("number", 42, "First 7, then **42**.", True),
    ("number", 42, "42, or rather 43", False),
    ("number", 1234.5, "It costs $1,234.50.", True),
    ("number", 42, "x42", False),
    ("number", -3, "about −3 %", True),
    ("number", 0.5, "p = .5", True),
    ("number", {"value": 9.81, "absolute": 0.01}, "9.82", True),
    ("number", {"value": 9.81, "absolute": 0.01}, "9.83", False),
    ("number", {"value": 1000, "relative": 0.1}, "1100", True),
    ("number", 1, "no number", False),
    ("json_schema", {"type": "object", "required": ["a"]}, '{"a": 1}', True),
    ("json_schema", {"type": "object", "required": ["a"]}, 'Here:\n\n```json\n{"a": 1}\n```\nDone.', True),
    ("json_schema", {"type": "object", "required": ["a"]}, '{"b": 1}', False),
    ("json_schema", {"type": "number"}, "NaN", False),
    ("json_schema", {"type": "array"}, "[" * 100_000, False),
    ("json_schema", {"type": "string", "pattern": "^(a+)+$"}, '"' + "a" * 5000 + 'b"', False),
    ("tool_called", "search", ("search", "read"), True),
    ("tool_called", "search", ("Search",), False),
    ("tool_called", "search", (), False),
    ("tool_not_called", "search", (), True),
    ("tool_not_called", "search", ("search",), False),
    ("file_state", {"path": "a.txt", "exists": True}, FILES, True),
    ("file_state", {"path": "./c.txt", "exists": True}, FILES, False),
    ("file_state", {"path": "c.txt", "exists": False}, FILES, True),
    ("file_state", {"path": "a.txt", "equals": "one\ntwo"}, FILES, True),
    ("file_state", {"path": "a.txt", "contains": "two"}, FILES, True),
    ("file_state", {"path": "a.txt", "not_contains": "two"}, FILES, False),
    ("file_state", {"path": "c.txt", "not_contains": "two"}, FILES, False),
    ("file_state", {"path": "a.txt", "matches": "(?m)^two$"}, FILES, True),
    ("file_state", {"path": "b.bin", "contains": "x"}, FILES, False),
]

MEANINGLESS = [
    ("contains", ""),
    ("contains", 3),
    ("regex", "(a"),
    ("regex", "(?=a)b"),
    ("regex", r"(a)\1"),
    ("regex", "(a{1000}){1000}"),
    ("regex", "a" * 20_000),
    ("max_chars", -1),
    ("max_chars", True),
    ("max_chars", 1.5),
    ("section_contains", "Key Risks"),
    ("section_contains", {"section": "Key Risks"}),
    ("section_contains", {"section": "Key Risks", "text": "x", "txt": "y"}),
    ("no_refusal", "sorry"),
    ("exact", []),
    ("normalised", "The!"),
    ("number", "42"),
    ("number", {"value": 1, "absolute": -1}),
    ("json_schema", {"type": "wrong"}),
    ("json_schema", {"$ref": "http://schema.example/a.json"}),
    ("json_schema", {"$ref": "file:///etc/hostname"}),
    ("json_schema", {"pattern": "(?=a)b"}),
    ("json_schema", "object"),
    ("tool_called", None),
    ("file_state", {"path": "../a", "exists": True}),
    ("file_state", {"path": "/a", "exists": True}),
    ("file_state", {"path": "a"}),
    ("file_state", {"path": "a", "exists": True, "equals": "x"}),
    ("command", "pytest -q"),
    ("command", {"run": ["true"], "status": 300}),
    ("command", {"run": ["true"], "status": 127}),
    ("command", {"run": ["true"], "seconds": 0}),
    ("command", {"run": ["true"], "seconds": True}),
    ("rubric", {"rubric": "good", "model": ""}),
    ("rubric", {"pass": 0.5}),
    ("rubric", {"rubric": "good", "pass": 0}),
    ("nothing_of_the_kind", "x"),
]


def answered(given: object) -> Answer:
    """An answer in words, of tools that were called, or of files that were left."""
    if isinstance(given, str):
        return Answer(given)
    return Answer("", tools=given) if isinstance(given, tuple) else Answer("", files=given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "argument", "given", "passes"), JUDGED)
def test_a_kind_means_what_its_page_says(kind, argument, given, passes):
    got = score([Check(kind, argument)], answered(given))
    assert isinstance(got, Score)
    assert got.hard == got.soft == float(passes)


def test_every_kind_is_judged_here():
    assert {kind for kind, *_ in JUDGED} == set(BUILT_IN) - {"command", "rubric"}


@pytest.mark.parametrize(("kind", "argument"), MEANINGLESS)
def test_an_argument_without_meaning_is_refused_when_it_is_read(kind, argument):
    with pytest.raises(BadArgument) as caught:
        compiled([Check(kind, argument)])
    assert caught.value.key.startswith("checks[0].")
    assert caught.value.wrong
    assert caught.value.right


@pytest.mark.parametrize("kind", ["command", "rubric"])
def test_what_nobody_could_judge_is_missing_and_never_a_score(kind):
    got = score([Check("max_chars", 9), Check(kind, BUILT_IN[kind].example)], Answer("ok", tools=(), files={}))
    assert isinstance(got, Missing)


@pytest.mark.parametrize("kind", ["tool_called", "tool_not_called", "file_state"])
def test_what_was_not_recorded_is_missing_and_never_a_score(kind):
    assert isinstance(score([Check(kind, BUILT_IN[kind].example)], Answer("ok")), Missing)


@pytest.mark.parametrize("kind", BUILT_IN.values(), ids=list(BUILT_IN))
def test_a_kind_reads_its_own_example(kind):
    assert compiled([Check(kind.name, kind.example)])
