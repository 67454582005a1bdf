"""A target on disk: found without following a link, read, replaced in one step, taken back.

A target's folder is reached from its recorded root one component at a time and held by descriptor, so what was checked
is what is written to, whatever is put in its place meanwhile. Every refusal is an AdoptionError that says why.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Self

from skillopt_sleep.domain.proposals import Target
from skillopt_sleep.errors import AdoptionError
from skillopt_sleep.review.skills import folded

MOST_BYTES: Final = 4 * 1024 * 1024

Watch = Callable[[str], None]
"""Called with the name of a system call before it is made: where a test kills the process."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def unwatched(call: str) -> None:
    """The `Watch` of real life."""


@dataclass(frozen=True, slots=True)
class Live:
    """What stands at a target. `raw` None: no file. `missing`: folders to make, relative to the root, outer first."""

    raw: bytes | None
    mode: int | None = None
    missing: tuple[str, ...] = ()


class Place:
    """The folder of one target, as far as it exists, held open.

    `token` names the temporary file, so that a later run finds what a killed one left.
    """

    def __init__(self, target: Target, roots: Sequence[str], token: str, watch: Watch = unwatched) -> None:
        self.target = target
        self._root, parts = contained(target, roots)
        self._folders, self._name = parts[:-1], parts[-1]
        self._temporary = f".skillopt-sleep-{token}-{self._name}.tmp"
        self._watch = watch
        self._descriptors: list[int] = []  # the root, then each folder below it that exists

    def __enter__(self) -> Self:
        with _refusals(self.target.path), contextlib.ExitStack() as opened:
            opened.callback(self.__exit__)
            self._descriptors.append(os.open(self._root, _FOLDER))
            for folder in self._folders:
                if not self._descend(folder):
                    break
            opened.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        while self._descriptors:
            os.close(self._descriptors.pop())

    def live(self) -> Live:
        """The file as it is; AdoptionError where it is not an ordinary, single, writable file of at most 4 MiB."""
        depth = len(self._descriptors) - 1
        if depth < len(self._folders):
            missing = tuple("/".join(self._folders[: n + 1]) for n in range(depth, len(self._folders)))
            return Live(None, missing=missing)
        with _refusals(self.target.path):
            self._no_twin(self._name)
            return self._read()

    def write(self, raw: bytes, mode: int | None, expected: bytes | None) -> None:
        """Put `raw` there in one step, where `expected` stands now. Missing folders are made.

        `mode` None is a new file: readable for whoever may read its folder, and never writable for others. An agent
        may run under another user id than the person (a container over the same work tree), so 0600 would hide it.
        """
        with _refusals(self.target.path), contextlib.ExitStack() as failed:
            self._make_folders()
            failed.callback(self._drop_temporary)
            self._write_temporary(raw, mode)
            if self._read().raw != expected:
                raise AdoptionError("the file changed while it was being replaced", where=self.target.path)
            self._watch("rename")
            os.rename(self._temporary, self._name, src_dir_fd=self._here, dst_dir_fd=self._here)
            failed.pop_all()
            self._sync()

    def unlink(self, expected: bytes) -> None:
        """Remove the file, where `expected` stands now."""
        with _refusals(self.target.path):
            if self._read().raw != expected:
                raise AdoptionError("the file changed while it was being removed", where=self.target.path)
            self._watch("unlink")
            os.unlink(self._name, dir_fd=self._here)
            self._sync()

    def discard(self, made: Sequence[str] = ()) -> None:
        """Remove what a killed run left: its temporary file, and those of the folders `made` that are empty."""
        with _refusals(self.target.path):
            if len(self._descriptors) > len(self._folders):
                self._drop_temporary()
            for folder in reversed(made):
                self._remove_folder(folder)

    @property
    def _here(self) -> int:
        return self._descriptors[-1]

    def _descend(self, folder: str) -> bool:
        """Open the next folder; False where it does not exist."""
        self._no_twin(folder)
        try:
            found = os.stat(folder, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if stat.S_ISLNK(found.st_mode):
            raise _refused(self.target, f"{folder} is a symbolic link", "Replace the link by a folder, or choose it")
        if not stat.S_ISDIR(found.st_mode):
            raise _refused(self.target, f"{folder} is not a folder", "Move it out of the way")
        self._descriptors.append(os.open(folder, _FOLDER, dir_fd=self._here))
        return True

    def _no_twin(self, name: str) -> None:
        """Refuse a sibling that is the same name on a file system that ignores case or normalises Unicode."""
        with os.scandir(self._here) as entries:
            others = [entry.name for entry in entries if entry.name != name]
        for other in others:
            if folded(other) == folded(name):
                raise _refused(self.target, f"{other!r} beside it is the same name elsewhere", "Rename one of them")

    def _read(self) -> Live:
        try:
            found = os.stat(self._name, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError:
            return Live(None)
        if (why := _unfit(found)) is not None:
            raise _refused(self.target, *why)
        with os.fdopen(os.open(self._name, _FILE, dir_fd=self._here), "rb") as file:
            if not os.path.samestat(os.fstat(file.fileno()), found):
                raise _refused(self.target, "it was exchanged while it was read", "Try again")
            return Live(file.read(), stat.S_IMODE(found.st_mode))

    def _make_folders(self) -> None:
        for folder in self._folders[len(self._descriptors) - 1 :]:
            parent = os.fstat(self._here)
            self._watch("mkdir")
            os.mkdir(folder, 0o700, dir_fd=self._here)
            self._sync()
            self._descriptors.append(os.open(folder, _FOLDER, dir_fd=self._here))
            os.fchmod(self._here, 0o700 | (parent.st_mode & 0o055))
            _give(self._here, parent)

    def _write_temporary(self, raw: bytes, mode: int | None) -> None:
        folder = os.fstat(self._here)
        self._drop_temporary()
        self._watch("open")
        with os.fdopen(os.open(self._temporary, _NEW, 0o600, dir_fd=self._here), "wb", buffering=0) as file:
            self._watch("write")
            _write_all(file.fileno(), raw)
            _give(file.fileno(), self._owner(folder))
            os.fchmod(file.fileno(), 0o600 | (folder.st_mode & 0o044) if mode is None else mode)
            self._watch("fsync")
            os.fsync(file.fileno())

    def _drop_temporary(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._watch("unlink")
            os.unlink(self._temporary, dir_fd=self._here)

    def _owner(self, folder: os.stat_result) -> os.stat_result:
        """Whose the new file is: the old file's owner, else the folder's."""
        try:
            return os.stat(self._name, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError:
            return folder

    def _sync(self) -> None:
        self._watch("fsync folder")
        os.fsync(self._here)

    def _remove_folder(self, made: str) -> None:
        """Remove one folder, if it is empty and the deepest that is open."""
        if made != "/".join(self._folders[: len(self._descriptors) - 1]):
            return
        os.close(self._descriptors.pop())
        # Not empty: something of the person's own has come to lie there, and stays.
        with contextlib.suppress(OSError):
            self._watch("rmdir")
            os.rmdir(made.rpartition("/")[2], dir_fd=self._here)
            self._sync()


def contained(target: Target, roots: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The target's real root and the components below it; AdoptionError unless that root lies in a recorded one."""
    path, root = PurePath(target.path), PurePath(target.root)
    if "\0" in target.path or not (path.is_absolute() and root.is_absolute()):
        raise _refused(target, "the path is not absolute", "Stage the proposal again")
    if ".." in path.parts or root not in path.parents:
        raise _refused(target, f"it lies outside its folder {target.root}", "Stage the proposal again")
    real = os.path.realpath(root)
    if not any(real == known or PurePath(known) in PurePath(real).parents for known in map(os.path.realpath, roots)):
        raise _refused(target, "it lies in no recorded folder", "Run `skillopt-sleep init` in the project to record it")
    return real, path.relative_to(root).parts


def _unfit(found: os.stat_result) -> tuple[str, str] | None:
    """Why a file must not be replaced, and what to do; None where it may."""
    if stat.S_ISLNK(found.st_mode):
        return "it is a symbolic link", "Replace the link by a file"
    if not stat.S_ISREG(found.st_mode):
        return "it is not an ordinary file", "Move it out of the way"
    if found.st_nlink != 1:
        return f"the file has {found.st_nlink} hard links", "Make a copy of its own: replacing it would part them"
    if not found.st_mode & stat.S_IWUSR:
        return "the file is read-only", "Make it writable if it may change"
    if found.st_size > MOST_BYTES:
        return "the file is larger than 4 MiB", "No skill or memory file is; look what it is"
    if os.geteuid() not in {0, found.st_uid}:
        return "the file belongs to another user", "Adopt as that user"
    return None


def _give(descriptor: int, like: os.stat_result) -> None:
    """As root, leave files to whom they belonged; anyone else owns what they make anyway."""
    if os.geteuid() == 0:
        os.fchown(descriptor, like.st_uid, like.st_gid)


def _write_all(descriptor: int, raw: bytes) -> None:
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _refused(target: Target, why: str, remedy: str) -> AdoptionError:
    return AdoptionError(why, where=target.path, remedy=remedy)


@contextlib.contextmanager
def _refusals(path: str) -> Iterator[None]:
    """A system's refusal (read-only disk, no space, no permission) as an AdoptionError."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise AdoptionError(f"the system refused: {why}", where=path, remedy="Mend that and adopt again") from error
