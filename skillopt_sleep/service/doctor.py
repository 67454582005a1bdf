"""Preconditions, each with a finding and a remedy. Everything is looked at, nothing is changed (but see `mend`)."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from skillopt_sleep.clock import iso
from skillopt_sleep.errors import SleepError
from skillopt_sleep.lock import holder
from skillopt_sleep.paths import Home
from skillopt_sleep.sandbox.find import REMEDY, Tried
from skillopt_sleep.service.install.base import KEPT, Installed, Scheduler, this_command

State = Literal["ok", "warn", "fail", "unknown"]
LEAST_FREE = 500_000_000
"""Bytes that a store of ordinary size needs for itself and one copy."""
ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
"""How a word of a crontab's line begins that is no program yet."""
PLACES = 3
"""Folders of one agent that are named."""
LEAST_UNDERSTOOD = 0.95
"""Share of records of known kinds below which a format is taken to have changed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `doctor` (cli.md)."""

    check: str
    state: State
    finding: str
    remedy: str = ""

    def as_json(self) -> dict[str, object]:
        return {"check": self.check, "state": self.state, "finding": self.finding, "remedy": self.remedy}


@dataclass(frozen=True, slots=True)
class OddFile:
    """A file that was read and of which too little was understood: `unknown` is the share of its records of kinds that
    nobody knows, None where it has no records at all. `version` is that of the agent which wrote it, where it says."""

    path: str
    unknown: float | None
    version: str = ""


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """What the store and the disk know of one agent's transcripts. `kept` says how long the agent keeps them.

    `wanted`: the configuration has them read. `trouble` is what could not be looked at, path and reason.
    """

    agent: str
    looked: tuple[Path, ...]
    files: int
    oldest_ms: int | None
    newest_version: str
    understood: float | None
    kept: str = ""
    wanted: bool = True
    trouble: tuple[tuple[str, str], ...] = ()
    odd: tuple[OddFile, ...] = ()


def python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    state: State = "ok" if sys.version_info >= (3, 11) else "fail"
    return Finding("python", state, f"Python {version}", "" if state == "ok" else "Use Python 3.11 or newer")


def names(owners: Mapping[str, list[str]] | None = None) -> Finding:
    """Who owns the import name and so the command: another distribution installs both under the same names."""
    known = owners if owners is not None else metadata.packages_distributions()
    others = sorted(set(known.get("skillopt_sleep", [])) - {"skillopt-sleep"})
    if others:
        remedy = "Install skillopt-sleep in an environment of its own (uv tool install, or pipx)"
        return Finding("names", "fail", f"{', '.join(others)} also installs a package skillopt_sleep", remedy)
    return Finding("names", "ok", "the package and the command are ours")


def plugins(found: Iterable[str], left_out: Iterable[str]) -> Finding:
    """What other distributions add, by group and name, and what of it cannot be used."""
    there = ", ".join(found) or "none"
    if wrong := "; ".join(left_out):
        return Finding(
            "plugins", "warn", f"{wrong} (used: {there})", "Update the package that brought it, or remove it"
        )
    return Finding("plugins", "ok", there)


def home_folder(home: Home) -> Finding:
    if not home.root.exists():
        return Finding("home", "ok", f"{home.root} is not there yet; the first command makes it")
    if not home.root.is_dir():
        return Finding("home", "fail", f"{home.root} is not a folder", "Move it away, or name another with --home")
    mode = stat.S_IMODE(home.root.stat().st_mode)
    if mode & 0o077:
        remedy = "Run `skillopt-sleep doctor --fix`"
        return Finding("home", "warn", f"{home.root} can be read by others (mode {mode:o})", remedy)
    if not os.access(home.root, os.W_OK):
        return Finding("home", "fail", f"{home.root} cannot be written", "Give it back to yourself, or use --home")
    return Finding("home", "ok", str(home.root))


def disk(home: Home) -> Finding:
    there = next(folder for folder in (home.root, *home.root.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < LEAST_FREE:
        return Finding("disk", "warn", f"{free / 1e6:.0f} MB free at {there}", "Make room, or use --home")
    return Finding("disk", "ok", f"{free / 1e9:.0f} GB free at {there}")


def store(home: Home, check: Callable[[], Iterable[str]]) -> Finding:
    """`check` opens the store to read and yields what is odd about it."""
    if not home.store.exists():
        return Finding("store", "ok", "there is none yet; the first harvest makes it")
    try:
        odd = list(check())
    except SleepError as error:
        return Finding("store", "fail", error.message, error.remedy)
    if odd:
        return Finding("store", "warn", "; ".join(odd))
    return Finding("store", "ok", f"{home.store}, {home.store.stat().st_size / 1e6:.1f} MB, whole")


def lock(home: Home) -> Finding:
    held = holder(home.lock)
    return Finding("lock", "ok", f"a night is running: {held}" if held else "no night is running")


def redaction(*, available: bool, said: str, remedy: str) -> Finding:
    return Finding("redaction", "ok" if available else "warn", said, remedy)


def agent(found: AgentFiles) -> Iterator[Finding]:
    """Where we looked, what is there, how much of it is understood, how long the agent keeps it; and what is odd."""
    yield _about(found)
    mute = [one for one in found.odd if one.unknown is None]
    strange = [one for one in found.odd if one.unknown is not None]
    if mute:
        said = f"{_files(mute)} gave nothing although not empty, the first {_named(mute[0])}"
        yield Finding(f"files of {found.agent}", "warn", said, "Look whether it is a transcript; if so, report it")
    if strange:
        most = max(one.unknown or 0.0 for one in strange)
        said = f"{_files(strange)} with records of unknown kinds (up to {most:.0%}), the first {_named(strange[0])}"
        yield Finding(f"files of {found.agent}", "warn", said, "Its format may have changed: report the version")
    if found.trouble:
        (path, why), n = found.trouble[0], len(found.trouble)
        said = f"{n} {'place' if n == 1 else 'places'} could not be looked at, the first {path}: {why}"
        yield Finding(f"files of {found.agent}", "warn", said, "Check its owner and permissions")


def _listed(folders: Sequence[Path]) -> str:
    """Folders in a line; of VS Code and its kin there are more than a person reads (docs/harvesting.md has them)."""
    more = len(folders) - PLACES
    return ", ".join([*map(str, folders[:PLACES]), *([f"and {more} more places like these"] if more > 0 else [])])


def _about(found: AgentFiles) -> Finding:
    unread = [] if found.wanted else ["not read: harvest.agents leaves it out"]
    if not found.files:
        places = _listed(sorted(found.looked, key=lambda folder: not folder.exists())) or "nowhere"
        return Finding(f"agent {found.agent}", "ok", "; ".join([f"no transcripts (looked in {places})", *unread]))
    parts = [f"{found.files} files in {_listed([folder for folder in found.looked if folder.exists()])}", *unread]
    if found.newest_version:
        parts.append(f"newest version seen {found.newest_version}")
    if found.understood is not None:
        parts.append(f"{found.understood:.1%} of the records understood")
    if found.oldest_ms is not None:
        parts.append(f"oldest file of {(iso(found.oldest_ms) or '')[:10]}")
    parts.append(found.kept or "how long the agent keeps them is not known")
    odd = found.understood is not None and found.understood < LEAST_UNDERSTOOD
    remedy = "Its format may have changed; run `skillopt-sleep harvest -v` and report the version" if odd else ""
    return Finding(f"agent {found.agent}", "warn" if odd else "ok", "; ".join(parts), remedy)


def _files(odd: Sequence[OddFile]) -> str:
    return "1 file" if len(odd) == 1 else f"{len(odd)} files"


def _named(one: OddFile) -> str:
    return one.path + (f" (version {one.version})" if one.version else "")


def configuration(check: Callable[[], Iterable[str]]) -> Finding:
    """`check` reads sleep.toml and yields what of it is ignored."""
    try:
        ignored = list(check())
    except SleepError as error:
        return Finding("configuration", "fail", f"{error.where}: {error.message}", error.remedy)
    if ignored:
        return Finding("configuration", "warn", "; ".join(ignored))
    return Finding("configuration", "ok", "sleep.toml is understood")


def models(environ: Mapping[str, str], backend: str, named: bool) -> Finding:
    """Which keys are there, by name alone, and whether anything would leave the machine."""
    keys = [key for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY") if environ.get(key)]
    there = f"{', '.join(keys)} set" if keys else "no key set"
    sends = "redacted text goes to the provider you named" if named else "nothing leaves this machine"
    return Finding("models", "ok", f"backend {backend}: {sends}; {there}")


def sandbox(tried: Sequence[Tried]) -> Finding:
    """Which way to shut a command in works here, `tried` in order up to it; what is open where none does."""
    missed = "; ".join(f"{one.walls.name}: {one.why}" for one in tried if one.why)
    if tried and not tried[-1].why:
        there = f"commands are shut in by {tried[-1].walls.name}, without a network"
        return Finding("sandbox", "ok", there + (f" ({missed})" if missed else ""))
    open_then = "command checks and tool loops are refused, and an agent would have all your files and the network"
    return Finding("sandbox", "warn", f"none: {open_then} ({missed})", REMEDY)


def schedule(schedulers: Iterable[Scheduler]) -> Finding:
    for scheduler in schedulers:
        try:
            shown = scheduler.show()
        except SleepError:
            continue
        if shown.installed:
            return _scheduled(shown)
    return Finding("schedule", "ok", "no night is scheduled", "`skillopt-sleep schedule install` does it")


def _scheduled(shown: Installed) -> Finding:
    first = _program(shown)
    if first and not Path(first).exists():
        remedy = f"Run `skillopt-sleep schedule install --{shown.kind}` again"
        return Finding("schedule", "fail", f"{shown.kind} starts {first}, which is not there", remedy)
    return Finding("schedule", "ok", f"{shown.kind}, every night at {shown.at}")


def _program(shown: Installed) -> str:
    """The program that a schedule starts, "" where that cannot be told."""
    command = shown.command.replace("\\%", "%") if shown.kind == "cron" else shown.command
    try:
        words = [word for word in shlex.split(command) if not ASSIGNED.match(word)]
    except ValueError:
        return ""
    word = words[0] if words else ""
    return word.replace("%%", "%").replace("$$", "$") if shown.kind == "systemd" else word


def linger(systemd: Installed, ask: Callable[[], str | None]) -> Finding | None:
    """A user timer stops at logout unless the user lingers. `ask` says what loginctl says, None where it is absent."""
    if not systemd.installed:
        return None
    said = ask()
    if said is None:
        return Finding("linger", "unknown", "loginctl is not there, so nobody knows if timers run while logged out")
    if said.strip() == "Linger=yes":
        return Finding("linger", "ok", "timers also run while you are logged out")
    remedy = "`loginctl enable-linger` keeps them; or stay logged in"
    return Finding("linger", "warn", "the timer stops when you log out", remedy)


def as_scheduled(environ: Mapping[str, str], *, seconds: float = 60.0) -> Finding:
    """Start the real command in what a scheduler gives it: HOME, a short PATH, and what `schedule` writes down."""
    bare = {"PATH": "/usr/bin:/bin", **{key: environ[key] for key in ("HOME", *KEPT) if environ.get(key)}}
    command = this_command("status")
    try:
        done = subprocess.run(
            command, env=bare, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("as scheduled", "fail", f"{command[0]}: {error}", "Install it again, then `schedule install`")
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return Finding("as scheduled", "fail", f"exit {done.returncode}: {said}", "Mend that, then run this again")
    return Finding("as scheduled", "ok", f"{command[0]} starts with a scheduler's environment")


def mend(home: Home) -> Iterator[Finding]:
    """`--fix`: what can be put right without asking. Only permissions of our own folder and files."""
    if not home.root.exists():
        return
    for path in (home.root, home.store, home.logs, home.reports):
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o700 if path.is_dir() else 0o600)
            yield Finding("fixed", "ok", f"{path} is now readable by you alone")


def worst(findings: Iterable[Finding]) -> State:
    """`fail` before `warn` before `ok`; `unknown` does not count."""
    states = {finding.state for finding in findings}
    return "fail" if "fail" in states else "warn" if "warn" in states else "ok"
