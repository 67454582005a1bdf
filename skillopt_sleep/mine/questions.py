"""The texts of the questions, one file each in `mine/prompts`."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def template(name: str) -> str:
    """A question with its slots `{{name}}`."""
    return (resources.files("skillopt_sleep.mine") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
