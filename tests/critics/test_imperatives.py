"""The simulator's imperative grammar: what a text orders, and that every order is read back as it was written."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.critics.imperatives import Form, Heading, Label, Length, Limit, Order, Tool, orders, phrase, read
from skillopt_sleep.critics.spans import Unphrasable

WORDS = st.from_regex(r"[A-Z][a-z]{1,8}( [a-z]{1,8}){0,2}", fullmatch=True)
ORDERS: st.SearchStrategy[Order] = st.one_of(
    st.builds(Heading, WORDS, st.booleans()),
    st.builds(Label, WORDS, st.sampled_from(["", "high", "7 of 9"]), st.booleans()),
    st.builds(Limit, st.integers(1, 100_000)),
    st.builds(Length, st.booleans()),
    st.builds(Tool, st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True), st.booleans()),
    st.just(Tool("", wanted=False)),
)


@given(ORDERS)
def test_every_order_is_read_back_as_it_was_written(order: Order) -> None:
    assert read(phrase(order)) == (order,)


def test_what_could_not_be_read_back_is_not_written() -> None:
    with pytest.raises(Unphrasable):
        phrase(Heading('a "quoted" heading'))
    with pytest.raises(Unphrasable):
        phrase(Form("one\ntwo"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('Include a section headed "Open points" and end with a line "Level: high".',
         (Heading("Open points"), Label("Level", "high"))),
        ("Each answer must contain `## Open points`.", (Heading("Open points"),)),
        ('It should have an "Open points" section.', (Heading("Open points"),)),
        ("Never write the line 'Level: high'.", (Label("Level", "high", wanted=False),)),
        ("Use the `lookup` tool before you answer.", (Tool("lookup"),)),
        ("Don't call `lookup`.", (Tool("lookup", wanted=False),)),
        ("Reply without tools.", (Tool("", wanted=False),)),
        ("Don't exceed 1,200 characters.", (Limit(1200),)),
        ("The reply must stay under 200 words.", (Limit(1000),)),
        ("Use no tools — just reply concisely.", (Tool("", wanted=False), Length(exhaustive=False))),
        ("Write it in full detail, from every angle.", (Length(exhaustive=True),)),
        ("Do not elaborate.", (Length(exhaustive=False),)),
    ],
)  # fmt: skip
def test_orders_are_read_from_prose(line: str, expected: tuple[Order, ...]) -> None:
    assert read(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        'The heading "Open points" comes from an older form.',
        "Answers of 300 characters were common.",
        "Answer the question that was asked.",
        "They called it a tool of the trade.",
    ],
)
def test_what_orders_nothing_is_no_order(line: str) -> None:
    assert read(line) == ()


def test_what_does_not_instruct_is_not_obeyed() -> None:
    text = "---\ndescription: Call the tool `a`.\n---\n# Call the tool `b`\n\n> Call the tool `c`.\n\n"
    assert orders(text + "```\nCall the tool `d`.\n```\n<!-- Call the tool `e`. -->\n") == ()


def test_a_later_line_wins() -> None:
    assert orders("- Call the tool `x`.\n- Do not use any tools.\n") == (Tool("", wanted=False),)
    assert orders("- Do not use any tools.\n- Call the tool `x`.\n") == (Tool("", wanted=False), Tool("x"))
    assert orders('- Include the heading "A".\n- Leave out the heading "a".\n') == (Heading("a", wanted=False),)
    assert orders("- At most 300 characters.\n- At most 90 characters.\n") == (Limit(90),)
    assert orders("- At most 300 characters.\n- Be exhaustive.\n") == (Length(exhaustive=True),)
    assert orders("- Be exhaustive.\n- At most 300 characters.\n") == (Length(exhaustive=True), Limit(300))


def test_a_form_reaches_to_the_next_order() -> None:
    text = "Structure your reply exactly like this:\n\nIt depends.\n\n## Points\n- One.\n\nDo not elaborate.\n"
    assert orders(text) == (Form("It depends.\n\n## Points\n- One."), Length(exhaustive=False))


def test_a_hostile_text_is_read_in_time_that_grows_with_its_length() -> None:
    for piece in ('"', "exactly like this ", "at most 1,", "do not ", "Call `", "A: "):
        began = time.process_time()
        orders(piece * (100_000 // len(piece)))
        assert time.process_time() - began < 5, piece
