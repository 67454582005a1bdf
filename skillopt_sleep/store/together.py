"""Writes of several threads in one transaction: each waits for the disk once, not once for every other.

What may be repeated after a power cut, or is covered by what is on the disk already (ahead.py), waits for the disk at
most four times a second: it is committed when its call returns, so that a killed process loses nothing, and a power cut
takes a quarter of a second's work at most.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")
Work = Callable[["Connection"], T]


SYNC_S: Final = 0.25
"""Seconds after which the next transaction waits for the disk whatever is in it."""


class Transaction(Protocol):
    """A transaction. `unsynced` is asked as late as can be whether it need not wait for the disk."""

    def __call__(self, unsynced: Callable[[], bool]) -> AbstractContextManager[Connection]: ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    work: Work[Any]
    done: Future[Any]
    covered: Covered


Covered = Callable[[], bool]
"""Asked inside, one at a time and as late as can be, whether a work needs not wait for the disk."""


class Together:
    """The writers of one store. Who comes first writes for all that wait by then; the others come into the next."""

    def __init__(self, transaction: Transaction, now: Callable[[], float] = time.monotonic) -> None:
        self._transaction = transaction
        self._now = now
        self._synced = -SYNC_S
        self.syncs = 0
        self._waiting: deque[_Waiting] = deque()
        self._writing = Lock()

    def do(self, work: Work[T], covered: Covered) -> T:
        """Do the work in a transaction, committed when this returns. If one work of a transaction fails, all do.

        It is on the disk by then as well, unless all that is in the transaction is `covered` and the last one that
        waited for it is less than `SYNC_S` ago. `syncs` counts those that waited.
        """
        done = self.add(work, covered)
        with self._writing:
            if not done.done():
                self._write()
        return done.result()

    def add(self, work: Work[T], covered: Covered = lambda: True) -> Future[T]:
        """Leave the work to whoever writes next."""
        done: Future[T] = Future()
        self._waiting.append(_Waiting(work, done, covered))
        return done

    def flush(self) -> None:
        """Do what waits, if anything does."""
        with self._writing:
            if self._waiting:
                self._write()

    def _write(self) -> None:
        taken: list[_Waiting] = []
        began, unsynced = self._now(), False

        def take() -> bool:
            nonlocal unsynced
            taken.extend(self._emptied())
            unsynced = all([one.covered() for one in taken]) and began - self._synced < SYNC_S  # noqa: C419 - each is asked
            return unsynced

        try:
            with self._transaction(take) as connection:
                results = [one.work(connection) for one in taken]
        except BaseException as error:
            for one in taken or self._emptied():
                one.done.set_exception(error)
            raise
        if not unsynced:
            self._synced = began
            self.syncs += 1
        for one, result in zip(taken, results, strict=True):
            one.done.set_result(result)

    def _emptied(self) -> list[_Waiting]:
        return [self._waiting.popleft() for _ in range(len(self._waiting))]
