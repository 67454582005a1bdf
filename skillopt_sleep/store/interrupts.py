"""Signals wait for the end of a transaction.

A signal's exception may come between any two steps of the program. In the middle of a transaction it would leave the
database's own layers in a state that nobody knows, and the night could not even be closed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_depth = 0
_waiting: BaseException | None = None


@contextmanager
def held_back() -> Iterator[None]:
    """What `interrupt` is given while the block runs in the main thread is raised at its end."""
    global _depth, _waiting  # noqa: PLW0603  (signals are the process's, and so is this)
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0 and _waiting is not None:
            late, _waiting = _waiting, None
            raise late


def interrupt(error: BaseException) -> None:
    """Raise the error of a signal, now or when the transaction is over. A second one does not wait."""
    global _waiting  # noqa: PLW0603
    if _depth == 0 or _waiting is not None:
        raise error
    _waiting = error
