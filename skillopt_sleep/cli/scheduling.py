"""What `schedule` and `daemon` do."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Container
from datetime import time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from skillopt_harvesters import harvesters
from skillopt_sleep.cli.common import Call
from skillopt_sleep.cli.making import user_home
from skillopt_sleep.clock import SystemClock, iso
from skillopt_sleep.errors import NotFound, SleepError, UsageError
from skillopt_sleep.ingest.further import further_roots
from skillopt_sleep.lock import hold, holder
from skillopt_sleep.service.due import next_at, wall_time
from skillopt_sleep.service.install.base import Installed, Kind, Plan, Scheduler, kept_environment, this_command
from skillopt_sleep.service.install.cron import Cron
from skillopt_sleep.service.install.launchd import Launchd
from skillopt_sleep.service.install.systemd import Systemd
from skillopt_sleep.store.engine import open_store
from skillopt_sleep.store.nights import nights
from skillopt_sleep.world import local_zone

KINDS: tuple[Kind, ...] = ("systemd", "cron", "launchd")


def kind_of(*, systemd: bool, cron: bool, launchd: bool) -> Kind | None:
    """The one that was named, None where none was."""
    named = [kind for kind, given in zip(KINDS, (systemd, cron, launchd), strict=True) if given]
    if len(named) > 1:
        raise UsageError("only one scheduler at a time", remedy="Choose --systemd, --cron or --launchd")
    return named[0] if named else None


def scheduler(kind: Kind) -> Scheduler:
    """The platform's scheduler of that kind, for this user."""
    home = user_home()
    if kind == "systemd":
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return Systemd(config / "systemd" / "user")
    if kind == "launchd":
        return Launchd(home / "Library" / "LaunchAgents")
    return Cron()


def install(call: Call, kind: Kind | None, at: str | None, *, only_print: bool) -> None:
    """Write the schedule, or with `--print` only show it."""
    kind = kind or ("launchd" if sys.platform == "darwin" else "systemd")
    plan = plan_for(call, at)
    chosen = scheduler(kind)
    if only_print:
        call.view.text(chosen.render(plan)) if not call.as_json else call.view.document(
            Installed(
                kind, False, plan.at.strftime("%H:%M"), None, " ".join(plan.command), chosen.render(plan)
            ).as_json()
        )
        return
    call.home.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    _say(call, chosen.install(plan))


def remove(call: Call, kind: Kind | None) -> None:
    """Take away the schedule of that kind; without one, whichever is installed."""
    for one in [kind] if kind else KINDS:
        found = _shown(one)
        if found.installed:
            _say(call, scheduler(one).remove())
            return
    _say(call, Installed(kind or "systemd", False, None, None, "", ""))


def show(call: Call, kind: Kind | None) -> None:
    """The schedule of that kind; without one, the one that is installed."""
    found = [_shown(one) for one in ([kind] if kind else KINDS)]
    _say(call, next((one for one in found if one.installed), found[0]))


def plan_for(call: Call, at: str | None) -> Plan:
    """What the schedule starts: this installation, with the places that hold now."""
    schedule = call.loaded.config.schedule
    try:
        when = wall_time(at or schedule.at)
    except ValueError as error:
        raise UsageError(str(error), where="--at") from error
    return Plan(this_command("run", "-q"), when, environment_of(call), str(call.home.logs / "scheduled.log"))


def environment_of(call: Call) -> dict[str, str]:
    """What a scheduled command is told of this terminal: where things are, and never a key."""
    environment = kept_environment(os.environ) | {"SKILLOPT_HOME": str(call.home.root)}
    if call.config_file:
        environment["SKILLOPT_CONFIG"] = str(call.config_file.expanduser().absolute())
    return environment


def daemon(call: Call) -> None:
    """Stay until a signal ends it."""
    from skillopt_sleep.service.daemon import Daemon, Timetable
    from skillopt_sleep.service.watch import Watch

    config = call.loaded.config.schedule
    zone, clock = ZoneInfo(config.zone or local_zone()), SystemClock()
    home, environ = user_home(), dict(os.environ)
    open_store(call.home.store, clock).close()

    def ran() -> frozenset[str]:
        with open_store(call.home.store, clock, read_only=True) as store:
            return frozenset(night.date for night in nights(store) if night.trigger != "manual")

    def roots() -> list[Path]:
        if not config.watch:
            return []
        usual = [root for harvester in harvesters() for root in harvester.roots(home, environ)]
        further = further_roots(call.loaded.config.harvest.roots, home)
        return [*usual, *(root for roots in further.values() for root in roots)]

    service = Daemon(
        Timetable(zone, wall_time(config.at), timedelta(hours=config.catch_up_hours), ran),
        clock,
        Watch(roots, call.view.warn),
        call.view.line,
        run=this_command("run", "-q"),
        harvest=this_command("harvest", "-q", "--json"),
        environment=environment_of(call),
    )
    with hold(call.home.daemon_lock, clock, what="daemon"):
        service.serve(threading.Event())


def planned(call: Call, ran: Container[str]) -> int | None:
    """ms UTC of the next night: the running daemon's, else the installed schedule's; None where there is neither.

    `ran` holds the dates that have their scheduled night.
    """
    config, now = call.loaded.config.schedule, SystemClock().now_ms()
    if call.home.root.is_dir() and holder(call.home.daemon_lock) is not None:
        return next_at(now, ZoneInfo(config.zone or local_zone()), wall_time(config.at), ran)
    for kind in KINDS:
        try:
            found = scheduler(kind).show()
        except SleepError:  # `schedule show` and `doctor` say what is the matter
            continue
        if found.installed and found.at:
            return next_at(now, ZoneInfo(local_zone()), wall_time(found.at), ran)
    return None


def _shown(kind: Kind) -> Installed:
    try:
        return scheduler(kind).show()
    except NotFound:
        return Installed(kind, False, None, None, "", "")


def _say(call: Call, found: Installed) -> None:
    when = _next(call, found)
    if call.as_json:
        call.view.document({**found.as_json(), "next": when})
        return
    if not found.installed:
        call.view.text(f"{found.kind}: removed" if found.changed else "no night is scheduled")
        return
    call.view.text(f"{found.kind}: every night at {found.at}; next {when}" + ("" if found.changed else " (unchanged)"))
    call.view.note(found.command)


def _next(call: Call, found: Installed) -> str | None:
    if not found.installed or found.at is None:
        return None
    zone = ZoneInfo(call.loaded.config.schedule.zone or local_zone())
    at: time = wall_time(found.at)
    return iso(next_at(SystemClock().now_ms(), zone, at, ()))
