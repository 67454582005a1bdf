"""All tables of the store, by area. One import of this package knows them all: `metadata`."""

from __future__ import annotations

from skillopt_sleep.store.schema import adoption, harvest, mining, nights, training
from skillopt_sleep.store.schema.base import metadata

__all__ = ["adoption", "harvest", "metadata", "mining", "nights", "training"]
