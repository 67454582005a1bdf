"""Nothing that a transcript says steers a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.redact import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text\twith a tab\nand a line", "plain text\twith a tab\nand a line"),
        ("\x1b[31mred\x1b[0m \x1b[1;38;5;12mbold\x1b[m", "red bold"),
        ("\x1b[2J\x1b[Hcleared", "cleared"),
        ("\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "text link"),
        ("\x1b]52;c;c2VjcmV0\x07after", "after"),
        ("\x1bP1$r0m\x1b\\dcs \x1b_apc\x1b\\ \x9b31mc1\x9dosc\x9c", "dcs  c1"),
        ("\x1bc reset \x1b(B charset \x1b7", " reset  charset "),
        ("overwritten\rwith this", "overwrittenwith this"),
        ("back\x08\x08space, bell\x07, nul\x00, del\x7f, nel\x85next", "backspace, bell, nul, del, nel\nnext"),
        ("a\r\nb\u2028c", "a\nb\nc"),
        ("user\u202egnp.exe\u202c \u2066x\u2069 \u200ey\u200f", "usergnp.exe x y"),
        ("zero\u200bwidth \ufeffmark, tag\U000e0041\U000e007f", "zerowidth mark, tag"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("unfinished \x1b[31", "unfinished 31"),
        ("Größe 日本 👩\u200d💻 नमस्\u200dते", "Größe 日本 👩\u200d💻 नमस्\u200dते"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(
    st.text(st.one_of(st.sampled_from("\x1b[]0;m\x07\\\x9b\x9c\x9dP\r\n\u202e"), st.characters(exclude_categories=())))
)
def test_no_control_character_survives_and_nothing_changes_twice(text: str) -> None:
    shown = printable(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n"]
    assert not [
        c
        for c in shown
        if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    ]
    assert printable(shown) == shown
    shown.encode()
