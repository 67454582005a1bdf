"""What `export`, `verify`, `forget`, `prune` and `backup` do."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.making import make_world, the_store
from skillopt_sleep.cli.nights import since_ms
from skillopt_sleep.clock import SystemClock
from skillopt_sleep.errors import StoreError
from skillopt_sleep.lock import hold
from skillopt_sleep.models.handoff import withdraw
from skillopt_sleep.paths import Home, person, replace_file
from skillopt_sleep.review import evidence, unsaid
from skillopt_sleep.review.words import count
from skillopt_sleep.store import files, forgetting
from skillopt_sleep.store import keeping as store_keeping
from skillopt_sleep.store.forgetting import Forgotten
from skillopt_sleep.store.keeping import Check
from skillopt_sleep.store.sessions import ended_before
from skillopt_sleep.world import Silence


def export(call: Call, path: Path, proposals: Sequence[str], *, force: bool) -> None:
    """Write the evidence to a file that only its owner may read. Raises `StoreError` where there is one already."""
    with the_store(call, read_only=True) as store:
        redactor = make_world(call, call.loaded.config, store, Silence()).redactor
        home = str(person())

        def clean(texts: Sequence[str]) -> list[str]:
            return [text.replace(home, "~") for text in redactor.redact_many(texts)]

        document = evidence.evidence_document(store, proposals, clean)
    _write_new(path, json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n", force=force)
    n, entries = len(document["shown"]), len(document["log"])
    found = {"path": str(path), "proposals": n, "log": entries, "digest": document["digest"]}
    _told(call, found, f"{count(n, 'proposal')} with {count(entries, 'log entry', 'log entries')} written to {path}")
    call.view.note(f"Whoever has it can check it: skillopt-sleep verify {path}")


def verify(call: Call, path: Path | None) -> None:
    """Every check, one a line. Raises `StoreError` where one found something."""
    if path is None:
        with the_store(call, read_only=True) as store:
            checks, what = store_keeping.verify(store), store.path
    else:
        checks, what = evidence.check_document(_content(path), str(path)), path
    document = {"path": str(what), "sound": all(check.sound for check in checks), "checks": _rows(checks)}
    wrong = next((check for check in checks if not check.sound), None)
    if not call.as_json:
        call.view.table(("check", "finding"), [(check.name, check.finding or "ok") for check in checks])
    if wrong is not None:
        remedy = "Put it aside and restore a copy" if path is None else "Ask for it again from whoever made it"
        raise StoreError(f"{wrong.name}: {wrong.finding}", where=str(what), remedy=remedy).beside(document)
    if call.as_json:
        call.view.document(document)


def forget_session(call: Call, name: str) -> None:
    """Forget one session, in the store and in what nights left."""
    with hold(call.home.lock, SystemClock()), the_store(call) as store:
        done = forgetting.forget_session(store, name)
        _tell(call, done, _in_files(call.home, done))


def forget_text(call: Call, text: str) -> None:
    """Forget a text wherever it stands, in the store and in what nights left."""
    with hold(call.home.lock, SystemClock()), the_store(call) as store:
        done = forgetting.forget_text(store, text)
        _tell(call, done, _in_files(call.home, done, text))


def prune(call: Call, older_than: str | None) -> None:
    """Forget what is too old, where that was asked for; then remove what nothing refers to."""
    clock, forgotten = SystemClock(), 0
    now = clock.now_ms()
    span = since_ms(older_than, now, "--older-than")
    with hold(call.home.lock, clock), the_store(call) as store:
        if span is not None:
            for name in ended_before(store, now - span):
                _in_files(call.home, forgetting.forget_session(store, name))
                forgotten += 1
        found = store_keeping.prune(store) | {"path": str(store.path), "sessions": forgotten}
    freed = max(found["bytes_before"] - found["bytes_after"], 0)
    old = f"{count(forgotten, 'session')} forgotten; " if span is not None else ""
    _told(call, found, f"{old}{count(found['bodies'], 'text')} removed, {freed / 1e6:.1f} MB given back")


def backup(call: Call, path: Path | None) -> None:
    """Copy the store to a file, by default one of this moment's name below the home."""
    with the_store(call, read_only=True) as store:
        found = store_keeping.backup(store, path or call.home.root / "backups" / f"store-{_moment()}.db")
    _told(call, found, f"{found['bytes'] / 1e6:.1f} MB written to {found['path']}")


@dataclass(frozen=True, slots=True)
class Files:
    """What was done to files beside the store, and which copies of it hold still what was forgotten."""

    rewritten: tuple[str, ...]
    removed: tuple[str, ...]
    copies: tuple[str, ...]


def _in_files(home: Home, done: Forgotten, text: str = "") -> Files:
    cleaned = unsaid.forget_in_reports(home.reports, done.words, done.said, done.session)
    logs = unsaid.forget_in_logs(home.logs, text) if text else ()
    copies = [*home.root.glob("store.db.before-*"), *(home.root / "backups").glob("*.db")]
    gone = (*cleaned.removed, *withdraw(home.handoff))
    return Files((*cleaned.rewritten, *logs), gone, tuple(sorted(map(str, copies))))


def _tell(call: Call, done: Forgotten, left: Files) -> None:
    document = {
        "sessions": done.sessions,
        "events": done.events,
        "bodies": done.bodies,
        "kept": done.kept,
        "patterns": sorted(done.patterns),
        "tasks": sorted(done.tasks),
        "rules": done.rules,
        "trials": done.trials,
        "proposals": done.proposals,
        "rewritten": list(left.rewritten),
        "removed": list(left.removed),
        "sources": done.sources,
        "copies": list(left.copies),
    }
    derived = [(done.patterns, "pattern"), (done.tasks, "task"), (done.trials, "trial")]
    retired = ", ".join(count(len(names), what) for names, what in derived if names)
    said = f"{count(done.bodies, 'text')} of {count(done.events, 'event')} forgotten"
    _told(call, document, said + (f"; retired with it: {retired}" if retired else ""))
    if call.as_json:
        return
    view = call.view
    if done.proposals:
        view.text(f"marked, as they quote it: {', '.join(done.proposals)}")
    if left.removed or left.rewritten:
        n = len(left.rewritten)
        view.text(f"{count(n, 'file')} of reports and logs written again, {len(left.removed)} removed")
    if done.kept:
        view.note(f"{count(done.kept, 'text')} kept: an adoption needs it for its rollback")
    for paths, what in ((done.sources, "the agent's own"), (left.copies, "a copy of the store")):
        for path in paths:
            view.note(f"{path} ({what}) may hold it still")


def _rows(checks: Sequence[Check]) -> list[dict[str, str]]:
    return [
        {"check": check.name, "state": "ok" if check.sound else "fail", "finding": check.finding} for check in checks
    ]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise files.cannot(path, error, "the file cannot be read") from error


def _write_new(path: Path, text: str, *, force: bool) -> None:
    try:
        if force:
            replace_file(path, text.encode())
            return
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        remedy = "Name another one, or use --force"
        raise StoreError("there is a file of that name already", where=str(path), remedy=remedy) from error
    except OSError as error:
        raise files.cannot(path, error, "the file cannot be written") from error


def _moment() -> str:
    return datetime.now(UTC).strftime("%Y%m%d-%H%M%S")


def _told(call: Call, document: dict[str, object], sentence: str) -> None:
    if call.as_json:
        call.view.document(document)
    else:
        call.view.text(sentence)
