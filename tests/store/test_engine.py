"""Opening the store: what is made, what is refused, what survives."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from skillopt_sleep.clock import DAY_MS, FixedClock
from skillopt_sleep.errors import NotFound, StoreError
from skillopt_sleep.store import engine, files
from skillopt_sleep.store.engine import Store, open_store
from skillopt_sleep.store.version import SCHEMA


def put(store: Store, name: str) -> None:
    with store.write() as connection:
        connection.exec_driver_sql("INSERT INTO setting VALUES (?, 'x')", (name,))


def put_and_fail(store: Store) -> None:
    with store.write():
        put(store, "b")
        raise ZeroDivisionError


def put_much(store: Store) -> None:
    with store.write() as connection:
        for n in range(10_000):
            connection.exec_driver_sql("INSERT INTO setting VALUES (?, ?)", (f"{n:09}", "x" * 1000))


def names(store: Store) -> list[str]:
    return [row[0] for row in store.driver.execute("SELECT name FROM setting ORDER BY name")]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def pragma(store: Store, name: str) -> object:
    return store.driver.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_new_store_is_its_owners_alone(path: Path, clock: FixedClock) -> None:
    old = os.umask(0)
    try:
        with open_store(path, clock) as store:
            put(store, "a")
            assert {mode(file) for file in path.parent.iterdir()} == {0o600}
            assert mode(path.parent) == 0o700
    finally:
        os.umask(old)


def test_a_store_that_others_may_read_is_closed_to_them(path: Path, clock: FixedClock) -> None:
    open_store(path, clock).close()
    path.chmod(0o644)
    open_store(path, clock).close()
    assert mode(path) == 0o600


def test_a_local_store_keeps_its_journal_in_wal_and_syncs_each_transaction(store: Store) -> None:
    assert pragma(store, "journal_mode") == "wal"
    assert pragma(store, "synchronous") == 2
    assert pragma(store, "foreign_keys") == 1
    assert store.warnings == ()


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
def test_a_store_on_a_network_keeps_no_wal_and_says_so(path: Path, clock: FixedClock, kind: str) -> None:
    with open_store(path, clock, file_system=lambda _: kind) as store:
        assert pragma(store, "journal_mode") == "delete"
        assert kind in store.warnings[0]
    with open_store(path, clock) as store:
        assert pragma(store, "journal_mode") == "wal"


def test_the_file_system_is_that_of_the_longest_mount_point(tmp_path: Path) -> None:
    place = tmp_path / "a b" / "c"
    place.mkdir(parents=True)
    escaped = str(tmp_path / "a b").replace(" ", "\\040")
    table = tmp_path / "mountinfo"
    table.write_text(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
        f"30 27 0:40 / {escaped} rw shared:1 - nfs4 server:/x rw\n"
        f"31 27 0:41 / {tmp_path}/a rw - tmpfs none rw\n"
    )
    assert files.file_system(place, table) == "nfs4"
    assert files.file_system(tmp_path, table) == "ext4"
    assert files.file_system(tmp_path, tmp_path / "none") == ""


def test_what_was_written_is_there_again_and_what_failed_is_not(path: Path, clock: FixedClock) -> None:
    with open_store(path, clock) as store:
        put(store, "a")
        with pytest.raises(ZeroDivisionError):
            put_and_fail(store)
    with open_store(path, clock) as store:
        assert names(store) == ["a"]


def test_an_inner_block_that_fails_and_is_caught_does_not_end_the_outer_one(store: Store) -> None:
    with store.write():
        put(store, "a")
        with pytest.raises(StoreError):
            put(store, "a")
        put(store, "b")
    assert names(store) == ["a", "b"]


def test_threads_share_a_store_one_transaction_at_a_time(store: Store) -> None:
    def many(first: int) -> None:
        for n in range(first, first + 20):
            with store.write():
                put(store, f"{n:03}")
                put(store, f"{n:03}+")

    threads = [threading.Thread(target=many, args=(start,)) for start in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names(store)) == 120


def test_a_store_is_not_made_for_reading(path: Path, clock: FixedClock) -> None:
    with pytest.raises(NotFound):
        open_store(path, clock, read_only=True)
    assert not path.parent.exists()


def test_a_store_opened_for_reading_is_not_written(path: Path, clock: FixedClock) -> None:
    with open_store(path, clock) as store:
        put(store, "a")
        with open_store(path, clock, read_only=True) as reader:
            assert names(reader) == ["a"]
            with pytest.raises(StoreError, match="may not be written"):
                put(reader, "b")


def test_a_store_that_was_cut_to_nothing_is_not_taken_for_a_new_one(path: Path, clock: FixedClock) -> None:
    open_store(path, clock).close()
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="cut to nothing") as caught:
        open_store(path, clock)
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    assert path.read_bytes() == b""


def test_a_file_that_is_no_database_is_refused(path: Path, clock: FixedClock) -> None:
    path.parent.mkdir()
    path.write_bytes(b"hello, I am a text\n" * 100)
    with pytest.raises(StoreError, match="not a store"):
        open_store(path, clock)
    assert path.read_bytes().startswith(b"hello")


def test_somebody_elses_database_is_refused(path: Path, clock: FixedClock) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE session (id)")
    with pytest.raises(StoreError, match="another program"):
        open_store(path, clock)


def damage(path: Path) -> None:
    """Overwrite the middle of the file with what is no page."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 65536)


def read_all(path: Path, clock: FixedClock, read_only: bool) -> None:
    with open_store(path, clock, read_only=read_only) as store, store.read() as connection:
        connection.exec_driver_sql("SELECT sum(length(value)) FROM setting").fetchone()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_store_is_refused_with_a_remedy(path: Path, clock: FixedClock, read_only: bool) -> None:
    with open_store(path, clock) as store, store.write() as connection:
        for n in range(3000):
            connection.exec_driver_sql("INSERT INTO setting VALUES (?, ?)", (f"{n:09}", "x" * 100))
    damage(path)
    with pytest.raises(StoreError, match=r"damaged|not a store") as caught:
        read_all(path, clock, read_only)
    assert "backup" in caught.value.remedy


def test_a_large_store_is_checked_once_a_day(path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(path, clock).close()
    monkeypatch.setattr(engine, "SMALL", 0)
    looked: list[int] = []
    real = files.must_be_whole
    monkeypatch.setattr(files, "must_be_whole", lambda *of: (looked.append(clock.ms), real(*of)))
    for _ in range(3):
        open_store(path, clock).close()
    clock.ms += DAY_MS
    open_store(path, clock).close()
    assert looked == [clock.ms - DAY_MS, clock.ms]


def test_a_newer_store_is_refused(path: Path, clock: FixedClock) -> None:
    open_store(path, clock).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(StoreError, match=f"format {SCHEMA + 1}"):
        open_store(path, clock)


def test_a_store_that_is_gone_while_its_journal_is_there_is_not_begun_anew(path: Path, clock: FixedClock) -> None:
    path.parent.mkdir()
    files.beside(path, "-wal").write_bytes(b"x" * 100)
    with pytest.raises(StoreError, match="journal"):
        open_store(path, clock)
    assert not path.exists()


def make_older(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA user_version = 0")


def test_an_older_store_is_copied_before_it_is_migrated(path: Path, clock: FixedClock) -> None:
    with open_store(path, clock) as store:
        put(store, "a")
    make_older(path)
    with pytest.raises(StoreError, match="older version"):
        open_store(path, clock, read_only=True)
    with open_store(path, clock) as store:
        assert names(store) == ["a"]
        assert pragma(store, "user_version") == SCHEMA
    copy = files.beside(path, ".before-0001")
    assert mode(copy) == 0o600
    with closing(sqlite3.connect(copy)) as raw:
        assert raw.execute("SELECT name FROM setting").fetchall() == [("a",)]
        assert raw.execute("PRAGMA user_version").fetchone() == (0,)


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skillopt_sleep.store import migrate

    with open_store(path, clock) as store:
        put(store, "a")
    make_older(path)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(migrate, "upgrade", broken)
    with pytest.raises(ZeroDivisionError):
        open_store(path, clock)
    monkeypatch.undo()
    with open_store(path, clock) as store:
        assert names(store) == ["a"]


def test_opening_a_store_of_today_loads_no_alembic(path: Path, clock: FixedClock) -> None:
    open_store(path, clock).close()
    script = (
        "import sys; from pathlib import Path\n"
        "from skillopt_sleep.clock import SystemClock; from skillopt_sleep.store.engine import open_store\n"
        "open_store(Path(sys.argv[1]), SystemClock()).close(); print('alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_two_who_make_the_store_at_once_make_one(path: Path, clock: FixedClock) -> None:
    found: list[str] = []

    def come(name: str) -> None:
        with open_store(path, clock) as store:
            put(store, name)
            found.append(name)

    threads = [threading.Thread(target=come, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_store(path, clock) as store:
        assert names(store) == sorted(found) == ["a", "b", "c"]
    assert [file.name for file in path.parent.iterdir()] == ["store.db"]


def test_a_second_writer_waits_for_the_first(path: Path, clock: FixedClock) -> None:
    with open_store(path, clock) as first, open_store(path, clock) as second:
        with first.write():
            put(first, "a")
            timer = threading.Thread(target=lambda: put(second, "b"))
            timer.start()
            timer.join(0.1)
            assert timer.is_alive()
        timer.join()
        assert names(first) == ["a", "b"]


@pytest.mark.root
def test_a_store_in_a_folder_that_may_not_be_read_is_a_store_error(tmp_path: Path) -> None:
    secret = tmp_path / "locked"
    secret.mkdir(mode=0o700)
    (secret / "plain").write_text("x")
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    child = ["setpriv", "--reuid", "65534", "--clear-groups"]
    plain = subprocess.run([*child, "cat", str(secret / "plain")], capture_output=True, check=False)
    assert plain.returncode != 0
    script = (
        "import sys; from pathlib import Path; from skillopt_sleep.clock import SystemClock\n"
        "from skillopt_sleep.errors import StoreError; from skillopt_sleep.store.engine import open_store\n"
        "try: open_store(Path(sys.argv[1]), SystemClock())\n"
        "except StoreError as error: print(error); sys.exit(7)\n"
    )
    done = subprocess.run(
        [*child, sys.executable, "-c", script, str(secret / "home" / "store.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (7, "")
    assert len(done.stdout.splitlines()) == 1
    assert "permission denied" in done.stdout


@pytest.mark.root
def test_a_full_disk_is_said_in_one_line_and_nothing_of_the_step_is_stored(tmp_path: Path, clock: FixedClock) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)], check=True)
    try:
        with open_store(small / "store.db", clock) as store:
            put(store, "a")
            with pytest.raises(StoreError, match="disk is full") as caught:
                put_much(store)
            assert "\n" not in str(caught.value)
            assert names(store) == ["a"]
        with open_store(small / "store.db", clock) as store:
            assert names(store) == ["a"]
    finally:
        subprocess.run(["umount", str(small)], check=True)
        shutil.rmtree(small)


def test_a_journal_without_its_store_is_not_begun_over_and_one_that_another_process_writes_is_no_loss(
    path: Path, store: Store, clock: FixedClock
) -> None:
    files.must_not_be_lost(path)  # whoever saw no store a moment ago finds the one that another has made since
    store.close()
    lost = path.with_name("lost.db")
    lost.with_name("lost.db-journal").write_bytes(b"x")
    with pytest.raises(StoreError, match="the store is gone but its journal"):
        open_store(lost, clock)
    lost.write_bytes(b"")
    files.must_not_be_lost(lost)
