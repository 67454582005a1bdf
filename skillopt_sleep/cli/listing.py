"""What `sessions`, `tasks`, `status`, `history` and `show` print."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.deciding import open_proposals
from skillopt_sleep.cli.making import the_store
from skillopt_sleep.cli.scheduling import planned
from skillopt_sleep.clock import iso
from skillopt_sleep.domain.journal import Night
from skillopt_sleep.errors import NotFound
from skillopt_sleep.lock import Holder, holder
from skillopt_sleep.paths import Home
from skillopt_sleep.review.documents import adoption_document, proposal_document
from skillopt_sleep.review.words import count
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.engine import Store
from skillopt_sleep.store.evidence import rule_ledger, trial_steps, trials
from skillopt_sleep.store.ledgers import spent
from skillopt_sleep.store.mining import mark_reviewed, task_documents
from skillopt_sleep.store.mining import tasks as kept_tasks
from skillopt_sleep.store.nights import find_night, nights, report_of, skips, steps
from skillopt_sleep.store.proposals import find_proposal
from skillopt_sleep.store.sources import waiting

Json = dict[str, Any]
MONTH_MS = 31 * 86_400_000
SHOWN = 60


def sessions(call: Call, name: str | None, origin: str) -> None:
    """JSON lines, or a table with one session a line."""
    with the_store(call, read_only=True) as store:
        found = store.sessions(origin, name)
        if call.as_json:
            _lines(call, found, "session", name)
            return
        rows = [
            (d["id"], d["agent"], d["origin"], (d["started"] or "")[:16], len(d["prompts"]), d["tool_calls"],
             d["tool_errors"], d["project"] or d["cwd"])
            for d in found
        ]  # fmt: skip
        if name and not rows:
            raise _nothing("session", name)
        if not rows:
            call.view.text("No sessions yet. `skillopt-sleep harvest` reads them.")
            return
        call.view.table(
            ("id", "agent", "origin", "started", "prompts", "calls", "errors", "project"), rows, right=(4, 5, 6)
        )


def tasks(call: Call, name: str | None, *, mark_reviewed: bool) -> None:
    """JSON lines, or a table; `--mark-reviewed` writes down that a person read them."""
    if mark_reviewed:
        _mark_reviewed(call, name)
        return
    with the_store(call, read_only=True) as store:
        found = task_documents(store, name)
        if call.as_json:
            _lines(call, found, "task", name)
            return
        if name:
            _show_task(call, store, name)
            return
        rows = [(d["id"], d["split"], *_pattern_cells(d), d["prompt"][:SHOWN]) for d in found]
        if not rows:
            call.view.text("No tasks yet. `skillopt-sleep run` mines them.")
            return
        call.view.table(("id", "split", "kind", "pattern", "prompt"), rows)


def _show_task(call: Call, store: Store, name: str) -> None:
    """One task as a person reads it before they say that they have: the request, its start, each check."""
    one = next(iter(kept_tasks(store, name=name)), None)
    if one is None:
        raise _nothing("task", name)
    begins = f"at commit {one.commit[:12]}" if one.commit else "at no recorded commit"
    read = f"read by {one.reviewed_by}" if one.reviewed_by else "not read yet (--mark-reviewed)"
    call.view.text(f"{one.id}: {one.split}, {one.origin}, {iso(one.began_ms)}, {begins}; {read}\n\n{one.prompt}")
    for check in one.checks:
        found = f" ({check.vetting})" if check.vetting else ""
        call.view.text(f"  {check.kind}: {check.argument}{found}")


def _pattern_cells(task: Json) -> tuple[str, str]:
    """Kind and title of a task's pattern; an imported task has none."""
    return (task["pattern"]["kind"], task["pattern"]["title"]) if task["pattern"] else (task["origin"], "")


def _mark_reviewed(call: Call, name: str | None) -> None:
    with the_store(call) as store:
        if name and next(task_documents(store, name), None) is None:
            raise _nothing("task", name)
        marked = mark_reviewed(store, "person", [name] if name else [])
    if call.as_json:
        call.view.document({"format": 1, "reviewed": marked})
    else:
        call.view.text(f"{marked} tasks marked as reviewed")


def status(call: Call) -> None:
    """One document, or a few lines."""
    try:
        with the_store(call, read_only=True) as store:
            found = status_document(call, store)
    except NotFound:
        found = _blank(call) | {"next_night": iso(planned(call, ()))}
    if call.as_json:
        call.view.document(found)
        return
    last, view = found["last_night"], call.view
    view.text(f"last night: {last['night']} ({last['state']}), {last['date']}" if last else "no night yet")
    if last and last["error"]:
        view.text(f"  {last['error']}")
    view.text(f"next night: {found['next_night'] or 'none planned'}")
    if found["lock"]:
        view.text(f"running: {found['lock']}")
    waits = found["pending"]
    parts = [count(waits["proposals"], "proposal"), count(waits["trials"], "rule") + " on trial"]
    parts += [count(waits["sessions"], "session") + " to be read"] if waits["sessions"] else []
    view.text(f"waiting: {', '.join(parts)}")
    for skip in found["skips"][-3:]:
        view.text(f"skipped {skip['date']}: {skip['why']}")


def status_document(call: Call, store: Store) -> Json:
    """The `status` document of cli.md."""
    found = _blank(call)
    past = _nights(store)
    last = next((night for night in past if night.state != "running"), None)
    tokens, calls, usd, exact = spent(store, since_ms=_month_began_ms())
    running = trials(store, "running")
    skipped = [{"date": s.date, "why": s.why, "trigger": s.trigger} for s in skips(store, _now_ms() - MONTH_MS)]
    return found | {
        "last_night": _night_row(last) if last else None,
        "next_night": iso(planned(call, {night.date for night in past if night.trigger != "manual"})),
        "pending": {"sessions": waiting(store), "proposals": open_proposals(store), "trials": len(running)},
        "budget_month": {"tokens": tokens, "calls": calls, "usd": usd, "exact": exact},
        "skips": skipped,
        "health": _health(last, skips=bool(skipped)),
    }


def _nights(store: Store) -> list[Night]:
    held = holder(Home(store.path.parent).lock)
    return [_as_it_is(night, held) for night in nights(store)]


def _as_it_is(night: Night, held: Holder | None) -> Night:
    """A night that was killed could not write it down: while nobody holds the lock, none is running."""
    return replace(night, state="interrupted") if night.state == "running" and held is None else night


def _health(last: Night | None, *, skips: bool) -> str:
    if last is not None and last.state == "failed":
        return "fail"
    return "warn" if skips or (last is not None and last.state == "interrupted") else "ok"


def _blank(call: Call) -> Json:
    held = holder(call.home.lock) if call.home.lock.parent.exists() else None
    return {
        "format": 1,
        "last_night": None,
        "next_night": None,
        "lock": str(held) if held else None,
        "pending": {"sessions": 0, "proposals": 0, "trials": 0},
        "budget_month": {"tokens": 0, "calls": 0, "usd": 0.0, "exact": True},
        "skips": [],
        "health": "ok",
    }


def history(call: Call) -> None:
    """JSON lines, or a table, the newest night first."""
    with the_store(call, read_only=True) as store:
        past = _nights(store)
        rows = [_history_row(store, night) for night in past]
        watched = [_watched(report_of(store, night.id) or {}) for night in past]
    if call.as_json:
        for row in rows:
            call.view.line(row)
        return
    if not rows:
        call.view.text("No night yet.")
        return
    table = [
        (r["night"], r["date"], r["trigger"], r["state"], _counted(r["verdicts"]), seen, r["spent"], r["error"])
        for r, seen in zip(rows, watched, strict=True)
    ]
    names = ("night", "date", "trigger", "state", "verdicts", "adopted rules watched", "tokens", "error")
    call.view.table(names, table, right=(6,))


def _history_row(store: Store, night: Night) -> Json:
    report = report_of(store, night.id) or {}
    verdicts = Counter(one["verdict"] for one in report.get("skills", []) if one["verdict"])
    return {
        "night": night.id,
        "date": night.date,
        "trigger": night.trigger,
        "state": night.state,
        "verdicts": dict(verdicts),
        "spent": spent(store, night.id)[0],
        "error": night.error or None,
    }


def _watched(report: Json) -> str:
    """Of the adopted rules that a night watched, how many seem to help or hurt."""
    said = Counter(row.get("says") or "" for row in report.get("watch", []))
    told = [f"{said[name]} {verb}" for name, verb in (("helps", "helping"), ("hurts", "hurting")) if said[name]]
    return ", ".join([str(said.total()), *told]) if said else ""


def _counted(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(verdicts.items()))


def _night_row(night: Night) -> Json:
    return {"night": night.id, "date": night.date, "state": night.state, "trigger": night.trigger,
            "ended": iso(night.ended_ms), "error": night.error or None}  # fmt: skip


def show(call: Call, name: str) -> None:
    """Whatever has that id, as a document with `kind` and `id`."""
    with the_store(call, read_only=True) as store:
        for kind, find in FINDERS.items():
            if (found := find(store, name)) is not None:
                document = {"format": 1, "kind": kind, **found, "id": name}
                call.view.document(document)
                return
    raise _nothing("night, session, task, rule, proposal, adoption or trial", name)


def _lines(call: Call, found: Iterator[Json], kind: str, name: str | None) -> None:
    some = False
    for document in found:
        call.view.line(document)
        some = True
    if name and not some:
        raise _nothing(kind, name)


def _nothing(kind: str, name: str) -> NotFound:
    return NotFound(f"there is no such {kind}", where=name, remedy="See `sessions`, `tasks`, `history` or `review`")


def _month_began_ms() -> int:
    """When the calendar month began here, as the limits of the month count it."""
    now = datetime.fromtimestamp(_now_ms() / 1000)  # noqa: DTZ006 - local time is meant
    return int(now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _a_night(store: Store, name: str) -> Json | None:
    if not name.startswith("n-"):
        return None
    night = _as_it_is(find_night(store, name), holder(Home(store.path.parent).lock))
    return _history_row(store, night) | {"steps": steps(store, name), "report": report_of(store, name)}


def _a_session(store: Store, name: str) -> Json | None:
    return next(store.sessions("all", name), None)


def _a_task(store: Store, name: str) -> Json | None:
    return next(task_documents(store, name), None)


def _a_proposal(store: Store, name: str) -> Json | None:
    return proposal_document(find_proposal(store, name)) if name.startswith("p-") else None


def _an_adoption(store: Store, name: str) -> Json | None:
    found = Adoptions(store).find(name)
    return adoption_document(found) if found else None


def _a_trial(store: Store, name: str) -> Json | None:
    found = next((trial for trial in trials(store) if trial.id == name), None)
    if found is None:
        return None
    units = [{"night": s.night, "unit": s.task, "d": s.d, "e_after": s.e_after} for s in trial_steps(store, name)]
    return {"skill": found.document.name, "rule": found.rule, "predicate": found.predicate, "e_value": found.e,
            "e_reverse": found.e_reverse, "nights": found.nights, "state": found.state, "why": found.why,
            "cut": iso(found.cut_ms), "units": units}  # fmt: skip


def _a_rule(store: Store, name: str) -> Json | None:
    of_rule = [trial for trial in trials(store) if trial.rule == name]
    if not of_rule:
        return None
    ledger = [dict(row) for row in rule_ledger(store, name)]
    return {"predicate": of_rule[-1].predicate, "trials": [trial.id for trial in of_rule], "ledger": ledger,
            "watch": _last_watched(store, name)}  # fmt: skip


def _last_watched(store: Store, rule: str) -> Json | None:
    """What the newest report says of an adopted rule in later sessions."""
    reports = (report_of(store, night.id) or {} for night in nights(store))
    return next((row for report in reports for row in report.get("watch", []) if row["rule"] == rule), None)


FINDERS: Mapping[str, Callable[[Store, str], Json | None]] = {
    "night": _a_night,
    "proposal": _a_proposal,
    "adoption": _an_adoption,
    "trial": _a_trial,
    "rule": _a_rule,
    "session": _a_session,
    "task": _a_task,
}
