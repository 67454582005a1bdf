"""Recipe files: YAML with the scalars of JSON, one extending another, each value with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from skillopt_sleep.errors import ConfigError, NotFound, UsageError
from skillopt_sleep.log import one_line

EXTENDS: Final = "extends"
DEEPEST: Final = 20
"""Recipes in one chain of `extends`."""
LARGEST: Final = 256 * 1024
"""Bytes of a recipe that are read."""

ALIASES: Final[Mapping[str, str]] = {
    "edit_budget": "learning_rate",
    "min_edit_budget": "min_learning_rate",
    "schedule": "lr_scheduler",
    "k": "rollouts_k",
    "slow_update_samples": "slow_update",
}
"""Other names of the same thing."""


class _Plain(yaml.SafeLoader):
    """YAML with the scalars of JSON: `off` is a word here, and `2:1:7` no number of seconds."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (PyYAML's own way: one table a class)


for _tag, _form, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9]+", "-+.0123456789"),
):
    _Plain.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_form})$"), list(_first))


def read_chain(path: Path, seen: tuple[Path, ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """Values and where each stands, of a file over what it extends."""
    where = path.resolve()
    if where in seen or len(seen) >= DEEPEST:
        chain = " → ".join(one_line(one.name) for one in (*seen, where))
        raise ConfigError(f"extends itself: {chain}", where=one_line(str(path)), remedy="Break the circle")
    values, origins = _read(path)
    parent = values.pop(EXTENDS, None)
    if parent is None:
        return values, origins
    place = origins.pop(EXTENDS)
    if not isinstance(parent, str) or not parent:
        raise ConfigError("should be the path of another recipe", where=f"{place} {EXTENDS}")
    try:
        inherited, from_there = read_chain(path.parent / parent, (*seen, where))
    except NotFound:
        raise ConfigError(f"there is no recipe {parent!r}", where=f"{place} {EXTENDS}") from None
    return inherited | values, from_there | origins


def _read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """One file: its values, by their own names, and `file:line` of each."""
    shown, text = one_line(str(path)), _text(path)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_Plain)):
            raise ConfigError("aliases (`*name`) are not read here; write the value out", where=shown)
        node = yaml.compose(text, Loader=_Plain)
        values = yaml.load(text, Loader=_Plain) or {}  # noqa: S506  (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"not valid YAML: {one_line(str(error.problem))}", where=f"{shown}:{line}") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise ConfigError(f"not valid YAML: {one_line(str(error))[:200]}", where=shown) from None
    except RecursionError:
        raise ConfigError("nested too deeply", where=shown) from None
    if node is None:
        return {}, {}
    if not isinstance(node, yaml.MappingNode) or not all(isinstance(key, str) for key in values):
        raise ConfigError("should be keys with values, such as `epochs: 2`", where=shown)
    return _once(values, [(str(key.value), f"{shown}:{key.start_mark.line + 1}") for key, _ in node.value])


def _once(values: Mapping[str, Any], places: Iterable[tuple[str, str]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Values by their own names; a key that is said twice, under whatever name, is a mistake."""
    kept: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for key, place in places:
        name = ALIASES.get(key, key)
        if name in origins:
            raise ConfigError(f"says again what stands in {origins[name]}", where=f"{place} {one_line(key)}")
        kept[name], origins[name] = values[key], place
    return kept, origins


def _text(path: Path) -> str:
    try:
        if not path.exists():
            raise NotFound("there is no such recipe", where=one_line(str(path)))
        if not path.is_file():
            raise ConfigError("is not a file", where=one_line(str(path)))
        if path.stat().st_size > LARGEST:
            raise ConfigError(f"is larger than {LARGEST // 1024} KiB: that is no recipe", where=one_line(str(path)))
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError("is not UTF-8; save it as UTF-8", where=one_line(str(path))) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=one_line(str(path))) from None


def setting(text: str) -> tuple[str, Any]:
    """`epochs=2`; the value is read as YAML."""
    key, equals, written = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageError(f"{one_line(text)!r} is no setting", where="--set", remedy="Write it as key=value")
    try:
        value = yaml.load(written, Loader=_Plain)  # noqa: S506  (a SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UsageError(f"{one_line(written)!r} is no value", where=f"--set {one_line(key)}") from None
    return ALIASES.get(key, key), value
