"""All kinds of check that ship with the product, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from skillopt_sleep.checks import command, deeds, rubric, sections, text, values
from skillopt_sleep.checks.model import Kind

BUILT_IN: Final[Mapping[str, Kind]] = MappingProxyType(
    {kind.name: kind for of in (text, sections, values, deeds, command, rubric) for kind in of.KINDS}
)
