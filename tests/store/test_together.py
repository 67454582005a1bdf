"""Small writes of several threads share a transaction, and each is on the disk when its call returns."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
from sqlalchemy import Connection, text

from skillopt_sleep.domain.ledgers import Spend
from skillopt_sleep.errors import StoreError
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.ledgers import Spending

THREADS = 8
MOMENT = 5.0


def rows(store: Store) -> int:
    """Rows that another connection sees: what is committed."""
    with closing(sqlite3.connect(store.path)) as other:
        return int(other.execute("SELECT count(*) FROM spend").fetchone()[0])


def test_what_waits_for_a_writer_is_written_in_one_transaction(store: Store) -> None:
    begun: list[str] = []
    writing = threading.Event()
    store.driver.set_trace_callback(lambda sql: begun.append(sql) if sql.startswith("BEGIN") else None)

    def first(_: Connection) -> None:
        writing.set()
        ends = time.monotonic() + MOMENT
        while len(store._together._waiting) < THREADS and time.monotonic() < ends:
            time.sleep(0.001)

    book = Spending(store, "n")  # it reads the store, which the leader will hold

    def reserve(n: int) -> int:
        row = book.reserve("optimizer", n, 0.0)
        assert rows(store) > 0, "committed when the call returns"
        return row

    with ThreadPoolExecutor(THREADS + 1) as threads:
        leader = threads.submit(store.together, first)
        assert writing.wait(MOMENT)
        done = list(threads.map(reserve, range(THREADS)))
        leader.result()
    store.driver.set_trace_callback(None)
    assert len(set(done)) == THREADS
    assert len(begun) == 2, "the leader's, and theirs"


def test_if_one_work_fails_nothing_of_its_transaction_is_kept(store: Store) -> None:
    with pytest.raises(StoreError):
        store.together(lambda connection: connection.execute(text("INSERT INTO nowhere VALUES (1)")))
    assert rows(store) == 0
    Spending(store, "n").reserve("optimizer", 1, 0.0)
    assert rows(store) == 1


def test_inside_a_transaction_it_is_part_of_it(store: Store) -> None:
    with suppress(RuntimeError), store.write():
        Spending(store, "n").reserve("optimizer", 1, 0.0)
        raise RuntimeError
    assert rows(store) == 0


def test_what_is_put_off_is_written_with_the_next_row_or_when_it_is_asked_for_or_at_the_end(store: Store) -> None:
    book = Spending(store, "n")
    first, second = book.reserve("optimizer", 100, 0.0), book.reserve("optimizer", 100, 0.0)
    book.settle(first, Spend(7, 0.0, True, 9, 0.0))
    assert settled(store) == [None, None]
    book.reserve("optimizer", 100, 0.0)
    assert settled(store) == [7, None, None]
    book.settle(second, Spend(8, 0.0, True, 9, 0.0))
    assert book.spent()[1].tokens == 115
    assert settled(store) == [7, 8, None]
    book.settle(second + 1, Spend(9, 0.0, True, 9, 0.0))
    store.close()
    assert settled(store) == [7, 8, 9]


def settled(store: Store) -> list[int | None]:
    with closing(sqlite3.connect(store.path)) as other:
        return [row[0] for row in other.execute("SELECT settled_tokens FROM spend ORDER BY id")]
