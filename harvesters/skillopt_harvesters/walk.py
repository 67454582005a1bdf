"""Finding files: a walk that follows no circle, opens nothing, and names what it could not enter."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from itertools import count as count_from
from operator import attrgetter
from pathlib import Path
from typing import Any

from skillopt_harvesters.bytestream import why
from skillopt_harvesters.jsonl import AROUND, objects
from skillopt_harvesters.model import Source, Trouble

HEAD_BYTES = 1 << 16
DEPTH = 64
BY_NAME = attrgetter("name")

_last = threading.local()


def entries_below(root: Path, trouble: list[Trouble]) -> Iterator[tuple[str, os.stat_result]]:
    """As `walked`, without the word on links."""
    return ((path, found) for path, found, _ in walked(str(root), trouble))


def walked(
    root: str, trouble: list[Trouble], endings: str | tuple[str, ...] = ""
) -> Iterator[tuple[str, os.stat_result, bool]]:
    """Everything below a folder that is no folder, with its stat and whether it is a link, in the order of the names.
    Only names with one of the `endings` are looked at.

    A link to a file is followed; a link to a folder is not, so no circle is ever walked. What cannot be entered or
    looked at goes to `trouble`; a root that is not there is no trouble.
    """
    pending = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=BY_NAME)
        except FileNotFoundError:
            continue
        except OSError as problem:
            trouble.append(Trouble(folder, 0, why(problem)))
            continue
        folders = []
        for entry in found:
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, depth + 1))
                elif entry.name.endswith(endings) and (not (link := entry.is_symlink()) or not entry.is_dir()):
                    yield entry.path, entry.stat(), link
            except OSError as problem:
                trouble.append(Trouble(entry.path, 0, why(problem)))
        if depth < DEPTH:
            pending.extend(reversed(folders))
        elif folders:
            trouble.append(Trouble(folder, 0, "too deep"))


def files_below(agent: str, root: Path, trouble: list[Trouble], endings: tuple[str, ...]) -> Iterator[Source]:
    """Sources of an agent below a root, by the ending of their names."""
    top = str(root)
    for path, found, link in walked(top, trouble, endings):
        if found.st_mode & 0o170000 == stat.S_IFREG:
            yield source_of(agent, path, top, found, link)
        else:
            trouble.append(Trouble(path, 0, "not a regular file"))


def spelled(name: str) -> str:
    """A file's name as text that can be encoded: bytes of it that are no UTF-8 become `\\xff`, so that two stay two."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def source_of(agent: str, path: str, root: str, found: os.stat_result, link: bool | None = None) -> Source:
    return Source(
        agent=agent,
        path=path,
        root=root,
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        device=found.st_dev,
        inode=found.st_ino,
        link=link,
    )


def head_records(head: bytes, most: int = 40) -> Iterator[dict[str, Any]]:
    """The objects on the first lines of a file; comments and what is no object are passed over.

    Every harvester asks for those of the same head, so what was decoded of it is remembered until the next one.
    """
    if getattr(_last, "head", None) is not head:
        _last.head, _last.lines, _last.rest = head, [], line_records(head)
    lines, rest = _last.lines, _last.rest
    count = 0
    for at in count_from(0):
        if at == len(lines):
            following = next(rest, None)
            if following is None:
                return
            lines.append(following)
        yield from lines[at]
        count += len(lines[at])
        if count >= most:
            return


def line_records(head: bytes) -> Iterator[list[dict[str, Any]]]:
    """The objects of each line that begins with one."""
    at, end = 0, len(head)
    while at <= end:
        stop = head.find(b"\n", at)
        stop = end if stop < 0 else stop
        line = head[at:stop].removeprefix(b"\xef\xbb\xbf").strip(AROUND)
        if line.startswith(b"{"):
            yield [record for record in objects(line.decode("utf-8", "replace")) if isinstance(record, dict)]
        at = stop + 1
