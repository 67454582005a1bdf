"""Prompts as package data, and how untrusted text goes into them: fenced as data, in a fence that it cannot close."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from importlib import resources
from typing import Final

NAMES: Final = (
    "reflect_failures",
    "reflect_successes",
    "merge",
    "rank",
    "pace",
    "mend",
    "rewrite_suggestions",
    "rewrite_attempts",
    "dream",
    "slow_update",
    "meta_skill",
    "repair",
)

SMALL: Final = ("reflect_failures", "reflect_successes", "rank", "slow_update")
"""Prompts that have a version for small models: fewer rules, one flat form, an example worked out."""

_SLOT: Final = re.compile(r"\{\{([a-z_]+)\}\}")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def default_prompts() -> dict[str, str]:
    """The shipped prompts by name. The caller may replace any of them; the slots `{{name}}` must stay."""
    folder = resources.files("skillopt_core") / "prompts"
    return {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}


def small_prompts() -> dict[str, str]:
    """The same names with the wording for a weak optimizer (half a billion parameters, say)."""
    folder = resources.files("skillopt_core") / "prompts" / "small"
    return default_prompts() | {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in SMALL}


def filled(template: str, slots: Mapping[str, str]) -> str:
    """The template with each slot filled once: a slot that stands in what was filled in stays as it is."""
    return _SLOT.sub(lambda found: slots.get(found.group(1), found.group(0)), template)


def fenced(name: str, text: str) -> str:
    """The text between tags that carry a digest of the text itself, so that no text can hold its own closing tag.

    Control and invisible characters become spaces.
    """
    body = printable(text)
    mark = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:16]
    while mark in body:
        mark = hashlib.sha256(mark.encode()).hexdigest()[:16]
    return f"<{name}-{mark}>\n{body}\n</{name}-{mark}>"


def printable(text: str) -> str:
    """The text with line feeds alone, and a space for each character that is invisible or controls something."""
    return _CONTROL.sub(" ", text.replace("\r\n", "\n"))


def clipped(text: str, most: int) -> str:
    """At most about `most` characters: a third from the start, the rest from the end, where things go wrong."""
    if len(text) <= most:
        return text
    head = most // 3
    return f"{text[:head]}\n… {len(text) - most} characters left out …\n{text[len(text) - (most - head) :]}"
