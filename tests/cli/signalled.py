"""The command line in a process that gets a signal in the middle of a chosen transaction of the store.

    python -m tests.cli.signalled SIGNAL POINT ARGUMENT ...

POINT counts the outermost transactions from 1; with 0 none is disturbed. The last line of stderr is their number.
The signal comes while SQLAlchemy has a statement in hand, where an exception leaves its connection unusable.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, event

from skillopt_sleep.cli.__main__ import main
from skillopt_sleep.store.engine import Store


def disturb(number: int, point: int) -> list[int]:
    """Send this process the signal inside the transaction with that number. Returns the count so far, as it grows."""
    write, seen, depth = Store.write, [0], [0]

    @contextmanager
    def counted(self: Store) -> Iterator[Connection]:
        depth[0] += 1
        try:
            with write(self) as connection:
                if depth[0] == 1:
                    seen[0] += 1
                    if seen[0] == point:
                        event.listen(
                            connection, "after_cursor_execute", lambda *_: os.kill(os.getpid(), number), once=True
                        )
                        connection.exec_driver_sql("UPDATE setting SET value = value")
                yield connection
        finally:
            depth[0] -= 1

    Store.write = counted  # type: ignore[method-assign]
    return seen


if __name__ == "__main__":
    seen = disturb(signal.Signals[sys.argv[1]], int(sys.argv[2]))
    try:
        main(sys.argv[3:])
    finally:
        sys.stderr.write(f"{seen[0]}\n")
