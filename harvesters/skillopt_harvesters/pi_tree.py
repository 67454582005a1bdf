"""Reading a session that is a tree: on from where one stopped, or all of it again where the live branch leapt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import msgspec

from skillopt_harvesters.bytestream import PlainStream, TooLong, open_regular, windows
from skillopt_harvesters.fold import follow
from skillopt_harvesters.jsonl import REFUSED, Line, RecordReader
from skillopt_harvesters.model import Batch, Cursor, Source
from skillopt_harvesters.pi_session import Entry, PiTurns, State, Tree, mark, new_state

Make = Callable[[State, Tree | None, frozenset[bytes]], PiTurns]


class Node(Line, rename="camel"):
    """What makes the tree."""

    type: str | None = None
    id: str | None = None
    parent_id: str | None = None


_reader = RecordReader(Entry)
_nodes = RecordReader(Node)
_state = msgspec.msgpack.Decoder(State)


def read_tree(source: Source, cursor: Cursor | None, make: Make, agent: str, parser: int) -> Iterator[Batch]:
    """Batches from the cursor on; of the whole file if its live branch cannot be told otherwise."""
    folds: list[PiTurns] = []

    def begin(state: bytes) -> PiTurns:
        folds.append(make(restored(state, agent), None, frozenset()))
        return folds[-1]

    for batch in follow(source, cursor, _reader, begin, parser):
        if folds[-1].s.astray:
            break
        yield batch
    else:
        return
    before = frozenset(key for keys in folds[-1].s.given.values() for key in keys)
    tree = tree_of(source)

    def again(state: bytes) -> PiTurns:
        return make(new_state(agent), tree, before)

    yield from follow(source, None, _reader, again, parser)


def restored(state: bytes, agent: str) -> State:
    if state:
        try:
            return _state.decode(state)
        except REFUSED:
            pass
    return new_state(agent)


def tree_of(source: Source) -> Tree:
    """The live branch (that of the last entry) and the rest. An entry whose parent is not known hangs on the one
    before it. Raises `Unreadable`."""
    parents: dict[int, int | None] = {}
    last: int | None = None
    for node in nodes_of(source):
        if node.id is None or node.type == "session":
            continue
        name = mark(node.id)
        parent = mark(node.parent_id) if node.parent_id is not None else None
        parents[name] = parent if parent is None or parent in parents else last
        last = name
    live: set[int] = set()
    while last is not None and last not in live:
        live.add(last)
        last = parents.get(last)
    return Tree(frozenset(live), frozenset(parents.keys() - live))


def nodes_of(source: Source) -> Iterator[Node]:
    fd, found = open_regular(source.path)
    try:
        for window in windows(PlainStream(fd, 0, found.st_size), 0):
            if not isinstance(window, TooLong):
                yield from _nodes.decode(window, True).records
    finally:
        os.close(fd)
