"""OpenCode's older storage: a tree of JSON files, one for each session, message and part.

`storage/session/<project>/<session>.json`, `storage/message/<session>/<message>.json`, and
`storage/part/<message>/<part>.json`, in the first layout `storage/part/<part>.json`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from skillopt_harvesters.bytestream import digest
from skillopt_harvesters.content import decoded
from skillopt_harvesters.model import Batch, Cursor, Source, Trouble, Unreadable
from skillopt_harvesters.opencode_session import AGENT, OpenCodeTurns
from skillopt_harvesters.opencode_shapes import Message, Part, Session
from skillopt_harvesters.walk import entries_below, source_of, spelled
from skillopt_harvesters.whole import content_of, gone

PARSER = 1

S = TypeVar("S", Message, Part)


def find_files(storage: Path, root: str, trouble: list[Trouble]) -> Iterator[Source]:
    """A source for each session. Its size and time are those of all its files together: a message that grows does not
    touch the session's own file."""
    own = dict(json_files(storage / "session", trouble))
    messages: dict[str, str] = {}
    sums: dict[str, tuple[int, int]] = {}
    for path, found in json_files(storage / "message", trouble):
        place = Path(path)
        messages[place.stem] = place.parent.name
        add(sums, place.parent.name, found)
    for path, found in json_files(storage / "part", trouble):
        add(sums, messages.get(Path(path).parent.name, ""), found)
    names = {Path(path).stem for path in own}
    others = [state for name, state in sums.items() if name not in names]
    for path, found in own.items():
        states = [(found.st_size, found.st_mtime_ns), sums.get(Path(path).stem, (0, 0)), *others]
        size, time = sum(state[0] for state in states), max(state[1] for state in states)
        yield msgspec.structs.replace(source_of(AGENT, path, root, found), size=size, mtime_ns=time)


def json_files(folder: Path, trouble: list[Trouble]) -> Iterator[tuple[str, os.stat_result]]:
    for path, found in entries_below(folder, trouble):
        if path.endswith(".json"):
            if stat.S_ISREG(found.st_mode):
                yield path, found
            else:
                trouble.append(Trouble(path, 0, "not a regular file"))


def add(sums: dict[str, tuple[int, int]], session: str, found: os.stat_result) -> None:
    """What cannot be told to belong to a session by its folder's name counts for every session."""
    size, time = sums.get(session, (0, 0))
    sums[session] = size + found.st_size, max(time, found.st_mtime_ns)


def read_files(source: Source, cursor: Cursor | None) -> Iterator[Batch]:
    """A session's one batch, if any of its files changed. Raises `Unreadable` for the session's own file."""
    content = content_of(source)
    path = Path(source.path)
    turns = OpenCodeTurns(source, spelled(path.stem))
    session = decoded(Session, content)
    if session is None:
        turns.warn(0, "not JSON")
    else:
        turns.known(session)
    tree = Tree(path.parent.parent.parent, turns)
    messages = tree.messages((path.stem, turns.facts.native_id))
    signature = digest(content + repr(tree.seen).encode("utf-8", "replace"))
    if cursor is not None and cursor.parser == PARSER and cursor.before == signature:
        return
    for message, length, parts in messages:
        told = list(tree.parts(parts))
        turns.message(message, [part for part, _ in told], length + sum(size for _, size in told))
    turns.leave_open()
    batch = turns.batch(Cursor(), more=False)
    keys = [event.key for event in batch.events]
    state = msgspec.msgpack.encode(keys)
    batch.cursor = Cursor(offset=tree.taken + len(content), before=signature, parser=PARSER, state=state)
    batch.withdrawn = gone(cursor, keys)
    yield batch


class Tree:
    """The files of a storage, read for one session; what cannot be read goes to its warnings.

    `seen` is the state of all its files, `taken` the bytes that were read.
    """

    def __init__(self, storage: Path, turns: OpenCodeTurns) -> None:
        self._storage = storage
        self._turns = turns
        self.seen: list[tuple[str, int, int, int]] = []
        self.taken = 0

    def messages(self, names: Sequence[str]) -> list[tuple[Message, int, list[Path]]]:
        """The messages of a session in the order of their times: their bytes and the files of their parts."""
        found = []
        loose = self.loose_parts()
        for name in dict.fromkeys(names):
            for path in self.listed("message", name):
                message, length = self.read(path, Message)
                if message is not None:
                    message.id = message.id or spelled(path.stem)
                    folders = dict.fromkeys((path.stem, message.id))
                    parts = [part for folder in folders for part in self.listed("part", folder)]
                    found.append((message, length, parts + loose.get(message.id, []), path.name))
        found.sort(key=lambda one: (created(one[0]), one[3]))
        return [(message, length, parts) for message, length, parts, _ in found]

    def loose_parts(self) -> dict[str, list[Path]]:
        """The parts of the first layout by the id of their message."""
        found: dict[str, list[Path]] = {}
        for path in self.listed("part", ""):
            part, _ = self.read(path, Part)
            if part is not None and part.message:
                found.setdefault(part.message, []).append(path)
        return found

    def parts(self, paths: Sequence[Path]) -> Iterator[tuple[Part, int]]:
        for path in paths:
            part, length = self.read(path, Part)
            if part is not None:
                yield part, length

    def listed(self, kind: str, name: str) -> list[Path]:
        """The JSON files of a folder by name; none for a name that leads elsewhere."""
        if name and (Path(name).name != name or name in (".", "..") or "\0" in name):
            return []
        try:
            with os.scandir(self._storage / kind / name) as entries:
                files = [entry for entry in entries if entry.name.endswith(".json")]
            files.sort(key=lambda entry: entry.name)
            found = [(entry, entry.stat()) for entry in files]
        except (OSError, ValueError):
            return []
        self.seen += [(entry.name, state.st_size, state.st_mtime_ns, state.st_ino) for entry, state in found]
        return [Path(entry.path) for entry, _ in found]

    def read(self, path: Path, shape: type[S]) -> tuple[S | None, int]:
        """A record and its bytes."""
        try:
            content = content_of(Source(agent=AGENT, path=str(path)))
        except Unreadable as problem:
            self._turns.warnings.append(Trouble(str(path), 0, problem.reason))
            return None, 0
        self.taken += len(content)
        record = decoded(shape, content)
        if record is None:
            self._turns.unknown += 1
            self._turns.warnings.append(Trouble(str(path), 0, "not JSON"))
        return record, len(content)


def created(message: Message) -> float:
    return (message.time.created if message.time is not None else None) or 0
