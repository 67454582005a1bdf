"""sleep.toml as it ships: every key with its description and its default, commented out; generated from the model."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping

from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from skillopt_sleep.config.model import NOT_YET, sections

HEAD = """\
# Configuration of skillopt-sleep. Lines with `#key = value` show the default: take away the # to change it.
# Yours is named by --config or SKILLOPT_CONFIG, or lies in the configuration folder of your platform.
# A sleep.toml in a project may only narrow yours: exclude, redact more, spend less.
# `skillopt-sleep config show` prints each value with its origin.
"""
WIDTH = 110


def example(values: Mapping[str, object] = {}) -> str:
    """The text of a sleep.toml in which `values` (`section.key`: value) are set and all others are shown."""
    parts = [HEAD]
    for name, section in sections().items():
        parts.append(f"\n# {section.__doc__}\n[{name}]\n")
        for key, field in section.model_fields.items():
            parts.append(_entry(name, key, field, values.get(f"{name}.{key}")))
    return "".join(parts)


def _entry(section: str, key: str, field: FieldInfo, value: object) -> str:
    default = to_jsonable_python(field.default)
    note = f"{field.description}{' No effect yet.' if f'{section}.{key}' in NOT_YET else ''}"
    if default in (None, [], {}) and field.examples:
        note += " Not set; an example:" if default is None else " Empty; an example:"
        default = field.examples[0]
    comment = "".join(f"# {line}\n" for line in textwrap.wrap(note, WIDTH - 2))
    return f"{comment}#{key} = {toml(default)}\n" if value is None else f"{comment}{key} = {toml(value)}\n"


def toml(value: object) -> str:
    """A value as TOML on one line. A string of JSON is one of TOML, but for the escapes of surrogates and DEL."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
