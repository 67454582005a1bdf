"""What a run has taken so far, read from its growing transcripts while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skillopt_harvesters import Cursor, Unreadable, Usage, discover, read

EVERY_S: Final = 1.0


@dataclass
class Meter:
    """Asked often whether a run is to be ended; looks once a second. `passed` is told what it has taken, cached input
    among it; `ended_at` is what it had taken when that said yes, 0 as long as it has not."""

    agent: str
    home: Path
    passed: Callable[[int], bool]
    now: Callable[[], float] = time.monotonic
    ended_at: int = 0
    _looked: float = field(default=0.0, init=False)
    _cursors: dict[str, Cursor] = field(default_factory=dict, init=False)
    _usage: dict[str, Usage] = field(default_factory=dict, init=False)

    def __call__(self) -> bool:
        """Whether it has passed what it may."""
        if not self.ended_at and self.now() - self._looked >= EVERY_S:
            self._looked = self.now()
            taken = self.taken()
            if self.passed(taken):
                self.ended_at = taken
        return bool(self.ended_at)

    def taken(self) -> int:
        """Tokens by the agent's own figures. A transcript that cannot be read just now is read the next time."""
        for source in discover(self.home, {}, {self.agent})[0]:
            try:
                for batch in read(source, self._cursors.get(source.path)):
                    self._usage.update({one.key: one for one in batch.usage})
                    self._cursors[source.path] = batch.cursor
            except (OSError, Unreadable):
                continue
        return sum(one.input + one.cache_read + one.cache_write + one.output for one in self._usage.values())
