"""All kinds of check that ship with the product, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from skillopt_sleep.checks import declared, deeds, sections, text, values
from skillopt_sleep.checks.model import Kind

BUILT_IN: Final[Mapping[str, Kind]] = MappingProxyType(
    {kind.name: kind for kind in (*text.KINDS, *sections.KINDS, *values.KINDS, *deeds.KINDS, *declared.KINDS)}
)
