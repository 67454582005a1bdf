"""A knob that nothing reads is a lie, unless it says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from skillopt_sleep.config import keys, load
from skillopt_sleep.config.model import NOT_YET, sections

WHAT = ("", "_backend", "_base_url", "_key", "_effort")
BY_NAME = {f"models.{role}{what}" for role in ("target", "optimizer", "judge") for what in WHAT}
"""Keys that are read with getattr, by the name of the role."""


def reads(checkout: Path) -> Iterator[str]:
    """Every `section.key` that the service's code says; a section is often at hand as `config`."""
    for path in (checkout / "skillopt_sleep").rglob("*.py"):
        if "config" in path.relative_to(checkout).parts:
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if isinstance(node, ast.Attribute) and id(node) not in called:
                holder = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
                known = [name for name, section in sections().items() if node.attr in section.model_fields]
                as_config = holder == "config" and node.attr not in sections()
                yield from (f"{name}.{node.attr}" for name in known if as_config or holder == name)


def test_every_key_is_read_or_says_that_it_has_no_effect_yet(checkout):
    read = set(reads(checkout)) | BY_NAME
    assert {key for key in keys() if key not in read} == NOT_YET


def test_whoever_sets_a_key_without_effect_is_told(tmp_path):
    (tmp_path / "sleep.toml").write_text("gate.repeats = 5\ngate.alpha = 0.05\nadopt.auto = true\n")
    told = load(tmp_path / "sleep.toml", cwd=tmp_path, environ={}).warnings
    assert told == tuple(f"sleep.toml:1 {key}: has no effect yet" for key in ("gate.repeats",) if key in NOT_YET)
