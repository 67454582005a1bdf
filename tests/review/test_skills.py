"""Skill documents: what the Agent Skills specification refuses, and the skeletons that pass it."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.review import skills


def skill(name: str = "tidy", description: str = "Keeps things tidy.", body: str = "# Tidy\n") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}"


def test_a_valid_skill_has_no_problems() -> None:
    assert skills.problems(skill(), "tidy") == ()


@pytest.mark.parametrize("prefix", ["", "\ufeff"])
def test_a_byte_order_mark_and_crlf_are_tolerated(prefix: str) -> None:
    assert skills.problems(prefix + skill().replace("\n", "\r\n"), "tidy") == ()


@pytest.mark.parametrize(
    "name", ["Tidy", "-tidy", "tidy-", "ti--dy", "ti_dy", "ti dy", "é", "a" * 65, "'1:2'", "''", "tidy.", "tidy\u2013x"]
)
def test_a_name_outside_the_specification_is_a_problem(name: str) -> None:
    assert any(p.startswith("name:") for p in skills.problems(skill(name), name.strip("'")))


def test_a_name_that_yaml_reads_as_a_number_is_a_problem() -> None:
    assert skills.problems(skill("123"), "123") == ("name: 123 is not text; put it in quotes",)


def test_a_name_unlike_its_folder_is_a_problem() -> None:
    assert skills.problems(skill("tidy"), "neat") == ("name: 'tidy' differs from its folder 'neat'",)


@pytest.mark.parametrize(("length", "valid"), [(1, True), (1024, True), (1025, False)])
def test_a_description_has_one_to_1024_characters(length: int, valid: bool) -> None:
    assert (skills.problems(skill(description="d" * length), "tidy") == ()) is valid


@pytest.mark.parametrize("description", ["", "''", "'  '", "[a]", "3"])
def test_a_description_that_is_no_text_is_a_problem(description: str) -> None:
    assert skills.problems(skill(description=description), "tidy") == ("the frontmatter has no description",)


@pytest.mark.parametrize(
    "text", ["", "# Tidy\n", "---\nname: tidy\n", "--- x\nname: tidy\n---\n", "---\n: [\n---\n", "---\n- a\n---\n"]
)
def test_frontmatter_that_is_missing_open_or_unparsable_is_a_problem(text: str) -> None:
    found = skills.problems(text, "tidy")
    assert len(found) == 1
    assert "frontmatter" in found[0]


def test_a_python_object_in_the_frontmatter_is_never_made() -> None:
    text = "---\nname: !!python/object/apply:os.getcwd []\ndescription: d\n---\n"
    assert "does not parse" in skills.problems(text, "tidy")[0]


def test_a_date_that_does_not_exist_is_a_problem_not_a_crash() -> None:
    assert "does not parse" in skills.problems("---\nname: x\ndescription: d\nwhen: 2026-99-99\n---\n", "x")[0]


@given(st.text(min_size=1, max_size=200))
def test_a_new_skill_is_valid_and_says_its_description_back(description: str) -> None:
    words = " ".join(description.encode("utf-8", "ignore").decode().split())
    try:
        text = skills.new_learned_skill("tidy", words)
    except ValueError:
        assert not words.strip() or not words.isprintable()
        return
    assert yaml.safe_load(text.split("---\n")[1])["description"] == words


def test_a_new_skill_has_the_sections_that_rules_go_to() -> None:
    text = skills.new_learned_skill("tidy", "yes: no # really")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Rules",
        "## Project facts",
        "## Before you act",
    ]


def test_names_that_yaml_would_misread_are_quoted() -> None:
    assert skills.problems(skills.new_learned_skill("123", "d"), "123") == ()
    assert skills.problems(skills.new_learned_skill("on", "d"), "on") == ()


@pytest.mark.parametrize("kind", ["learned", "memory"])
def test_a_skeleton_is_the_same_every_night(kind: str) -> None:
    document = Document("acme-api", kind, "p1")  # type: ignore[arg-type]
    assert skills.skeleton(document) == skills.skeleton(document)
    assert "## Rules" in skills.skeleton(document)


def test_a_hand_written_skill_has_no_skeleton() -> None:
    with pytest.raises(ValueError, match="never made anew"):
        skills.skeleton(Document("mine", "hand-written", "user"))


@pytest.mark.parametrize(
    ("project", "name"),
    [
        ("Acme API", "acme-api"),
        ("cli_history", "cli-history"),
        ("Čeština", "cestina"),
        ("日本", "project"),
        ("--", "project"),
        ("aux", "aux-project"),
        ("a" * 80, "a" * 54),
    ],
)
def test_a_slug_is_a_valid_name(project: str, name: str) -> None:
    assert skills.slug(project) == name


def test_slugs_that_differ_by_case_alone_are_told_apart() -> None:
    assert skills.slug("Research", taken=["RESEARCH", "research-2"]) == "research-3"


@given(st.text(max_size=90), st.lists(st.text(max_size=5), max_size=3))
def test_every_slug_is_valid_and_new(project: str, taken: list[str]) -> None:
    name = skills.slug(project, taken)
    assert skills.problems(skills.new_learned_skill(name, "d"), name) == ()
    skills.check_file_names([name])
    assert name not in {t.casefold() for t in taken}


@pytest.mark.parametrize("name", ["a:b", "name.", "name ", "con", "COM1", "nul.txt", "a/b", "..", "", "a\x00b", "lpt¹"])
def test_names_that_some_system_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(AdoptionError):
        skills.check_file_names([name])


@pytest.mark.parametrize(
    ("one", "other"), [("Research", "research"), ("caf\u00e9", "cafe\u0301"), ("Stra\u00dfe", "STRASSE")]
)
def test_names_that_are_one_name_elsewhere_are_refused(one: str, other: str) -> None:
    with pytest.raises(AdoptionError, match="only by case"):
        skills.check_file_names([one, other])
