"""Sessions inside a database: each is told again when it changed, and then only what is new of it."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from skillopt_harvesters import Batch, Cursor, Kind, Outcome, Source, Unreadable, sqlite_sessions
from skillopt_harvesters.opencode import OpenCode
from skillopt_harvesters.opencode_database import Sessions
from skillopt_harvesters.sqlite_ro import Database
from skillopt_harvesters.walk import source_of

Statement = tuple[str, tuple[Any, ...]] | str


class Kept:
    """A database of OpenCode, its owner, and how far it was read."""

    def __init__(self, path: Path, samples: ModuleType, owner: sqlite3.Connection) -> None:
        self.path = path
        self.samples = samples
        self.owner = owner
        self.cursor: Cursor | None = None

    def source(self) -> Source:
        return source_of("opencode", str(self.path), str(self.path.parent), self.path.stat())

    def add(self, *statements: Statement) -> None:
        self.samples.run(self.owner, statements)

    def session(self, name: str, *turns: Any) -> None:
        self.add(self.samples.opencode_session(name), *(s for turn in turns for s in turn))

    def read(self) -> list[Batch]:
        """What is new; the next reading goes on behind it."""
        batches = list(OpenCode().read(self.source(), self.cursor))
        if batches:
            self.cursor = batches[-1].cursor
        return batches


@pytest.fixture
def kept(samples: ModuleType, tmp_path: Path) -> Iterator[Kept]:
    path = samples.rows(tmp_path / "opencode.db", samples.OPENCODE_TABLES)
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        yield Kept(path, samples, owner)


def keys(batches: list[Batch]) -> list[str]:
    return [event.key for batch in batches for event in batch.events]


def asked(samples: ModuleType, number: int, text: str, session: str) -> list[Statement]:
    return list(samples.opencode_message(number, "user", [samples.opencode_text(text)], session))


def test_a_batch_for_each_session_and_none_when_nothing_changed(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    kept.session("ses_2", asked(samples, 2, "two", "ses_2"))
    batches = kept.read()
    assert [(batch.session.native_id, batch.more) for batch in batches] == [("ses_1", True), ("ses_2", False)]
    assert kept.read() == []


def test_what_did_not_change_is_not_even_opened(
    kept: Kept, samples: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    kept.read()
    monkeypatch.delattr(sqlite_sessions, "open_database")
    assert kept.read() == []


def test_only_the_session_that_grew_is_told_and_only_what_is_new_of_it(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    kept.session("ses_2", asked(samples, 2, "two", "ses_2"))
    kept.read()
    kept.add(*asked(samples, 3, "three", "ses_2"))
    (batch,) = kept.read()
    assert batch.session.native_id == "ses_2"
    assert [event.text for event in batch.events] == ["three"]
    assert batch.withdrawn == []


def test_a_call_that_was_open_is_given_again_when_it_ended(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", samples.opencode_message(1, "assistant", [samples.opencode_tool("c1", "make", "running")]))
    (batch,) = kept.read()
    assert [event.outcome for event in batch.events] == [Outcome.OPEN]
    ended = json.dumps(samples.opencode_tool("c1", "make", output="done"))
    kept.add(("UPDATE part SET data = ?, time_updated = time_updated + 1", (ended,)))
    (batch,) = kept.read()
    assert [(event.kind, event.outcome) for event in batch.events] == [(Kind.CALL, Outcome.OK)]


def test_tokens_are_given_once(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", samples.opencode_turns())
    (batch,) = kept.read()
    assert len(batch.usage) == 1
    kept.add(*asked(samples, 9, "more", "ses_1"))
    (batch,) = kept.read()
    assert batch.usage == []


def test_tokens_that_come_later_are_given(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", samples.opencode_message(1, "assistant", [samples.opencode_text("done")]))
    kept.read()
    told = json.dumps({"role": "assistant", "time": {"created": samples.START_MS + 1000}, "tokens": {"input": 5}})
    kept.add(("UPDATE message SET data = ?, time_updated = time_updated + 1", (told,)))
    (batch,) = kept.read()
    assert [usage.input for usage in batch.usage] == [5]


def test_what_is_gone_from_a_session_is_withdrawn(kept: Kept, samples: ModuleType) -> None:
    said = samples.opencode_message(2, "assistant", [samples.opencode_tool("c1", "make")], tokens={"input": 5})
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"), said)
    first = keys(kept.read())
    kept.add("DELETE FROM message WHERE id LIKE '%2'")
    (batch,) = kept.read()
    assert (batch.events, batch.withdrawn) == ([], first[1:])


def test_a_session_that_is_gone_as_a_whole_stays(kept: Kept, samples: ModuleType) -> None:
    """Agents tidy up; what was harvested is the memory of it."""
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    kept.session("ses_2", asked(samples, 2, "two", "ses_2"))
    kept.read()
    kept.add("DELETE FROM session WHERE id = 'ses_1'", "DELETE FROM message WHERE session_id = 'ses_1'")
    assert keys(kept.read()) == []


def test_another_parser_or_a_state_that_cannot_be_read_begins_anew(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    first = keys(kept.read())
    assert kept.cursor is not None
    for change in ({"parser": 0}, {"state": b"\xc1", "before": ""}, {"state": b"", "before": ""}):
        kept.cursor = msgspec.structs.replace(kept.cursor, **change)
        assert keys(kept.read()) == first


def test_the_cursor_moves_now_and_then_so_that_a_killed_reading_goes_on(
    kept: Kept, samples: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_sessions, "EVERY", 2)
    for number in range(5):
        kept.session(f"ses_{number}", asked(samples, number, f"say {number}", f"ses_{number}"))
    for batch in itertools.islice(OpenCode().read(kept.source()), 3):
        kept.cursor = batch.cursor
    rest = [event.text for batch in kept.read() for event in batch.events]
    assert rest == ["say 2", "say 3", "say 4"]
    assert kept.read() == []


def test_an_owner_who_begins_to_write_meanwhile_spoils_nothing(kept: Kept, samples: ModuleType) -> None:
    for number in range(4):
        kept.session(f"ses_{number}", asked(samples, number, f"say {number}", f"ses_{number}"))
    kept.owner.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found: list[str] = []
    for number, batch in enumerate(OpenCode().read(kept.source())):
        found += [event.text for event in batch.events]
        kept.cursor = batch.cursor
        kept.add(*asked(samples, 10 + number, f"late {number}", "ses_3"), "PRAGMA wal_checkpoint(TRUNCATE)")
    assert set(found) >= {f"say {number}" for number in range(4)}
    found += [event.text for batch in kept.read() for event in batch.events]
    assert sorted(found) == [f"{word} {number}" for word in ("late", "say") for number in range(4)]


def test_pages_that_move_while_they_are_read_are_read_from_a_copy(kept: Kept, samples: ModuleType) -> None:
    """The owner folds its log into the file and packs it: what was remembered of its pages is no longer true."""
    for number in range(6):
        said = [asked(samples, n, f"say {number} {n} {'x' * 40_000}", f"ses_{number}") for n in range(20)]
        kept.session(f"ses_{number}", *said)
    kept.owner.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found: list[str] = []
    for number, batch in enumerate(OpenCode().read(kept.source())):
        assert batch.warnings == []
        found += [" ".join(event.text.split()[:3]) for event in batch.events]
        if number == 0:
            kept.add("DELETE FROM part WHERE session_id = 'ses_0'", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
    assert found == [f"say {number} {n}" for number in range(6) for n in range(20)]


def test_sessions_that_move_while_they_are_counted_are_counted_again(
    kept: Kept, samples: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    kept.owner.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    plain = Sessions.check

    def check(shelf: Sessions, database: Database) -> None:
        plain(shelf, database)
        if not kept.owner.in_transaction and not kept.owner.execute("SELECT 1 FROM session WHERE id = 'x'").fetchone():
            kept.session("x", asked(samples, 2, "two", "x"))

    monkeypatch.setattr(Sessions, "check", check)
    assert [event.text for batch in kept.read() for event in batch.events] == ["one", "two"]


def test_a_record_that_cannot_be_read_costs_only_itself(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"), asked(samples, 2, "two", "ses_1"))
    kept.session("ses_2", asked(samples, 3, "three", "ses_2"), asked(samples, 4, "four", "ses_2"))
    kept.add("UPDATE part SET data = zeroblob(30000000) WHERE id LIKE '%ses_1_000001%'")
    kept.add("UPDATE part SET data = '{' WHERE id LIKE '%ses_2_000003%'")
    batches = kept.read()
    assert [event.text for batch in batches for event in batch.events] == ["two", "four"]
    assert ["too big" in batch.warnings[0].reason for batch in batches if batch.warnings] == [True, False]
    assert [batch.unknown for batch in batches] == [1, 1]


def test_a_session_that_cannot_be_read_is_said_and_read_when_it_can_be(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    kept.session("ses_2", asked(samples, 2, "two", "ses_2"))
    kept.add("UPDATE session SET title = zeroblob(30000000) WHERE id = 'ses_1'")
    batches = kept.read()
    assert [event.text for batch in batches for event in batch.events] == ["two"]
    assert "a session cannot be read" in batches[0].warnings[0].reason
    kept.add("UPDATE session SET title = 'short' WHERE id = 'ses_1'")
    assert [event.text for batch in kept.read() for event in batch.events] == ["one"]


def test_a_session_that_could_not_be_read_is_tried_again(
    kept: Kept, samples: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"))
    with monkeypatch.context() as patched:

        def tell(shelf: Sessions, database: Database, source: Source, name: str) -> None:
            raise Unreadable(source.path, "input/output error")

        patched.setattr(Sessions, "tell", tell)
        (batch,) = kept.read()
        assert batch.warnings[0].reason == "a session cannot be read: input/output error"
    kept.session("ses_2", asked(samples, 2, "two", "ses_2"))
    assert [event.text for batch in kept.read() for event in batch.events] == ["one", "two"]


def test_the_place_in_an_event_is_that_of_its_record_within_its_session(kept: Kept, samples: ModuleType) -> None:
    kept.session("ses_1", asked(samples, 1, "one", "ses_1"), asked(samples, 2, "two", "ses_1"))
    (batch,) = kept.read()
    assert [event.offset for event in batch.events] == [1, 2]
    assert batch.events[0].length > len('{"type": "text", "text": "one"}')
