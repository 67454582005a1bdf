"""Writes of several threads in one transaction: each waits for the disk once, not once for every other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")
Work = Callable[["Connection"], T]


class Together:
    """The writers of one store. Who comes first writes for all that wait by then; the others come into the next."""

    def __init__(self, transaction: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._transaction = transaction
        self._waiting: deque[tuple[Work[Any], Future[Any]]] = deque()
        self._writing = Lock()

    def do(self, work: Work[T]) -> T:
        """Do the work in a transaction, on the disk when this returns. If one work of a transaction fails, all do."""
        done = self.add(work)
        with self._writing:
            if not done.done():
                self._write()
        return done.result()

    def add(self, work: Work[T]) -> Future[T]:
        """Leave the work to whoever writes next."""
        done: Future[T] = Future()
        self._waiting.append((work, done))
        return done

    def flush(self) -> None:
        """Do what waits, if anything does."""
        with self._writing:
            if self._waiting:
                self._write()

    def _write(self) -> None:
        taken: list[tuple[Work[Any], Future[Any]]] = []
        try:
            with self._transaction() as connection:
                taken += [self._waiting.popleft() for _ in range(len(self._waiting))]
                results = [work(connection) for work, _ in taken]
        except BaseException as error:
            for _, done in taken or self._emptied():
                done.set_exception(error)
            raise
        for (_, done), result in zip(taken, results, strict=True):
            done.set_result(result)

    def _emptied(self) -> list[tuple[Work[Any], Future[Any]]]:
        return [self._waiting.popleft() for _ in range(len(self._waiting))]
