"""What a harvest has to say for itself (cli.md, `harvest`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from skillopt_harvesters.model import Batch
from skillopt_sleep.domain.reports import HarvestCounts, ReadWarning, Unreadable
from skillopt_sleep.store.intake import Saved
from skillopt_sleep.store.sources import path_text

EXCLUDED: Final = "excluded by the configuration"
OLD: Final = "older than harvest.lookback"
WARNINGS: Final = 1000
"""Warnings that are kept one by one; a hostile file may have millions."""


@dataclass(slots=True)
class Tally:
    files: int = 0
    bytes: int = 0
    unchanged: int = 0
    pending: int = 0
    apart: dict[str, set[str]] = field(default_factory=dict)
    saved: Saved = field(default_factory=Saved)
    skipped: Counter[str] = field(default_factory=Counter)
    warnings: list[ReadWarning] = field(default_factory=list)
    unread: list[Unreadable] = field(default_factory=list)
    more_warnings: int = 0

    def read(self, batch: Batch, new: int) -> None:
        """Count one batch and the bytes that it took."""
        self.bytes += new
        self.skipped.update(batch.skipped)
        for one in batch.warnings:
            if len(self.warnings) < WARNINGS:
                self.warnings.append(ReadWarning(path_text(one.path), one.line or None, one.reason))
            else:
                self.more_warnings += 1

    def unreadable(self, path: str, reason: str) -> None:
        self.unread.append(Unreadable(path_text(path), reason))

    def add(self, saved: Saved) -> None:
        """Count what a transaction stored, and the sessions that nobody typed, by their origin."""
        self.saved.new |= saved.new
        self.saved.updated |= saved.updated
        self.saved.same |= saved.same
        for origin, names in saved.apart.items():
            self.apart.setdefault(origin, set()).update(names)

    def leave_out(self, reason: str, n: int) -> None:
        if n:
            self.skipped[reason] += n

    def counts(self, seconds: float) -> HarvestCounts:
        """The finished account. `seconds` is wall time."""
        for origin, names in self.apart.items():
            self.leave_out(f"{origin} session", len(names))
        if self.more_warnings:
            self.warnings.append(ReadWarning("", None, f"{self.more_warnings} more warnings"))
        saved = self.saved
        return HarvestCounts(
            files=self.files,
            bytes=self.bytes,
            seconds=seconds,
            new=len(saved.new),
            updated=len(saved.updated - saved.new),
            unchanged=self.unchanged + len(saved.same - saved.new - saved.updated),
            skipped=dict(sorted(self.skipped.items())),
            warnings=tuple(self.warnings),
            unreadable=tuple(self.unread),
            pending=self.pending,
        )
