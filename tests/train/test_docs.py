"""The page on training knows every key of a recipe, with its default and its meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.train.recipe import ALIASES, UPDATE_MODES, Recipe

PAGE = (Path(__file__).parent.parent.parent / "docs/training.md").read_text("utf-8")


def shown(default: object) -> str:
    """A default as the table shows it; nothing for None."""
    if default is None:
        return ""
    if default == ():
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)


@pytest.mark.parametrize("key", Recipe.model_fields)
def test_every_key_is_on_the_page(key: str) -> None:
    field = Recipe.model_fields[key]
    assert f"| `{key}` | {shown(field.default)} | {str(field.description).rstrip('.')} |" in PAGE


def test_the_other_names_are_on_the_page() -> None:
    for name in (*ALIASES, *UPDATE_MODES):
        assert f"`{name}`" in PAGE
