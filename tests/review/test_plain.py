"""Other people's text, made harmless for terminal, Markdown and HTML."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.review.plain import code, escaped, escaped_rule, fenced, kept_line, markdown, one_line

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@given(st.text())
def test_a_line_holds_no_control_and_no_line_break(text: str) -> None:
    for made in (one_line(text), kept_line(text), markdown(text), code(text), escaped(text), escaped_rule(text)):
        assert CONTROLS.search(made) is None
        assert len(made.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("a\r\n\tb", "a b"),
        ("\u202egnp.exe", "gnp.exe"),
    ],
)
def test_terminal_sequences_are_gone(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_a_long_line_is_cut_with_an_ellipsis() -> None:
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    "text",
    [
        "# heading",
        "1. list",
        "- list",
        "+ list",
        "> quote",
        "**bold** and _em_",
        "[x](http://evil.invalid)",
        "http://evil.invalid and www.evil.invalid",
        "<b>html</b>",
        "`code` | table ~~gone~~",
        "@someone $x$ &amp;",
        "---",
        "===",
    ],
)
def test_markdown_is_shown_and_not_obeyed(text: str) -> None:
    made = markdown(text)
    assert re.sub(r"\\(?=[^a-z\s])", "", made) == text  # only backslashes were added
    assert not re.match(r"(#|\d+[.)]|[-+>=])", made)
    assert not re.search(r"(?<!\\)[`*_\[\]<>&|~$@]", made)
    assert not re.search(r"https?://|www\.", made)


@given(st.text(alphabet="`a \\", min_size=1, max_size=12))
def test_a_code_span_holds_any_backticks(text: str) -> None:
    made = code(text)
    fence = re.match(r"`+", made)
    assert fence is not None
    inner = made[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall(r"`+", inner)
    assert inner.strip() == one_line(text).strip()


@given(st.text(alphabet="`a\n~", max_size=20))
def test_a_code_block_cannot_be_closed_from_inside(text: str) -> None:
    first, *inner, last = fenced(text).split("\n")
    assert first == last
    assert not any(line.strip().startswith(first) for line in inner)


@given(st.text())
def test_html_is_text_and_nothing_else(text: str) -> None:
    made = escaped_rule(text)
    bare = made.replace("<code>", "").replace("</code>", "")
    assert not re.search(r"[<>\"']", bare)
    assert "<" not in escaped(text)
    assert html.unescape(escaped(text)) == one_line(text)


def test_what_stands_in_backticks_is_code() -> None:
    assert escaped_rule("Use `a<b`, not ``c`d``.") == "Use <code>a&lt;b</code>, not <code>c`d</code>."


def test_the_indentation_of_a_document_is_kept() -> None:
    assert kept_line("  a\tb\x1b[1m  c") == "  a    b  c"
