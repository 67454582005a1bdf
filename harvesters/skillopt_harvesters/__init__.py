"""Coding agents' transcripts to sessions and events. Read-only, incremental, usable alone.

from skillopt_harvesters import discover, read

sources, trouble = discover(Path.home(), os.environ)
for source in sources:
    for batch in read(source):
        for event in batch.events:
            ...
"""

from __future__ import annotations

from skillopt_harvesters.base import Harvester
from skillopt_harvesters.discovery import discover, discover_loose, harvester_of, harvesters, left_out, read
from skillopt_harvesters.model import (
    Author,
    Batch,
    Cursor,
    Event,
    Kind,
    Origin,
    Outcome,
    SessionFacts,
    Source,
    Trouble,
    Unreadable,
    Usage,
)

__all__ = [
    "Author",
    "Batch",
    "Cursor",
    "Event",
    "Harvester",
    "Kind",
    "Origin",
    "Outcome",
    "SessionFacts",
    "Source",
    "Trouble",
    "Unreadable",
    "Usage",
    "discover",
    "discover_loose",
    "harvester_of",
    "harvesters",
    "left_out",
    "read",
]
