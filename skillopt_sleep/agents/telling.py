"""How an attempt is told to whoever learns from it: one line a call, and of a long transcript both ends."""

from __future__ import annotations

from typing import Final

LINE: Final = 400
"""Characters of a call, and of what it came to."""


def short(text: str) -> str:
    """The text on one line, cut at `LINE` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LINE else f"{flat[: LINE - 1]}…"


def both_ends(text: str, most: int) -> str:
    """The text, cut in the middle where it has more than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}\n[…]\n{text[-most // 2 :]}"
