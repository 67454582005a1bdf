"""Folders beside those where an agent keeps its transcripts by itself (`harvest.roots`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from skillopt_sleep.config.model import Agent


def further_roots(named: Mapping[Agent, Sequence[str]], home: Path) -> dict[str, tuple[Path, ...]]:
    """The folders by agent; `~` stands for `home`."""
    return {agent: tuple(_folder(home, name) for name in names) for agent, names in named.items()}


def _folder(home: Path, name: str) -> Path:
    return home / name[2:] if name.startswith("~/") else Path(name)
