"""Single keys from a terminal, by name, as an iterator that ends with the input."""

from __future__ import annotations

import codecs
import os
import select
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NAMES: Final = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1b[5~": "pgup",
    "\x1b[6~": "pgdn",
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "esc",
    "\x7f": "backspace",
    "\b": "backspace",
}
_ENDS: Final = {"\x03", "\x04"}  # interrupt, end of input
_GLANCE: Final = 0.25  # seconds between looks at the size of the window


@contextmanager
def raw(descriptor: int) -> Iterator[None]:
    """The terminal gives every key at once and unseen; as it was before, afterwards."""
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor, termios.TCSADRAIN)
        mode = termios.tcgetattr(descriptor)
        mode[1] |= termios.OPOST  # lines still end as lines
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def keys(descriptor: int) -> Iterator[str]:
    """Names of the keys that are pressed; `resize` where the window has another size. Ends with ctrl-C and ctrl-D."""
    size, decoder = os.get_terminal_size(descriptor), codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        if not select.select([descriptor], [], [], _GLANCE)[0]:
            now = os.get_terminal_size(descriptor)
            if now != size:
                size = now
                yield "resize"
            continue
        read = os.read(descriptor, 64)
        if not read:
            return
        for key in named(decoder.decode(read)):
            if key in _ENDS:
                return
            yield key


def named(text: str) -> Iterator[str]:
    """What was read from the terminal, cut into keys; sequences that no key here has are dropped."""
    while text:
        known = next((sequence for sequence in NAMES if len(sequence) > 1 and text.startswith(sequence)), None)
        if known is not None:
            yield NAMES[known]
            text = text[len(known) :]
        elif text[0] == "\x1b" and len(text) > 1:
            text = _behind_sequence(text)
        else:
            yield NAMES.get(text[0], text[0])
            text = text[1:]


def _behind_sequence(text: str) -> str:
    """What follows an escape sequence that we have no name for."""
    at = 2 if text[1] in "[O" else 1
    while at < len(text) and at > 1 and not text[at].isalpha() and text[at] != "~":
        at += 1
    return text[at + 1 :]
