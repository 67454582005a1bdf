"""`tasks --export FILE` and `--import FILE`: tasks as JSON lines, the same as `tasks --json` prints."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.making import make_world, the_store
from skillopt_sleep.clock import SystemClock, parse_iso
from skillopt_sleep.domain.tasks import KeptTask, Split, TaskCheck
from skillopt_sleep.errors import NotFound, StoreError, UsageError
from skillopt_sleep.mine.tasks import split_of
from skillopt_sleep.night.records import SALT, shares
from skillopt_sleep.redact import Redactor
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.mining import save_tasks, task_documents
from skillopt_sleep.store.mining import tasks as kept_tasks
from skillopt_sleep.world import Silence

Name = Annotated[str, msgspec.Meta(pattern=r"^[\w.:-]{1,80}$")]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]


class Check(msgspec.Struct, frozen=True):
    """How an imported task is judged."""

    kind: Name
    argument: str
    origin: str | None = msgspec.field(default=None, name="from")


class Line(msgspec.Struct, frozen=True):
    """One line of such a file; what else stands in it is not read."""

    prompt: Text
    id: Name | None = None
    split: Literal["train", "gate", "audit"] | None = None
    checks: tuple[Check, ...] = ()
    at: str | None = None


def export(call: Call, name: str | None, path: Path) -> None:
    """Write all tasks, or one, to a new file that only its owner may read."""
    with the_store(call, read_only=True) as store:
        lines = [json.dumps(document) + "\n" for document in _exported(store, name)]
    if name and not lines:
        raise NotFound("there is no such task", where=name, remedy="See `skillopt-sleep tasks`")
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
            out.writelines(lines)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise StoreError(f"cannot be written: {why}", where=str(path), remedy="Name another file") from error
    _told(call, {"exported": len(lines), "path": str(path)}, f"{len(lines)} tasks written to {path}")


def _exported(store: Store, name: str | None) -> Iterator[dict[str, object]]:
    """The documents of `tasks`, with what `train --tasks` has to know beside them: the unit and the starting state."""
    beside = {task.id: {"group": task.twin, "start": {"commit": task.commit or None}} for task in kept_tasks(store)}
    return ({**document, **beside[str(document["id"])]} for document in task_documents(store, name))


def import_(call: Call, path: Path) -> None:
    """Keep the tasks of a file that are not known yet, all of them or none. UsageError with the line of a mistake."""
    with the_store(call) as store:
        known = {task.id for task in kept_tasks(store)}
        config = call.loaded.config
        redactor = make_world(call, config, store, Silence(), loose=(path,)).redactor
        read = {task.id: task for task in _read(path, redactor, shares(config))}
        new = [task for task in read.values() if task.id not in known]
        save_tasks(store, new)
    found = {"imported": len(new), "known": len(read) - len(new), "path": str(path)}
    _told(call, found, f"{len(new)} tasks imported, {len(read) - len(new)} known already")


def _read(path: Path, redactor: Redactor, shared: Mapping[Split, float]) -> Iterator[KeptTask]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot be read: {(error.strerror or str(error)).lower()}", where=str(path)) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _task(msgspec.json.decode(line, type=Line), redactor, shared)
        except msgspec.MsgspecError as error:
            remedy = "Write one task a line, as `skillopt-sleep tasks --json` does"
            raise UsageError(str(error), where=f"{path}:{number}", remedy=remedy) from error


def _task(line: Line, redactor: Redactor, shared: Mapping[Split, float]) -> KeptTask:
    prompt = redactor.redact(line.prompt)
    checks = tuple(TaskCheck(c.kind, redactor.redact(c.argument), redactor.redact(c.origin or "")) for c in line.checks)
    made = hashlib.sha256(json.dumps([prompt, [(c.kind, c.argument) for c in checks]]).encode()).hexdigest()
    name = line.id or f"i-{made[:12]}"
    twin = f"imported {made[:12]}"
    began = (parse_iso(line.at) if line.at else None) or SystemClock().now_ms()
    split = line.split or split_of(twin, SALT, shared)
    return KeptTask(name, prompt, twin, split, began, origin="imported", salt=SALT, checks=checks)


def _told(call: Call, document: dict[str, object], sentence: str) -> None:
    if call.as_json:
        call.view.document(document)
    else:
        call.view.text(sentence)
