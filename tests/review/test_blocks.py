"""Managed blocks: every byte outside the markers survives, and doubtful markers are refused."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.review import blocks
from skillopt_sleep.review.blocks import DamagedBlock

START = b"<!-- skillopt-sleep:acme start -->"
END = b"<!-- skillopt-sleep:acme end -->"

# Files as people have them: any bytes that are no NUL and no wide byte-order mark.
files = (
    st.one_of(
        st.lists(
            st.sampled_from([b"# A", b"x", b"\n", b"\r\n", b"\r", b"\xff\xfe", "é".encode(), b" ", b"<!-- x -->"])
        ).map(b"".join),
        st.binary(max_size=40),
    )
    .map(lambda raw: raw.replace(b"\0", b""))
    .filter(lambda raw: not raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)))
)
bodies = (
    st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), max_size=60)
    .map(lambda text: text.rstrip("\n"))
    .filter(bool)
)


@given(files, bodies)
def test_removing_an_added_block_gives_back_every_byte(raw: bytes, text: str) -> None:
    assert blocks.remove(blocks.put(raw, "acme", text), "acme") == raw


@given(files, bodies)
def test_the_body_that_was_put_is_read_back(raw: bytes, text: str) -> None:
    assert blocks.body(blocks.put(raw, "acme", text), "acme") == text + "\n"


@given(files, bodies, bodies)
def test_replacing_changes_nothing_outside_the_block(raw: bytes, one: str, other: str) -> None:
    first = blocks.put(raw, "acme", one)
    assert first.startswith(raw)
    assert blocks.put(blocks.put(first, "acme", other), "acme", one) == first


def test_a_block_in_the_middle_is_replaced_where_it_stands() -> None:
    raw = b"# Mine\r\n\r\n" + START + b"\r\nold\r\n" + END + b"\r\n\r\n# More \xff\r\nlast"
    new = blocks.put(raw, "acme", "- one\n- two\n")
    assert new == raw.replace(b"old", b"- one\r\n- two")
    assert blocks.remove(new, "acme") == b"# Mine\r\n\r\n# More \xff\r\nlast"


def test_a_new_block_is_set_off_by_a_blank_line_and_takes_the_newline_of_the_file() -> None:
    assert blocks.put(b"a\r\nb\r\n", "acme", "r") == b"a\r\nb\r\n\r\n" + START + b"\r\nr\r\n" + END + b"\r\n"


def test_a_missing_final_newline_stays_missing() -> None:
    assert blocks.put(b"a", "acme", "r") == b"a\n\n" + START + b"\nr\n" + END


def test_an_empty_file_gets_the_block_alone() -> None:
    assert blocks.put(b"", "acme", "r\n") == START + b"\nr\n" + END + b"\n"


def test_a_file_without_the_block_has_no_body_and_loses_nothing() -> None:
    assert blocks.body(b"a\n", "acme") is None
    assert blocks.remove(b"a\n", "acme") == b"a\n"


def test_blocks_of_other_names_are_left_alone() -> None:
    other = b"<!-- skillopt-sleep:acme-web start -->\nx\n<!-- skillopt-sleep:acme-web end -->\n"
    raw = blocks.put(other, "acme", "r")
    assert raw.startswith(other)
    assert blocks.body(raw, "acme-web") == "x\n"
    assert blocks.remove(raw, "acme") == other


def test_an_empty_body_is_no_body_lost() -> None:
    assert blocks.body(blocks.put(b"a\n", "acme", ""), "acme") == ""


@pytest.mark.parametrize(
    "raw",
    [
        START + b"\nr\n",
        b"r\n" + END + b"\n",
        END + b"\nr\n" + START + b"\n",
        (START + b"\nr\n" + END + b"\n") * 2,
        START + b"\n" + START + b"\nr\n" + END + b"\n",
        b"<!--skillopt-sleep:acme start-->\nr\n" + END + b"\n",
        START.upper() + b"\nr\n" + END + b"\n",
        START + b"\nr\n<!-- skillopt-sleep:acme end\n",
        START + b"\nr\nskillopt-sleep:acme end -->\n",
        START + b" r\n" + END + b"\n",
        START + b"\nr " + END + b"\n",
        START + END,
    ],
)
def test_damaged_or_doubled_markers_are_refused(raw: bytes) -> None:
    for act in (blocks.body, blocks.remove):
        with pytest.raises(DamagedBlock):
            act(raw, "acme")
    with pytest.raises(DamagedBlock):
        blocks.put(raw, "acme", "new")


def test_a_block_that_is_no_utf8_is_refused_to_read_and_can_be_removed() -> None:
    raw = START + b"\n\xff\n" + END + b"\n"
    with pytest.raises(DamagedBlock, match="not UTF-8"):
        blocks.body(raw, "acme")
    assert blocks.remove(raw, "acme") == b""


@pytest.mark.parametrize("raw", ["a".encode("utf-16"), "a".encode("utf-16-le"), b"a\0b"])
def test_utf16_and_binary_files_are_refused(raw: bytes) -> None:
    with pytest.raises(DamagedBlock, match="UTF-16 or binary"):
        blocks.put(raw, "acme", "r")


def test_a_text_that_holds_a_marker_is_refused() -> None:
    with pytest.raises(DamagedBlock, match="holds a marker"):
        blocks.put(b"", "acme", "x\n<!--  skillopt-sleep:other end -->\n")


@pytest.mark.parametrize("name", ["", "a--b", "A", "a -->", "a\nb"])
def test_a_name_that_could_break_the_marker_is_refused(name: str) -> None:
    with pytest.raises(DamagedBlock, match="no name of a block"):
        blocks.put(b"", name, "r")
