"""The seam behind which each agent's format lives, and the two questions that a caller asks.

from skillopt_harvesters import discover, read

sources, trouble = discover(Path.home(), os.environ)
for source in sources:
    for batch in read(source):
        ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from skillopt_harvesters.model import Batch, Cursor, Source, Trouble


class Harvester(Protocol):
    """One agent's format. Read-only: nothing under the agent's folders is ever written, locked or created."""

    agent: str

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """The folders where this agent keeps its transcripts, existing or not."""
        ...

    def find(self, root: Path, trouble: list[Trouble]) -> Iterator[Source]:
        """Sources below a root, by name and place alone; what cannot be walked goes to `trouble`."""
        ...

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a loose file is of this format, by its first bytes (at most 64 KB), never by its name alone."""
        ...

    def read(self, source: Source, cursor: Cursor | None = None) -> Iterator[Batch]:
        """Batches from the cursor on, memory bounded, file order. Raises `Unreadable`."""
        ...
