"""Where adoptions are written down before any byte of a live file changes: the seam of adopt, rollback, recover."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from skillopt_sleep.domain.proposals import Adoption


class AdoptionLedger(Protocol):
    """The durable record of adoptions. Whatever a method returned from survives a kill and a power cut.

    An adoption goes intent -> written, or intent -> rolled_back where it could not be finished. A rollback takes a
    written one to intent again before it touches a file, so that `recover` needs to know one unfinished state only.
    """

    def exclusive(self) -> AbstractContextManager[None]:
        """Held by whoever changes targets; others wait for it. A kernel lock, so that a killed holder frees it."""
        ...

    def roots(self) -> Sequence[str]:
        """The recorded folders, absolute. Nothing is ever written outside them; none recorded: nothing is written."""
        ...

    def intend(self, adoption: Adoption) -> None:
        """Keep the adoption with state `intent` and all its bytes. An id that is known already is replaced."""
        ...

    def settle(self, adoption: Adoption) -> None:
        """Keep the final state (`written` or `rolled_back`) of a known adoption and of each of its targets.

        In one transaction with the state of its proposal: adopted where written; rejected where a written one was
        rolled back; left alone where an intent never came to be written.
        """
        ...

    def unsettled(self) -> Sequence[Adoption]:
        """Adoptions in state `intent`, oldest first."""
        ...

    def find(self, adoption: str) -> Adoption | None: ...
