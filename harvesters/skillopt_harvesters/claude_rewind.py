"""Rewinding in Claude Code (transcript-formats.md 1.8): a second prompt below a record that had one already.

What was given up stays in the file. Its prompts are no requests any more: they are taken back, and that the person went
back is kept as feedback. Words that refused a call stay, as they were meant. Prompts without a parent begin a file or
follow a compaction, and tell nothing.
"""

from __future__ import annotations

import re

KEEP = 256
"""Prompts to which one may go back."""
STAYS = "\0"
_PARENT = re.compile(rb'"parentUuid":[ ]?"([^"\\]{1,64})"')


def parent_of(record: bytes) -> str:
    """The record that a record follows on, "" where there is none. Only asked of prompts, so not decoded with all."""
    found = _PARENT.search(record)
    return found[1].decode("utf-8", "replace") if found else ""


def given_up(below: dict[str, str], parent: str, key: str, *, kept: bool) -> list[str] | None:
    """Keys of prompts that were given up when the prompt `key` was typed below `parent`; None where nobody went back.

    `below` holds, in the order of the conversation, under each record that a prompt follows on the prompt's key, with
    `STAYS` before it where it is to be kept.
    """
    if not parent:
        return None
    if below.get(parent, key).removeprefix(STAYS) == key:
        below.setdefault(parent, f"{STAYS}{key}" if kept else key)
        if len(below) > KEEP:
            del below[next(iter(below))]
        return None
    names = list(below)
    branch = [below.pop(name) for name in names[names.index(parent) :]]
    below[parent] = f"{STAYS}{key}" if kept else key
    return [name for name in branch if not name.startswith(STAYS)]
