"""Another program's database is read as it stands, and its owner cannot notice."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from skillopt_harvesters import Source, Trouble, Unreadable, sqlite_ro
from skillopt_harvesters.bytestream import LINE_CAP
from skillopt_harvesters.sqlite_ro import MAGIC, Database, database_source, look, open_copy, open_database


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary ones are made."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@contextmanager
def owner(path: Path, mode: str = "WAL") -> Iterator[sqlite3.Connection]:
    """The program whose database it is, with nothing folded into it until it says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        yield connection


def made(path: Path, mode: str = "WAL") -> Path:
    with owner(path, mode) as connection:
        connection.execute("CREATE TABLE said (name TEXT, words TEXT)")
        connection.execute("INSERT INTO said VALUES ('a', 'one')")
    return path


def words(database: Database) -> list[bytes]:
    return [row[0] for row in database.rows("SELECT words FROM said ORDER BY rowid")]


def read(path: Path) -> list[bytes]:
    with closing(open_database(str(path))) as database:
        return words(database)


def listing(folder: Path) -> dict[str, tuple[int, int, int]]:
    return {path.name: (s.st_size, s.st_mtime_ns, s.st_ctime_ns) for path in folder.iterdir() for s in (path.stat(),)}


def refused(path: Path) -> str:
    with pytest.raises(Unreadable) as problem, closing(open_database(str(path))) as database:
        words(database)
    assert problem.value.path == str(path)
    return problem.value.reason


# -- at rest, and in use


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_at_rest_is_read_in_its_place(mode: str, tmp_path: Path, temporary: Path) -> None:
    path = made(tmp_path / "its/x.db", mode)
    before = listing(path.parent)
    with closing(open_database(str(path))) as database:
        assert words(database) == [b"one"]
        assert database.steady()
        assert list(temporary.iterdir()) == []
    assert listing(path.parent) == before


def test_a_folder_that_may_not_be_written_to_is_no_trouble(tmp_path: Path) -> None:
    path = made(tmp_path / "its/x.db")
    path.chmod(0o400)
    path.parent.chmod(0o500)
    assert read(path) == [b"one"]
    path.parent.chmod(0o700)


def test_what_stands_in_the_log_alone_is_read_from_a_copy(tmp_path: Path, temporary: Path) -> None:
    path = made(tmp_path / "its/x.db")
    with owner(path) as connection:
        connection.execute("INSERT INTO said VALUES ('b', 'two')")
        before = listing(path.parent)
        with closing(open_database(str(path))) as database:
            assert words(database) == [b"one", b"two"]
            (folder,) = temporary.iterdir()
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
        assert list(temporary.iterdir()) == []
        assert listing(path.parent) == before


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_its_owner_can_write_while_it_is_read(mode: str, tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", mode)
    with owner(path, mode) as connection:
        connection.execute("INSERT INTO said VALUES ('b', 'two')")
        with closing(open_database(str(path))) as database:
            rows = database.rows("SELECT words FROM said")
            assert next(rows) == (b"one",)
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("INSERT INTO said VALUES ('c', 'three')")
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert len(list(rows)) == 1
    assert read(path)[-1] == b"three"


def test_a_database_that_its_owner_writes_to_is_no_longer_steady(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    with closing(open_database(str(path))) as database:
        assert database.steady()
        with owner(path) as connection:
            connection.execute("INSERT INTO said VALUES ('b', 'two')")
            assert not database.steady()


def test_a_copy_is_one_state_also_when_its_owner_appends_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the copy of the file and that of its log, a transaction is added and all is folded into the file."""
    path = made(tmp_path / "x.db")
    copied: list[str] = []
    plain = sqlite_ro.copy
    with owner(path) as connection:
        connection.execute("INSERT INTO said VALUES ('b', 'two')")

        def copy(name: str, to: Path) -> None:
            plain(name, to)
            if not copied:
                connection.execute("INSERT INTO said VALUES ('c', 'three')")
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            copied.append(name)

        monkeypatch.setattr(sqlite_ro, "copy", copy)
        assert read(path) == [b"one", b"two", b"three"]
    assert copied == [str(path), f"{path}-wal"]


def test_a_copy_whose_log_was_begun_anew_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "x.db")
    copied: list[str] = []
    plain = sqlite_ro.copy
    with owner(path) as connection:
        connection.execute("INSERT INTO said VALUES ('b', 'two')")

        def copy(name: str, to: Path) -> None:
            plain(name, to)
            copied.append(name)
            if len(copied) == 1:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.execute("INSERT INTO said VALUES ('c', 'three')")

        monkeypatch.setattr(sqlite_ro, "copy", copy)
        assert read(path) == [b"one", b"two", b"three"]
    assert len(copied) == 4


def test_a_copy_of_a_file_without_a_log_that_was_written_to_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "x.db", "DELETE")
    copied: list[str] = []
    plain = sqlite_ro.copy
    with owner(path, "DELETE") as connection:

        def copy(name: str, to: Path) -> None:
            plain(name, to)
            copied.append(name)
            if len(copied) == 1:
                connection.execute("INSERT INTO said VALUES ('b', 'two')")

        monkeypatch.setattr(sqlite_ro, "copy", copy)
        with closing(open_copy(str(path))) as database:
            assert words(database) == [b"one", b"two"]
            assert database.steady()


def test_an_owner_who_never_rests_is_waited_for_until_next_time(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "x.db")
    plain = sqlite_ro.copy
    with owner(path) as connection:
        connection.execute("INSERT INTO said VALUES ('b', 'two')")

        def copy(name: str, to: Path) -> None:
            plain(name, to)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("INSERT INTO said VALUES ('c', 'three')")

        monkeypatch.setattr(sqlite_ro, "copy", copy)
        assert "next time" in refused(path)
    assert list(temporary.iterdir()) == []


def test_a_transaction_that_was_broken_off_is_left_to_its_owner(tmp_path: Path) -> None:
    """Undoing it would write to its file; what the journal says is not trusted either."""
    path = made(tmp_path / "its/x.db", "DELETE")
    with owner(path, "DELETE") as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO said VALUES ('b', ?)", [("x" * 900,)] * 200)
        shutil.copytree(path.parent, tmp_path / "left")
        connection.execute("ROLLBACK")
    left = tmp_path / "left"
    assert (left / "x.db-journal").stat().st_size
    before = listing(left)
    assert "middle of a transaction" in refused(left / "x.db")
    assert listing(left) == before


def test_a_journal_that_is_kept_but_over_is_no_trouble(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", "PERSIST")
    assert Path(f"{path}-journal").exists()
    assert read(path) == [b"one"]


def test_a_log_of_another_file_is_not_believed(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    Path(f"{path}-wal").write_bytes(os.urandom(5000))
    assert read(path) == [b"one"]
    assert Path(f"{path}-wal").stat().st_size == 5000


def test_a_copy_for_which_there_is_no_room_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "x.db")
    with owner(path) as connection:
        connection.execute("INSERT INTO said VALUES ('b', 'two')")
        with monkeypatch.context() as patched:
            patched.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=9000))
            assert "no room" in refused(path)
        monkeypatch.setattr(sqlite_ro, "COPY_CAP", 9000)
        assert "more than is copied" in refused(path)


# -- what is none


@pytest.mark.parametrize("content", [b"", b"SQLite", b"{}\n", MAGIC, MAGIC + bytes(4080)])
def test_what_is_no_database_is_said(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    assert refused(path)


@pytest.mark.parametrize("keep", [100, 512, 4096])
def test_a_database_that_was_cut_off_is_said(keep: int, tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    path.write_bytes(path.read_bytes()[:keep])
    assert refused(path)


def test_a_damaged_page_is_said(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    content = bytearray(path.read_bytes())
    content[4096:4200] = b"\xff" * 104
    path.write_bytes(content)
    assert "malformed" in refused(path)


def test_a_name_that_is_no_text_is_said(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE said", b"CREATE \xff\xfeBLE said"))
    assert "malformed" in refused(path)


def test_a_file_that_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "gone.db")
    (tmp_path / "folder.db").mkdir()
    for name in ("fifo.db", "link.db", "folder.db", "gone.db"):
        with pytest.raises(Unreadable):
            look(str(tmp_path / name))


def test_a_log_that_is_no_file_is_none(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    os.mkfifo(f"{path}-wal")
    assert read(path) == [b"one"]


# -- what of it is read


def test_a_table_or_column_that_is_missing_is_named(tmp_path: Path) -> None:
    with closing(open_database(str(made(tmp_path / "x.db")))) as database:
        database.require("said", "name", "words")
        with pytest.raises(Unreadable, match="no table `heard`"):
            database.require("heard", "name")
        with pytest.raises(Unreadable, match="table `said` has no column `time`"):
            database.require("said", "name", "time")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW shown AS SELECT * FROM said",
        "CREATE VIRTUAL TABLE shown USING fts5(name, words)",
        "CREATE INDEX shown ON said(words)",
    ],
)
def test_only_a_table_that_is_stored_is_one(statement: str, tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    with owner(path) as connection:
        connection.execute(statement)
    with closing(open_database(str(path))) as database:
        assert database.columns("shown") == frozenset()


def test_nothing_can_be_written(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    for open_it in (open_database, open_copy):
        with closing(open_it(str(path))) as database, pytest.raises(Unreadable, match="readonly"):
            list(database.rows("INSERT INTO said VALUES ('x', 'y')"))
    assert read(path) == [b"one"]


def test_texts_are_bytes_as_they_stand(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    with owner(path) as connection:
        connection.execute("UPDATE said SET words = CAST(x'ff00fe' AS TEXT)")
    assert read(path) == [b"\xff\0\xfe"]


def test_a_value_that_is_too_long_costs_only_its_statement(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    with owner(path) as connection:
        connection.execute("INSERT INTO said VALUES ('b', zeroblob(?))", (LINE_CAP + 1,))
    with closing(open_database(str(path))) as database:
        with pytest.raises(Unreadable, match="too big"):
            words(database)
        assert database.row("SELECT words FROM said WHERE name = ?", "a") == (b"one",)


def test_a_statement_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_ro, "ROUNDS", 3)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with closing(open_database(str(made(tmp_path / "x.db")))) as database:
        with pytest.raises(Unreadable, match="interrupted"):
            database.row(endless)
        assert words(database) == [b"one"]


# -- as a source


def sources(path: Path) -> tuple[list[Source], list[Trouble]]:
    trouble: list[Trouble] = []
    return list(database_source("devin", path, str(path.parent), trouble)), trouble


def test_a_database_is_one_source_whose_size_and_time_are_those_of_its_log_too(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    (before,), _ = sources(path)
    assert before.size == path.stat().st_size
    with owner(path) as connection:
        connection.execute("INSERT INTO said VALUES ('b', 'two')")
        (after,), trouble = sources(path)
        assert after.size == path.stat().st_size + Path(f"{path}-wal").stat().st_size
        assert after.mtime_ns == Path(f"{path}-wal").stat().st_mtime_ns > before.mtime_ns
    assert trouble == []


def test_a_path_that_leads_nowhere_is_said_and_one_that_is_not_there_is_not(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to("gone.db")
    os.mkfifo(tmp_path / "fifo.db")
    assert sources(tmp_path / "gone.db") == ([], [])
    assert sources(tmp_path / "fifo.db" / "x.db") == ([], [])
    assert [one.reason for one in sources(tmp_path / "link.db")[1]] == ["a link to nothing"]
    assert [one.reason for one in sources(tmp_path / "fifo.db")[1]] == ["not a regular file"]


def test_the_state_changes_with_every_commit(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db")
    seen = {look(str(path)).signature}
    with owner(path) as connection:
        for number in range(5):
            connection.execute("UPDATE said SET words = ?", (str(number),))
            seen.add(look(str(path)).signature)
            if number == 2:
                connection.execute("PRAGMA wal_checkpoint(RESTART)")
    seen.add(look(str(path)).signature)
    assert len(seen) == 7
    assert look(str(path)).signature in seen
