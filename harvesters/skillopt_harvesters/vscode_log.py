"""VS Code's mutation log, from 1.109: one change of the session's state a line (transcript-formats.md 4.2).

kind 0 `{v}` the whole state, whenever it comes; 1 `{k, v}` set; 2 `{k, v?, i?}` cut an array to `i` items, then append
`v`; 3 `{k}` delete. A path that does not exist is made where it can be, else the entry is passed over and counted.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from skillopt_harvesters.jsonl import part
from skillopt_harvesters.vscode_shapes import NOTHING, Entry

GAP = 4096
"""So far beyond its end an array is never extended."""

_any = msgspec.json.Decoder()


class Replay:
    """The state after each entry. `touched[n]` is the extent of the line that last changed request n."""

    def __init__(self) -> None:
        self.state: Any = {}
        self.begun = False
        self.missed = 0
        self.touched: dict[int, tuple[int, int]] = {}

    def apply(self, entry: Entry, start: int, end: int) -> bool:
        """Apply one entry. False for a kind that is not known."""
        value = part(_any, entry.v, None) if entry.v != NOTHING else None
        if entry.kind == 0:
            self.begun = True
            self.state = value if isinstance(value, dict) else {}
            self.touched = dict.fromkeys(range(len(self.requests())), (start, end))
            return True
        path = entry.k or []
        if entry.kind not in (1, 2, 3) or not path:
            return False
        before = len(self.requests())
        if not self.change(entry, path, value):
            self.missed += 1
            return True
        self.touch(path, before, start, end)
        return True

    def requests(self) -> list[Any]:
        found = self.state.get("requests")
        return found if isinstance(found, list) else []

    def touch(self, path: list[str | int], before: int, start: int, end: int) -> None:
        if path[0] != "requests":
            return
        if len(path) > 1 and isinstance(path[1], int):
            self.touched[path[1]] = (start, end)
            return
        now = len(self.requests())
        for n in range(min(before, now) if now > before else 0, now):
            self.touched[n] = (start, end)

    def change(self, entry: Entry, path: list[str | int], value: Any) -> bool:
        holder = self.state
        for step, following in pairwise(path):
            holder = child(holder, step, [] if isinstance(following, int) else {})
            if holder is None:
                return False
        last = path[-1]
        if entry.kind == 1:
            return put(holder, last, value)
        if entry.kind == 2:
            return self.append(holder, last, entry.i, value)
        return drop(holder, last)

    def append(self, holder: Any, last: str | int, cut: int | None, value: Any) -> bool:
        array = child(holder, last, [])
        if not isinstance(array, list):
            return False
        if cut is not None:
            del array[max(0, cut) :]
        if isinstance(value, list):
            array.extend(value)
        return True


def child(holder: Any, step: str | int, made: Any) -> Any:
    """What stands at a step, made if nothing does; None where it cannot be."""
    if isinstance(holder, dict) and isinstance(step, str):
        found = holder.get(step)
        if found is None:
            found = holder[step] = made
        return found
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step <= len(holder):
        if step == len(holder):
            holder.append(made)
        elif holder[step] is None:
            holder[step] = made
        return holder[step]
    return None


def put(holder: Any, last: str | int, value: Any) -> bool:
    if isinstance(holder, dict) and isinstance(last, str):
        holder[last] = value
        return True
    if isinstance(holder, list) and isinstance(last, int) and 0 <= last < len(holder) + GAP:
        holder.extend([None] * (last + 1 - len(holder)))
        holder[last] = value
        return True
    return False


def drop(holder: Any, last: str | int) -> bool:
    if isinstance(holder, dict) and isinstance(last, str):
        holder.pop(last, None)
        return True
    if isinstance(holder, list) and isinstance(last, int) and 0 <= last < len(holder):
        holder[last] = None
        return True
    return False
