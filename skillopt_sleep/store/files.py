"""The file that the store lies in: who may read it, what it lies on, whether it is one."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from skillopt_sleep.errors import StoreError
from skillopt_sleep.store.failures import RESTORE

MAGIC: Final = b"SQLite format 3\0"
MOUNTS: Final = Path("/proc/self/mountinfo")
REMOTE: Final = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb",
        "smbfs",
        "smb2",
        "smb3",
        "ncpfs",
        "afs",
        "afpfs",
        "webdav",
        "davfs",
        "9p",
        "ceph",
        "glusterfs",
        "lustre",
        "gpfs",
        "beegfs",
        "ocfs2",
        "gfs2",
        "vboxsf",
        "prl_fs",
        "drvfs",
    ]
)
"""File systems on which two machines, or two kernels, may hold the file: WAL's shared memory does not reach across."""


def make_folder(folder: Path) -> None:
    """The folder with mode 0700, made where it is missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot(folder, error, "the folder of the store cannot be made") from error


def cannot(path: Path, error: OSError, what: str) -> StoreError:
    reason = (error.strerror or str(error)).lower()
    return StoreError(f"{what}: {reason}", where=str(path), remedy="Check the path, its owner and the space left there")


def new_file(path: Path) -> None:
    """An empty file that only its owner may read. Raises FileExistsError."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def keep_private(path: Path) -> None:
    """Take from everybody else what they may do with a file of ours; one that is not ours stays as it is."""
    state = path.stat()
    if state.st_uid == os.geteuid() and state.st_mode & 0o077:
        path.chmod(0o600)


def sync_folder(folder: Path) -> None:
    """Make a name in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def beside(path: Path, ending: str) -> Path:
    """A file of the same name with another ending behind it (`store.db-wal`)."""
    return path.with_name(path.name + ending)


def file_system(folder: Path, mounts: Path = MOUNTS) -> str:
    """The type of the file system that holds a folder, as the kernel names it; "" where it cannot be told."""
    try:
        table = mounts.read_bytes()
        place = os.fsencode(folder.resolve())
    except OSError:
        return ""
    found, longest = "", -1
    for line in table.splitlines():
        before, _, after = line.partition(b" - ")
        words = before.split(b" ")
        if len(words) > 4 and after and _holds(point := _unescaped(words[4]), place) and len(point) >= longest:
            found, longest = os.fsdecode(after.split(b" ")[0]), len(point)
    return found


def _unescaped(word: bytes) -> bytes:
    """The kernel writes a blank in a mount point as `\\040`."""
    return re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), word)


def _holds(point: bytes, place: bytes) -> bool:
    return place == point or place.startswith(point.rstrip(b"/") + b"/")


def is_remote(kind: str) -> bool:
    return kind in REMOTE or kind.startswith("fuse.")


def must_be_a_database(path: Path) -> None:
    """Refuse what is no SQLite file before SQLite takes an empty one for a new store."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except OSError as error:
        raise cannot(path, error, "the store cannot be read") from error
    if not head:
        raise StoreError("the store is empty: it was cut to nothing", where=str(path), remedy=RESTORE)
    if head != MAGIC:
        raise StoreError("the file is not a store", where=str(path), remedy=RESTORE)


def must_not_be_lost(path: Path) -> None:
    """Refuse to begin a new store where a journal says that there was one.

    Another process may have made the store by now and write into it: a journal comes after its store.
    """
    for ending in ("-wal", "-journal"):
        journal = beside(path, ending)
        if _size(journal) and not path.exists():
            raise StoreError(
                f"the store is gone but its journal {journal.name} is there",
                where=str(path),
                remedy="Put the store back, or move the journal away to begin a new one",
            )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def must_be_whole(path: Path, connection: sqlite3.Connection) -> None:
    """Read every page and index of the store. Raises StoreError with what SQLite found first."""
    with closing(connection.execute("PRAGMA quick_check(1)")) as found:
        said = str(found.fetchone()[0])
    if said != "ok":
        raise StoreError(f"the store is damaged: {said.splitlines()[-1]}", where=str(path), remedy=RESTORE)
