"""A store of an older format keeps all that it holds. The rows of `old_0001.sql` are of a real harvest: three made-up
Claude Code sessions, one of which grew and one of which resumes another and repeats its messages."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from skillopt_harvesters.model import Source
from skillopt_sleep.clock import FixedClock
from skillopt_sleep.redact import Redacted
from skillopt_sleep.store import files, intake
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.intake import CleanBatch, CleanFacts, CleanSource, record_key
from skillopt_sleep.store.version import APPLICATION

HERE = Path(__file__).parent
FORK = "00000000-0000-4000-8000-000000000009"
SHOP = "cd613e30-d8f1-4adf-91b7-584a2265b1f5"
FIRST, LAST = "msg_0135bf992d35bf992d35bf992d", "msg_01c381e88fc381e88fc381e88f"


@pytest.fixture
def old(path: Path, freeze: ModuleType) -> Path:
    """A store as the first format wrote it."""
    files.make_folder(path.parent)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA application_id = {APPLICATION}")
        raw.executescript(freeze.FIRST.read_text(encoding="utf-8"))
        raw.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, PRIMARY KEY (version_num))")
        raw.execute("INSERT INTO alembic_version VALUES ('0001')")
        raw.executescript((HERE / "old_0001.sql").read_text(encoding="utf-8"))
        raw.execute("PRAGMA user_version = 1")
        raw.commit()
    return path


def took(input_: int, output: int, read: int, write: int) -> dict[str, int]:
    return {"input": input_, "output": output, "cache_read": read, "cache_write": write}


def test_sessions_say_what_they_said(old: Path, clock: FixedClock) -> None:
    with open_store(old, clock) as store:
        found = {row["native_id"]: row for row in store.sessions("all")}
        said = {session.native_id: session for session in store.stored_sessions()}
    assert {name: row["tokens"] for name, row in found.items()} == {
        SHOP: took(12, 40, 28, 4),
        "d95bafc8-f2a4-427b-9cf4-bb99f4bea973": took(3, 10, 7, 1),
        FORK: took(3, 10, 7, 1),
    }
    assert [one["text"] for one in found[SHOP]["prompts"]] == ["please look at the invoices", "again, please"]
    assert [one["text"] for one in found[FORK]["prompts"]] == ["one more"]
    shop = said[SHOP]
    assert shop.output_by_message[FIRST] == shop.output_by_message[LAST] == 10
    assert shop.events[-1].text == "Done again."
    assert {event.message_id for event in shop.events if event.message_id} <= set(shop.output_by_message)


def test_the_older_store_is_kept_beside_it(old: Path, clock: FixedClock) -> None:
    before = rows(old, "SELECT key, message, input, output, model FROM usage ORDER BY key")
    open_store(old, clock).close()
    copy = files.beside(old, ".before-0002")
    assert rows(copy, "SELECT key, message, input, output, model FROM usage ORDER BY key") == before
    assert rows(copy, "PRAGMA user_version") == [(1,)]
    assert len(before) == 6


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(query).fetchall()


def test_it_has_the_tables_of_a_new_store_and_refers_to_nothing_lost(
    old: Path, clock: FixedClock, freeze: ModuleType
) -> None:
    with open_store(old, clock) as store:
        query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'alembic_version'"
        assert {freeze.tidy(sql) for (sql,) in store.driver.execute(query)} == set(freeze.statements())
        assert store.driver.execute("PRAGMA foreign_key_check").fetchall() == []
        assert store.driver.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_messages_of_the_older_store_are_not_counted_again(old: Path, clock: FixedClock) -> None:
    with open_store(old, clock) as store:
        tell(store, "another", FIRST, output=99)
        tell(store, SHOP, LAST, output=25)
        tell(store, SHOP, LAST, output=20)
        found = {row["native_id"]: row["tokens"] for row in store.sessions("all")}
    assert "another" not in {name for name, tokens in found.items() if tokens["output"]}
    assert found[SHOP] == took(12, 55, 28, 4)


def tell(store: Store, native_id: str, message: str, output: int) -> None:
    """Take in one more line about a message."""
    nothing = Redacted("")
    facts = CleanFacts(
        *("claude-code", native_id, "interactive", "", "", nothing, nothing, "", nothing, (), nothing, "", "", ()),
        *(nothing, None, None),
    )
    batch = CleanBatch(
        facts, [], None, [record_key("claude-code", message)], [(message, 3, output, 7, 1, "m", None)], [], []
    )
    intake.save(store, [CleanSource(Source(agent="claude-code", path=f"/{native_id}"), "read", batches=[batch])])


def test_a_store_whose_migration_fails_stays_as_it_was(
    old: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import msgspec

    def broken(_: object) -> bytes:
        raise ZeroDivisionError

    before = rows(old, "SELECT * FROM usage")
    with monkeypatch.context() as patched:
        patched.setattr(msgspec.msgpack, "encode", broken)
        with pytest.raises(ZeroDivisionError):
            open_store(old, clock)
    shutil.copy(old, tmp_path / "copy.db")
    assert rows(tmp_path / "copy.db", "SELECT * FROM usage") == before
    open_store(old, clock).close()


def test_the_frozen_statements_and_rows_are_never_edited(freeze: ModuleType) -> None:
    """What stores out in the world were made of."""
    frozen = {
        freeze.FIRST: "a59367ad8cb2e5ca",
        freeze.FIRST.with_name("m0002_tokens.sql"): "fb86b657bd12efb2",
        freeze.FIRST.with_name("m0003_facts.sql"): "87d62570a7544bb1",
    }
    for path, digest in frozen.items():
        assert hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest() == digest, path.name
