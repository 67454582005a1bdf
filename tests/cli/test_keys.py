"""Keys by name, from what a terminal sends."""

from __future__ import annotations

import os
import pty
import termios

import pytest

from skillopt_sleep.cli.keys import keys, named, raw


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("a", ["a"]),
        ("\x1b[A\x1b[B", ["up", "down"]),
        ("\x1bOA", ["up"]),
        ("\x1b[5~\x1b[6~", ["pgup", "pgdn"]),
        ("\t\r\n", ["tab", "enter", "enter"]),
        ("\x7f\b", ["backspace", "backspace"]),
        ("\x1b", ["esc"]),
        ("\x1b[1;5Cx", ["x"]),
        ("\x1b[200~y", ["y"]),
        ("\x1bfz", ["z"]),
        ("éß", ["é", "ß"]),
        ("1a", ["1", "a"]),
    ],
)
def test_what_is_sent_is_cut_into_keys(sent: str, read: list[str]) -> None:
    assert list(named(sent)) == read


def test_keys_come_one_by_one_and_end_with_an_interrupt_and_the_terminal_is_as_before() -> None:
    ours, theirs = pty.openpty()
    try:
        before = termios.tcgetattr(theirs)
        with raw(theirs):
            os.write(ours, b"a\x1b[Bq\x03z")
            assert list(keys(theirs)) == ["a", "down", "q"]
        assert termios.tcgetattr(theirs) == before
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_window_of_another_size_is_a_key() -> None:
    ours, theirs = pty.openpty()
    try:
        termios.tcsetwinsize(ours, (24, 80))
        with raw(theirs):
            read = keys(theirs)
            os.write(ours, b"a")
            assert next(read) == "a"
            termios.tcsetwinsize(ours, (30, 100))
            assert next(read) == "resize"
    finally:
        os.close(ours)
        os.close(theirs)
