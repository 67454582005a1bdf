"""An adoption ledger in memory: for tests, and for a dry run that must leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from skillopt_sleep.domain.proposals import Adoption


@dataclass
class MemoryLedger:
    """As durable as the program: it passes the same contract as the store's ledger, but for a kill."""

    recorded: list[str] = field(default_factory=list)
    kept: dict[str, Adoption] = field(default_factory=dict)
    held: bool = False

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        if self.held:
            raise RuntimeError("the ledger is held already")
        self.held = True
        try:
            yield
        finally:
            self.held = False

    def roots(self) -> Sequence[str]:
        return tuple(self.recorded)

    def intend(self, adoption: Adoption) -> None:
        self.kept[adoption.id] = adoption

    def settle(self, adoption: Adoption) -> None:
        if adoption.id not in self.kept:
            raise KeyError(adoption.id)
        self.kept[adoption.id] = adoption

    def unsettled(self) -> Sequence[Adoption]:
        waiting = [adoption for adoption in self.kept.values() if adoption.state == "intent"]
        return tuple(sorted(waiting, key=lambda adoption: adoption.at_ms))

    def find(self, adoption: str) -> Adoption | None:
        return self.kept.get(adoption)
