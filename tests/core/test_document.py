"""A document keeps every byte, and knows what each line is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_core.blocks import remind, reminders, with_guidance
from skillopt_core.document import Block, Kind, parse
from skillopt_core.frontmatter import description_span, quoted

MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "# Title", "## Rules", "### Deep", "- one", "  - nested", "1. first", "```", "```py", "~~~~", "> quote",
                "<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->", "<!-- APPENDIX_START -->",
                "<!-- APPENDIX_END -->", "---", "===", "", "   ", "text with `code`", "description: x", "| a | b |",
                "\x0b", "\u2028", "\ufeff", "- ```", "word",
            ]
        ),
        st.text(max_size=12),
    ),
    max_size=25,
)  # fmt: skip
ENDINGS = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Arbitrary Markdown with one or mixed line endings, with or without a byte order mark."""
    lines = draw(MARKDOWN)
    ends = draw(st.one_of(ENDINGS.map(lambda e: [e] * len(lines)), st.lists(ENDINGS, min_size=25, max_size=25)))
    text = "".join(line + end for line, end in zip(lines, ends, strict=False))
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "last"]))


@settings(deadline=None)
@given(st.one_of(st.text(), documents()))
def test_parse_then_render_is_the_identity_for_any_text(text: str) -> None:
    page = parse(text)
    assert "".join(page.lines) == text
    assert len(page.lines) == len(page.kinds) == len(page.starts)
    assert [text[start : start + 1] for start in page.starts] == [line[:1] for line in page.lines]


def test_lines_are_told_apart() -> None:
    text = (
        "---\nname: x\ndescription: d\n---\n# T\n\nUnder\n-----\n```\n# no heading\n```\n"
        "<!-- APPENDIX_START -->\n- a\n<!-- APPENDIX_END -->\nend\n"
    )
    page = parse(text)
    assert [kind.name for kind in page.kinds] == (
        ["FRONT"] * 4 + ["HEADING", "TEXT", "HEADING", "HEADING"] + ["FENCE"] * 3 + ["GUARD"] * 3 + ["TEXT"]
    )
    assert [(h.level, h.title) for h in page.headings] == [(1, "T"), (2, "Under")]
    assert page.description == "d"


def test_an_unclosed_protected_block_protects_the_rest() -> None:
    page = parse("a\n<!-- SLOW_UPDATE_START -->\nb\n# c\n")
    assert page.kinds[1:] == (Kind.GUARD,) * 3
    assert page.blocks == (Block("SLOW_UPDATE", 1, 3),)
    assert page.headings == ()


def test_a_marker_inside_a_code_fence_is_an_example() -> None:
    page = parse("```\n<!-- APPENDIX_START -->\n```\ntext\n")
    assert page.blocks == ()
    assert page.kinds[-1] is Kind.TEXT


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    page = parse("````\n```\nstill code\n````\ntext\n")
    assert page.kinds == (Kind.FENCE,) * 4 + (Kind.TEXT,)


def test_frontmatter_needs_its_closing_line() -> None:
    assert parse("---\nname: x\n").frontmatter == ""
    assert parse("\ufeff---\r\nname: x\r\n---\r\n").frontmatter.startswith("\ufeff---")


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("description: plain words # note", "plain words"),
        ("description: 'it''s'", "it's"),
        ('description: "a \\"b\\" \\u00e9"', 'a "b" é'),
        ("description: >-\n  folded\n  text", "folded text"),
        ("description: one\n  two", "one two"),
    ],
)
def test_a_description_is_read_in_each_scalar_style(yaml: str, value: str) -> None:
    assert parse(f"---\nname: x\n{yaml}\nother: y\n---\nbody\n").description == value


@settings(deadline=None)
@given(st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), max_size=60))
def test_a_written_description_reads_back(value: str) -> None:
    span = description_span(f"---\ndescription: {quoted(value)}\n---\n")
    assert span is not None
    assert span.value == " ".join(value.split(" ")) or " ".join(span.value.split()) == " ".join(value.split())


def test_reminders_are_deduplicated_by_meaning_and_bounded() -> None:
    text = "# T\r\n\r\nbody"
    once, _ = remind(text, "Run the tests.")
    assert once.startswith(text)
    assert remind(once, "- run the  tests") == (once, ["the appendix already says it"])
    for n in range(30):
        once, _ = remind(once, f"Reminder {n} " + "x" * 100)
    kept = reminders(parse(once))
    assert len(kept) <= 10
    assert sum(map(len, kept)) <= 1500
    assert kept[-1].startswith("Reminder 29")
    assert once.count("APPENDIX_START") == 1


def test_reminders_that_find_no_room_in_one_go_are_named() -> None:
    text, whys = remind("# T\n", *(f"Reminder {n}." for n in range(12)), "x" * 1501, "reminder 11")
    assert reminders(parse(text)) == [f"Reminder {n}." for n in range(2, 12)]
    assert [why.partition(":")[0] for why in whys] == [
        *["the appendix is full"] * 2, *[""] * 10,
        "a reminder has at most 1500 characters", "the appendix already says it",
    ]  # fmt: skip
    assert remind("```\nopen", "Later.") == ("```\nopen", ["the document ends inside an open code fence"])


def test_guidance_replaces_its_block_and_nothing_else() -> None:
    text = "a\n<!-- SLOW_UPDATE_START -->\nold\n<!-- SLOW_UPDATE_END -->\nb"
    assert with_guidance(text, "- new") == "a\n<!-- SLOW_UPDATE_START -->\n- new\n<!-- SLOW_UPDATE_END -->\nb"
    assert with_guidance(text, "x <!-- SLOW_UPDATE_END --> y") == text
    assert with_guidance(text, "```\nopen") == text
